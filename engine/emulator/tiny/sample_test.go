package tiny

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// said is what an Engine answers by a policy, with a draft window, and in how many steps.
func said(m *Model, p Policy, prompt []uint32, n, draft int) (tokens []uint32, steps int) {
	const size = 4
	e := NewEngine(m, 64, size)
	table := someTable(rand.New(rand.NewPCG(1, 2)), 60, 60)
	all := slices.Clone(prompt)
	for start := 0; len(tokens) < n; start = len(all) - 1 {
		from := len(tokens)
		steps++
		var stop bool
		tokens, stop = e.Compute(tokens, Span{Table: table, Start: start, Tokens: all[start:], Samples: true,
			Draft: draft, Policy: p})
		all = append(all, tokens[from:]...)
		if stop {
			return tokens, steps
		}
	}
	return tokens[:n], steps
}

// MEGA-71: the policy of a request decides what is sampled: by the seed, by the temperature and by how much of the
// probability is looked at. Drafts and blocks change nothing of it.
func TestTokensAreSampledByThePolicy(t *testing.T) {
	m := NewModel(5, vocabulary(64), false)
	prompt := somePrompt(rand.New(rand.NewPCG(3, 4)), 9)
	greedy, _ := m.Answer("", prompt, 24)
	differ, saved := 0, 0
	for seed := range uint64(8) {
		p := Policy{Temperature: 1, Seed: seed}
		want, _ := m.AnswerBy(p, "", prompt, 24)
		for _, q := range []Policy{p, {Temperature: 0.2, Seed: seed}} { // the colder says again what it said
			alone, _ := m.AnswerBy(q, "", prompt, 48)
			for _, draft := range []int{0, 3} {
				got, steps := said(m, q, prompt, 48, draft)
				if !slices.Equal(got, alone) {
					t.Errorf("%+v, draft %d: %v, alone %v", q, draft, got, alone)
				}
				saved += len(got) - steps
			}
		}
		if !slices.Equal(want, greedy) {
			differ++
		}
		for name, like := range map[string]Policy{"cold": {Temperature: 1e-6, Seed: seed},
			"the likeliest alone": {Temperature: 1, TopP: 1e-9, Seed: seed}, "no temperature": {Seed: seed}} {
			if got, _ := m.AnswerBy(like, "", prompt, 24); !slices.Equal(got, greedy) {
				t.Errorf("%s: %v, greedily %v", name, got, greedy)
			}
		}
	}
	if differ < 7 || saved < 10 {
		t.Errorf("%d of 8 seeds say something else than greedily; drafts save %d steps", differ, saved)
	}
}

// What is drawn has the probabilities of the softmax, of all tokens or of the likeliest.
func TestDrawsHaveTheProbabilitiesOfTheSoftmax(t *testing.T) {
	m := NewModel(5, vocabulary(64), false)
	r := plain{m: m, adapter: m.adapter("")}
	r.tell(3)
	all, sum := m.chances(nil, &r.x, 1)
	likeliest, kept := nucleus(slices.Clone(all), 0.3*sum)
	for name, c := range map[string]struct {
		topP   float64
		among  []chance
		weight float64
	}{"all": {0, all, sum}, "nucleus": {0.3, likeliest, kept}} {
		const draws = 40000
		drawn := map[uint32]int{}
		scratch := new([]chance)
		for seed := range uint64(draws) {
			drawn[m.sample(&r.x, Policy{Temperature: 1, TopP: c.topP, Seed: seed}, 7, scratch)]++
		}
		far, total := 0.0, 0
		for _, k := range c.among {
			n := drawn[m.vocab[k.index]]
			total += n
			want := k.weight / c.weight * draws
			if want > 50 {
				far = max(far, (float64(n)-want)*(float64(n)-want)/want)
			}
		}
		if total != draws || far > 20 { // chi-square of one cell: far beyond 0.001
			t.Errorf("%s: %d of %d draws are among the %d tokens, the farthest by %.1f", name, total, draws,
				len(c.among), far)
		}
	}
}
