package emulator

import (
	"math/rand/v2"
	"slices"
	"testing"

	"octet/engine"
)

func TestWordsAreDistinctPiecesOfTheTokenizer(t *testing.T) {
	v := lexicon()
	if len(v.ids) != len(v.pieces) || len(v.ids) < 200 {
		t.Fatalf("%d ids of %d pieces", len(v.ids), len(v.pieces))
	}
	for _, id := range v.ids {
		text := []byte(v.pieces[id])
		if n := engine.Piece(text); n != len(text) {
			t.Errorf("%q is cut after %d bytes", text, n)
		}
	}
}

// Any answer between the template's marks is the tokens that were said.
func TestAnAnswersTextIsItsTokens(t *testing.T) {
	v := lexicon()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var said []uint32
		var text []byte
		for range 1 + rng.IntN(30) {
			said = append(said, v.ids[1+rng.IntN(len(v.ids)-1)])
		}
		if rng.IntN(2) == 0 {
			said = append(said, v.ids[0])
		}
		for _, id := range said {
			text, _ = v.spell(text, id)
		}
		open, end := engine.OpenTurn(nil, "assistant"), engine.CloseTurn(nil)
		want := slices.Concat(engine.Tokenize(nil, open), said, engine.Tokenize(nil, end))
		if got := engine.Tokenize(nil, slices.Concat(open, text, end)); !slices.Equal(got, want) {
			t.Fatalf("%q comes back as other tokens", text)
		}
	}
}
