package plugins

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"octet/kvpool"
	"octet/routing"
)

// listed are prompts by their token ids; a nil one is the text at its place.
type listed struct {
	ids  [][]uint32
	text []string
}

func (l listed) Prompts() int { return len(l.ids) }

func (l listed) PromptTokens(i int, dst []uint32) ([]uint32, bool) {
	return append(dst, l.ids[i]...), l.ids[i] != nil
}

func (l listed) PromptPieces(i int) [][]byte { return [][]byte{[]byte(l.text[i])} }

// naiveRest names every full block by all that comes before it, spelt out.
func naiveRest(l listed, size int) (r Rest) {
	seen := map[string]bool{}
	for i, ids := range l.ids {
		full := max(len(ids)-1, 0) / size
		for b := range full {
			name := fmt.Sprint(ids[:(b+1)*size])
			if i > 0 && !seen[name] {
				r.Blocks++
			}
			seen[name] = true
		}
		if r.Longest = max(r.Longest, len(ids)); i > 0 {
			r.Prompts++
			r.Tokens += len(ids)
			r.Tail = max(r.Tail, len(ids)-full*size)
		}
	}
	return r
}

func TestPromptsOfAListCountWhatTheyShareOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 19))
	b := &blockHashes{roots: roots{hasher: kvpool.NewHasher(7)}, bytesPerToken: 4}
	for range 500 {
		size := 1 + rng.IntN(5)
		l := listed{ids: make([][]uint32, 1+rng.IntN(9))}
		for i := range l.ids {
			l.ids[i] = make([]uint32, 1+rng.IntN(20))
			for k := range l.ids[i] {
				l.ids[i][k] = uint32(rng.IntN(12) / 11) // few forks
			}
		}
		f := &routing.Facts{Specialist: "s", Kind: "completion", Prompts: l}
		if got, want := b.others(f, size, len(l.ids[0])), naiveRest(l, size); got != want {
			t.Fatalf("blocks of %d, %v: %+v, naively %+v", size, l.ids, got, want)
		}
	}
}

func TestTextsOfAListAreGuessed(t *testing.T) {
	b := &blockHashes{roots: roots{hasher: kvpool.NewHasher(7)}, bytesPerToken: 4}
	l := listed{ids: make([][]uint32, 3), text: []string{"0123456789abcdef", "0123456789abXY", ""}}
	want := Rest{Prompts: 2, Tokens: 4, Tail: 2, Longest: 4, Guessed: true}
	if got := b.others(&routing.Facts{Specialist: "s", Prompts: l}, 2, 4); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
