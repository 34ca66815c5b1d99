package emulator

import (
	"strconv"

	"octet/engine"
)

// voice is what one sequence says: a pure function of the token's index, so the step that samples a token and the handler
// that writes its text need not meet, and a preempted sequence goes on where it was. The token's id is that of its text, so
// that an answer which comes back as part of a prompt is found in the cache.
type voice interface {
	Text(dst []byte, i int) []byte // appends the text of generated token i, below Len
	Len() int                      // tokens until the model ends the answer by itself; 0 is never
}

// indexVoice numbers its tokens: ⟦request:0⟧ ⟦request:1⟧ and so on, for ever.
type indexVoice struct {
	request string // printable ASCII, at most maxRequestID bytes: the token is one mark for the tokenizer
	from    int    // tokens of this answer that were generated earlier
}

func (v indexVoice) Text(dst []byte, i int) []byte {
	dst = append(dst, "⟦"...)
	dst = append(dst, v.request...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(v.from+i), 10)
	return append(dst, "⟧"...)
}

func (indexVoice) Len() int { return 0 }

// textVoice says a text that was made beforehand, piece by piece.
type textVoice struct {
	pieces [][]byte // never empty
}

// newTextVoice returns a voice that says text from its piece number from on.
func newTextVoice(text []byte, from int) textVoice {
	var v textVoice
	for ; len(text) > 0; from-- {
		n := engine.Piece(text)
		if from <= 0 {
			v.pieces = append(v.pieces, text[:n])
		}
		text = text[n:]
	}
	if len(v.pieces) == 0 { // everything was said earlier: a line's end, for an answer has at least one token
		v.pieces = [][]byte{[]byte("\n")}
	}
	return v
}

func (v textVoice) Text(dst []byte, i int) []byte { return append(dst, v.pieces[i]...) }

func (v textVoice) Len() int { return len(v.pieces) }
