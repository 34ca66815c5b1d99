package tiny

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"octet/kvpool"
)

// vocabulary returns n token ids as a tokenizer gives them.
func vocabulary(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(mix(uint64(i)+77)) & 0x7fffffff
	}
	return out
}

func somePrompt(rng *rand.Rand, n int) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = rng.Uint32() >> 1
	}
	return p
}

// someTable returns n different blocks of so many, in no order.
func someTable(rng *rand.Rand, n, of int) (table []kvpool.BlockID) {
	for _, id := range rng.Perm(of)[:n] {
		table = append(table, kvpool.BlockID(id))
	}
	return table
}

func both(t *testing.T, test func(t *testing.T, m *Model, rng *rand.Rand)) {
	for _, hybrid := range []bool{false, true} {
		t.Run(fmt.Sprintf("hybrid=%t", hybrid), func(t *testing.T) {
			test(t, NewModel(1, vocabulary(256), hybrid), rand.New(rand.NewPCG(1, 2)))
		})
	}
}

// The oracle is as good as the text is sensitive: one token of the prompt changed, however early, or the adapter, and
// other words follow.
func TestEveryTokenOfThePromptTells(t *testing.T) {
	both(t, func(t *testing.T, m *Model, rng *rand.Rand) {
		tells := map[string]int{}
		for range 10 {
			p := somePrompt(rng, 60)
			base, _ := m.Answer("", p, 16)
			if other, _ := m.Answer("lora", p, 16); !slices.Equal(base, other) {
				tells["adapter"]++
			}
			p[rng.IntN(60)]++
			if other, _ := m.Answer("", p, 16); !slices.Equal(base, other) {
				tells["token"]++
			}
		}
		if tells["adapter"] < 10 || tells["token"] < 9 {
			t.Errorf("of 10 changes these told: %v", tells)
		}
	})
}

// MEGA-30: however a sequence is cut into steps and wherever its blocks lie, keys, values, states and activations are
// those of the plain computation, to the bit.
func TestTheBitsDoNotDependOnTheCut(t *testing.T) {
	both(t, func(t *testing.T, m *Model, rng *rand.Rand) {
		for range 8 {
			size, n := 1+rng.IntN(7), 40
			e := NewEngine(m, 60, size)
			table, prompt := someTable(rng, (n+size-1)/size, 60), somePrompt(rng, n)
			plain := plain{m: m, adapter: m.adapter("a")}
			for start := 0; start < n; {
				end := min(n, start+1+rng.IntN(9))
				for range 1 + rng.IntN(2) { // a step may be computed again
					e.Compute(nil, Span{Adapter: "a", Table: table[:(end+size-1)/size], Start: start,
						Tokens: prompt[start:end]})
				}
				for _, tok := range prompt[start:end] {
					plain.tell(tok)
				}
				if e.x != plain.x || e.state != plain.state {
					t.Fatalf("blocks of %d: after %d positions the activations differ", size, end)
				}
				start = end
			}
			compareCells(t, e, &plain, table)
		}
	})
}

func compareCells(t *testing.T, e *Engine, p *plain, table []kvpool.BlockID) {
	t.Helper()
	for l := range layers {
		for at := range p.keys[l] {
			cell := e.cache.cell(table, at)
			if e.cache.keys[l][cell] != p.keys[l][at] || e.cache.values[l][cell] != p.values[l][at] {
				t.Fatalf("layer %d, position %d: other keys or values", l, at)
			}
		}
	}
}

// MEGA-49, MEGA-70: with drafts a sequence says what it says without, and drafts that were wrong leave nothing to be
// read.
func TestDraftsChangeNothingThatIsSaid(t *testing.T) {
	both(t, func(t *testing.T, m *Model, rng *rand.Rand) {
		right, wrong := 0, 0
		for range 8 {
			r, w := compareDrafted(t, m, rng, somePrompt(rng, 10))
			right, wrong = right+r, wrong+w
		}
		if right == 0 || wrong == 0 {
			t.Errorf("%d drafts were right, %d wrong", right, wrong)
		}
	})
}

// Where every third word ends an answer, ends are guessed too, and nothing follows them.
func TestNothingFollowsADraftedEnd(t *testing.T) {
	m, rng := NewModel(1, vocabulary(3), false), rand.New(rand.NewPCG(1, 2))
	for range 60 {
		prompt := somePrompt(rng, 10)
		for i := range prompt {
			prompt[i] = m.vocab[rng.IntN(3)]
		}
		compareDrafted(t, m, rng, prompt)
	}
}

// compareDrafted answers prompt with drafts and without, and counts the drafts.
func compareDrafted(t *testing.T, m *Model, rng *rand.Rand, prompt []uint32) (right, wrong int) {
	t.Helper()
	const size, draft, most = 4, 3, 60
	e, table := NewEngine(m, 30, size), someTable(rng, 20, 30)
	want, _ := m.Answer("", prompt, most)
	said, stop := e.Compute(nil, Span{Table: table, Tokens: prompt, Samples: true})
	for len(said) < most && !stop {
		at := len(said)
		said, stop = e.Compute(said, Span{
			Table: table, Start: len(prompt) + at - 1, Tokens: said[at-1:], Samples: true, Draft: min(draft, most-at-1),
		})
		right += len(said) - at - 1
		wrong += len(e.drafts) - (len(said) - at - 1)
	}
	if !slices.Equal(said, want) {
		t.Fatalf("with drafts %d,\nwithout %d", said, want)
	}
	return right, wrong
}

// MEGA-38, MEGA-39: a sequence goes on from its snapshot in other blocks, when its own have been overwritten.
func TestASequenceGoesOnFromItsSnapshot(t *testing.T) {
	both(t, func(t *testing.T, m *Model, rng *rand.Rand) {
		for n := 1; n <= 9; n++ {
			e, prompt := NewEngine(m, 6, 4), somePrompt(rng, n+1)
			table := someTable(rng, 3, 6)
			want, _ := m.Answer("", prompt, 1)
			e.Compute(nil, Span{Table: table, Tokens: prompt[:n]})
			snapshot := e.Snapshot(table, n)
			e.Compute(nil, Span{Table: someTable(rng, 6, 6), Tokens: somePrompt(rng, 23)})
			table = someTable(rng, 3, 6)
			e.Restore(table, snapshot)
			if got, _ := e.Compute(nil, Span{Table: table, Start: n, Tokens: prompt[n:],
				Samples: true}); !slices.Equal(got, want) {
				t.Errorf("after %d positions it says %d, not %d", n, got, want)
			}
		}
	})
}

func TestLookUpFindsWhatFollowedTheLastTime(t *testing.T) {
	for _, c := range []struct{ past, want []uint32 }{
		{[]uint32{1, 2, 3, 4, 1, 2, 3}, []uint32{4, 1}},    // three alike
		{[]uint32{1, 2, 8, 1, 2, 9, 1, 2}, []uint32{9, 1}}, // the later of two
		{[]uint32{5, 2, 3, 9, 3, 7, 2, 3}, []uint32{9, 3}}, // two alike before one
		{[]uint32{3, 3}, []uint32{3}},                      // as far as the past goes
		{[]uint32{1, 2, 3}, nil},
		{[]uint32{1}, nil},
	} {
		if got := lookUp(nil, c.past, 2); !slices.Equal(got, c.want) {
			t.Errorf("after %d comes %d, not %d", c.past, got, c.want)
		}
	}
}

func TestTheFirstOfEqualLogitsIsPicked(t *testing.T) {
	m := NewModel(1, vocabulary(4), false)
	m.output[1], m.output[3] = m.output[2], m.output[2]
	for i := range m.output[0] {
		m.output[0][i] = -m.output[2][i]
	}
	x := m.output[2]
	if got := m.pick(&x); got != m.vocab[1] {
		t.Errorf("picked %d of %d", got, m.vocab)
	}
}

// MEGA-77: what an engine guesses follows from the text before it alone: one that has served many others guesses as a
// new one does, right and wrong alike.
func TestGuessingLearnsNothingFromWhatWasServed(t *testing.T) {
	both(t, func(t *testing.T, m *Model, rng *rand.Rand) {
		const size, most = 4, 40
		worn, seen := NewEngine(m, 30, size), 0
		for range 20 {
			table, prompt := someTable(rng, 20, 30), somePrompt(rng, 12)
			fresh := NewEngine(m, 30, size)
			said, stop := fresh.Compute(nil, Span{Table: table, Tokens: prompt, Samples: true})
			again, _ := worn.Compute(nil, Span{Table: table, Tokens: prompt, Samples: true})
			for len(said) < most && !stop {
				s := Span{Table: table, Start: len(prompt) + len(said) - 1, Tokens: said[len(said)-1:], Samples: true,
					Draft: 3}
				said, stop = fresh.Compute(said, s)
				s.Tokens = again[len(again)-1:]
				again, _ = worn.Compute(again, s)
				if !slices.Equal(fresh.drafts, worn.drafts) || !slices.Equal(said, again) {
					t.Fatalf("a new engine guesses %d and says %d, a used one %d and %d", fresh.drafts, said,
						worn.drafts, again)
				}
				seen += len(fresh.drafts)
			}
		}
		if seen == 0 {
			t.Error("nothing was guessed")
		}
	})
}
