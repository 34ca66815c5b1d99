package classifier

import "bytes"

// Asides are names of elements, as in <environment_context>…</environment_context>, that agents put among what a user
// says: what machine this is, what to be mindful of, what a command of the client's own printed. They are nothing that
// the user asks, and are not read. An element counts where it begins a line and is closed.
type Asides []string

// KnownAsides are the elements of agents that are in wide use.
var KnownAsides = Asides{"environment_context", "environment_details", "INSTRUCTIONS", "user_instructions",
	"turn_aborted", "system-reminder", "command-name", "command-message", "local-command-caveat",
	"local-command-stdout", "local-command-stderr", "user_info", "project_layout"}

// MaxAsides is how many elements are known at most, those of KnownAsides included.
const MaxAsides = 64

// without appends to dst the parts of text that stand outside of all asides, without white space around them; the text
// itself if it has none of them. The time is linear in the text for each name.
func (a Asides) without(dst [][]byte, text []byte) [][]byte {
	var open [MaxAsides]bool // by name: it is not closed any more
	from, at := 0, 0
	for {
		i := bytes.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		at += i
		name, end := -1, -1
		if beginsLine(text[:at]) {
			name = a.opens(text[at+1:])
		}
		if name >= 0 && !open[name] {
			end = a.closes(name, text[at:])
			open[name] = end < 0
		}
		if end < 0 {
			at++
			continue
		}
		dst = appendPart(dst, text[from:at])
		at += end
		from = at
	}
	if from == 0 {
		return append(dst, text)
	}
	return appendPart(dst, text[from:])
}

// beginsLine returns true if only blanks stand between the end of text and the beginning of its last line.
func beginsLine(text []byte) bool {
	text = bytes.TrimRight(text, " \t")
	return len(text) == 0 || text[len(text)-1] == '\n' || text[len(text)-1] == '>'
}

// opens returns which element begins with text, which stands behind a "<"; -1 if no aside does.
func (a Asides) opens(text []byte) int {
	for i, name := range a {
		rest, is := bytes.CutPrefix(text, []byte(name))
		if is && len(rest) > 0 && (rest[0] == '>' || rest[0] == ' ') {
			return i
		}
	}
	return -1
}

// closes returns where the element that text begins with is over; -1 if it is not closed.
func (a Asides) closes(name int, text []byte) int {
	end := "</" + a[name] + ">"
	i := bytes.Index(text, []byte(end))
	if i < 0 {
		return -1
	}
	return i + len(end)
}

func appendPart(dst [][]byte, part []byte) [][]byte {
	if part = bytes.TrimSpace(part); len(part) > 0 {
		dst = append(dst, part)
	}
	return dst
}
