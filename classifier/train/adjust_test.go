package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"octet/classifier/model"
	"octet/internal/race"
)

// jargon are texts of an operator's own words, which the builtin model takes for something else, by label.
func jargon(n int, seed uint64, label func(i int, dice *rand.Rand) string) (samples []Sample) {
	words := map[string][]string{
		"STL":     strings.Fields("order basket price customer invoice shipping discount ledger"),
		"Systems": strings.Fields("patient doctor ward nurse bed chart appointment record"),
	}
	dice := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		about := []string{"STL", "Systems"}[i%2]
		var text []string
		for range 12 {
			text = append(text, words[about][dice.IntN(8)])
		}
		samples = append(samples,
			Sample{Text: strings.Join(text, " "), Label: label(i, dice), Source: fmt.Sprint(seed, i)})
	}
	return samples
}

func right(i int, _ *rand.Rand) string { return []string{"STL", "Systems"}[i%2] }

func base(t *testing.T) *model.Artefact {
	t.Helper()
	a, err := model.Load(model.BuiltinName)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var others = []string{
	"undefined reference to `main' when linking with ld", "why does my mutex deadlock when two threads lock it twice",
	"how do I make a Sudoku solver with backtracking in C++", "the allocator returns memory that is not aligned",
	"valgrind reports an invalid read of size 8", "an SFINAE check for a member function in a template",
}

func TestAnAdjustedModelKnowsWhatItWasToldAndIsAsItWasElsewhere(t *testing.T) {
	c := Adjusting{Base: base(t), Learnt: jargon(80, 1, right), Anchors: others, Seed: 1}
	whole, err := c.Base.Encode()
	if err != nil {
		t.Fatal(err)
	}
	a, r, err := Adjust(c)
	if err != nil || r.Strength == 0 || r.After >= r.Before || r.Rows == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if after, _ := c.Base.Encode(); !bytes.Equal(whole, after) {
		t.Error("the base artefact has changed")
	}
	before, _ := model.New(c.Base)
	after, err := model.New(a)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Compare(before, after, jargon(60, 2, right))
	if err != nil || d.After.Top1 < 0.95 || d.Before.Top1 > 0.7 || d.Changed != d.Gained || d.Lost != 0 ||
		d.Chance > 0.001 {
		t.Errorf("texts that it has not seen: %.2f before, %.2f after: %+v, %v", d.Before.Top1, d.After.Top1, d, err)
	}
	if n := Moved(before, after, others); n > 0 {
		t.Errorf("%d of %d other texts are decided otherwise", n, len(others))
	}
	if a.Temperature != c.Base.Temperature || a.Doubt != c.Base.Doubt {
		t.Error("its calibration is another one")
	}
	one, _ := a.Encode()
	b, _, _ := Adjust(c)
	if again, _ := b.Encode(); !bytes.Equal(one, again) {
		t.Error("the same texts and seed give other bytes")
	}
}

// Labels that are chance teach nothing: the model stays as it is. That it could be less sure of what is wrong anyway is
// no reason to change it.
func TestChanceChangesNothing(t *testing.T) {
	race.Skip(t)
	b := base(t)
	for seed := range uint64(5) {
		noise := func(_ int, dice *rand.Rand) string { return b.Labels[dice.IntN(len(b.Labels))] }
		learnt := jargon(60, 10+seed, noise)
		for i := range learnt { // told by nothing in the text
			learnt[i].Text = others[i%len(others)]
		}
		a, r, err := Adjust(Adjusting{Base: b, Learnt: learnt, Anchors: others, Seed: seed})
		if err != nil || r.Strength != 0 || a != b {
			t.Errorf("seed %d: %+v, %v", seed, r, err)
		}
	}
}

func TestWhatCannotBeAdjustedIsRefused(t *testing.T) {
	few := jargon(leastGroups-1, 1, right)
	foreign := jargon(20, 1, func(int, *rand.Rand) string { return "Gardening" })
	twins := jargon(20, 1, right)
	for i := range twins {
		twins[i].Source = "one"
	}
	for name, learnt := range map[string][]Sample{"none": nil, "too few": few, "an unknown label": foreign,
		"of one group": twins} {
		if _, _, err := Adjust(Adjusting{Base: base(t), Learnt: learnt}); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The gradient is the loss's: against differences in every direction of a few.
func TestTheSlopeIsTheLosss(t *testing.T) {
	c := Adjusting{Base: base(t), Learnt: jargon(12, 1, right), Anchors: others, Seed: 1}
	d, err := newDesk(&c)
	if err != nil {
		t.Fatal(err)
	}
	folds, _ := d.folds(c.Learnt, 1)
	n := len(d.inputs) * len(c.Base.Labels)
	dice := rand.New(rand.NewPCG(3, 3))
	at, slope := make([]float64, n), make([]float64, n)
	for i := range at {
		at[i] = dice.NormFloat64()
	}
	d.loss(at, slope, 0.1, folds, 1)
	for range 40 {
		i := dice.IntN(n)
		was := at[i]
		at[i] = was + 1e-5
		up := d.loss(at, nil, 0.1, folds, 1)
		at[i] = was - 1e-5
		down := d.loss(at, nil, 0.1, folds, 1)
		at[i] = was
		if want := (up - down) / 2e-5; math.Abs(slope[i]-want) > 1e-6+1e-4*math.Abs(want) {
			t.Errorf("direction %d: %v, want %v", i, slope[i], want)
		}
	}
}

func TestTheSignTestIsACoins(t *testing.T) {
	for _, row := range []struct {
		a, b int
		want float64
	}{{0, 0, 1}, {1, 0, 1}, {0, 5, 0.0625}, {9, 1, 0.021484375}, {5, 5, 1}} {
		if got := signTest(row.a, row.b); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%d and %d: %v, want %v", row.a, row.b, got, row.want)
		}
	}
}
