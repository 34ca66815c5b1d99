package emulator

import (
	"bytes"
	"strconv"

	"octet/engine"
)

// script is the text of one sequence: a pure function of the token's index, so the step that samples a token and the
// handler that writes its text need not meet, and a preempted sequence goes on where it was. The token's id is the
// tokenizer's, so that an answer which comes back as part of a prompt is found in the cache.
type script interface {
	Text(dst []byte, i int) []byte // appends the text of generated token i, below Len
	Token(i int) uint32            // its id
	Len() int                      // tokens until the model ends the answer by itself; 0 is never
}

// indexScript numbers its tokens: ⟦request:0⟧ ⟦request:1⟧ and so on, for ever.
type indexScript struct {
	request string // printable ASCII, at most maxRequestID bytes: the token is one mark for the tokenizer
	from    int    // tokens of this answer that were generated earlier
}

func (v indexScript) Text(dst []byte, i int) []byte {
	dst = append(dst, "⟦"...)
	dst = append(dst, v.request...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(v.from+i), 10)
	return append(dst, "⟧"...)
}

// spoken returns the number with which an answer to request continues a prompt that ends with the first from tokens of
// it, as the client counts them. The text decides, as with any model: a count may be of tokens whose text
// did not arrive. Without text it is from.
func spoken(prompt []byte, request string, from int) int {
	mark := []byte("⟦" + request + ":")
	at := bytes.LastIndex(prompt, mark)
	if from == 0 || at < 0 {
		return from
	}
	number, _, whole := bytes.Cut(prompt[at+len(mark):], []byte("⟧"))
	n, err := strconv.Atoi(string(number))
	if err != nil || !whole {
		return from
	}
	return n + 1
}

func (v indexScript) Token(i int) uint32 {
	var text [maxRequestID + 32]byte
	return engine.TokenID(v.Text(text[:0], i))
}

func (indexScript) Len() int { return 0 }

// textScript is a text that was made beforehand, piece by piece.
type textScript struct {
	pieces [][]byte // never empty
	ids    []uint32 // of pieces
}

// newTextScript returns a script of text from its piece number from on.
func newTextScript(t codec, text []byte, from int) textScript {
	var v textScript
	v.pieces, v.ids = t.pieces(text)
	if from >= len(v.pieces) { // everything was said earlier: a line's end, for an answer has at least one token
		v.pieces, v.ids = t.pieces([]byte("\n"))
		from = 0
	}
	v.pieces, v.ids = v.pieces[from:], v.ids[from:]
	return v
}

func (v textScript) Text(dst []byte, i int) []byte { return append(dst, v.pieces[i]...) }

func (v textScript) Token(i int) uint32 { return v.ids[i] }

func (v textScript) Len() int { return len(v.pieces) }
