package emulator

import (
	_ "embed"
	"strings"
	"sync"

	"octet/engine"
)

// Words of at most seven letters, each once.
//
//go:embed words.txt
var wordFile string

// vocabulary is what a tiny model says: a line's end, which ends an answer, or a word with a space before it. Each is
// one piece for the tokenizer whatever stands around it, but for a letter right behind a word or white space right
// behind the line's end, neither of which the chat template puts there. So an answer that comes back in a prompt has
// the very tokens that it was generated as, and is found in the cache.
type vocabulary struct {
	ids    []uint32 // the line's end first
	pieces map[uint32]string
}

// lexicon returns the vocabulary, the same for every model.
var lexicon = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{pieces: make(map[uint32]string)}
	v.add("\n")
	for _, w := range strings.Fields(wordFile) {
		v.add(" " + w)
	}
	return v
})

func (v *vocabulary) add(piece string) {
	id := engine.TokenID([]byte(piece))
	v.ids = append(v.ids, id)
	v.pieces[id] = piece
}

// spell appends the text of a token to dst, and reports whether it is one of the vocabulary's.
func (v *vocabulary) spell(dst []byte, token uint32) (text []byte, known bool) {
	piece, known := v.pieces[token]
	return append(dst, piece...), known
}
