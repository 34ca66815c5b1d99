package classifier

import "bytes"

const (
	maxRead = 32 << 10 // bytes of a request that are read
	terse   = 80       // bytes; a shorter user turn ("and why?") is read together with the ones before it
)

// read hands out the parts of the input that say what it is about, the newest first, at most maxRead bytes together.
// These are the last user turn and what tools answered after it; what the assistant and the system said is not asked
// for, and asides of the user's client are not what it says. What the user says weighs most: a tool's answer takes a
// quarter of the room that is left.
func (in Input) read(see func(part []byte)) {
	left := maxRead
	var few [8][]byte
	if len(in.Turns) == 0 {
		excerpt(in.Text, left, see)
		return
	}
	for i := len(in.Turns) - 1; i >= 0 && left > 0; i-- {
		turn := &in.Turns[i]
		switch turn.Role {
		case "assistant", "system", "developer":
			continue
		}
		if turn.Role != "user" {
			left -= excerpt(turn.Text, left/4, see)
			continue
		}
		said := 0
		parts := in.asides.without(few[:0], turn.Text)
		for k := len(parts) - 1; k >= 0 && left > 0; k-- {
			said += len(parts[k])
			left -= excerpt(parts[k], left, see)
		}
		if said >= terse {
			return
		}
	}
}

// excerpt hands out text, or its head and its tail cut at line ends where it is longer than limit, and returns how
// much.
func excerpt(text []byte, limit int, see func(part []byte)) int {
	if len(text) <= limit {
		see(text)
		return len(text)
	}
	half := limit / 2
	head, tail := text[:half], text[len(text)-half:]
	if end := bytes.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end]
	}
	if start := bytes.IndexByte(tail, '\n'); start >= 0 {
		tail = tail[start+1:]
	}
	see(head)
	see(tail)
	return limit
}
