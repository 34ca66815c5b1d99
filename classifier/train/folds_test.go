package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"octet/classifier/model"
)

// orgs are sources of six families, one of them with far more texts than the others.
func orgs() (samples []Sample) {
	for i := range 6 {
		samples = append(samples, made(uint64(i), fmt.Sprintf("org%d/a", i), fmt.Sprintf("org%d/b", i))...)
	}
	for i := range 12 {
		samples = append(samples, made(uint64(100+i), fmt.Sprintf("large/%d", i))...)
	}
	return samples
}

func TestFamiliesAreDealtWhole(t *testing.T) {
	samples := orgs()
	labels := []string{"Locks", "Trees", model.Reject}
	folds := deal(samples, labels, 3)
	of, texts := map[string]int{}, map[int]int{}
	for i, s := range samples {
		if k, known := of[family(s.Source)]; known && k != folds[i] {
			t.Fatalf("%s is in two folds", s.Source)
		}
		of[family(s.Source)] = folds[i]
		texts[folds[i]]++
	}
	if of["large"] != always || texts[0] != texts[1] || texts[1] != texts[2] || texts[0] == 0 {
		t.Errorf("%v, %v", of, texts)
	}
	if !slices.Equal(deal(samples, labels, 3), folds) {
		t.Error("the same samples are dealt in two ways")
	}
}

// Every label is spread as evenly over the folds as whole families allow.
func TestLabelsAreSpreadOverTheFolds(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 3))
	var samples []Sample
	labels := []string{"a", "b", "c", model.Reject}
	for f := range 60 {
		for range 5 + dice.IntN(40) {
			samples = append(samples, Sample{Label: labels[(f+dice.IntN(2))%4], Source: fmt.Sprintf("org%d/x", f)})
		}
	}
	of := map[string][4]float64{}
	total := map[string]float64{}
	for i, k := range deal(samples, labels, 4) {
		n := of[samples[i].Label]
		n[k]++
		of[samples[i].Label] = n
		total[samples[i].Label]++
	}
	for label, n := range of {
		for k, x := range n {
			if part := x / total[label]; part < 0.15 || part > 0.35 {
				t.Errorf("fold %d has %.2f of %s", k, part, label)
			}
		}
	}
}

// With folds all texts are trained on, and what is reported is of models that have not seen a text's family.
func TestCrossValidationLearnsFromAllAndJudgesTheUnseen(t *testing.T) {
	c := Config{Train: orgs(), Dev: made(9, "other/one", "other/two"), Concepts: "words locks: mutex deadlock", Seed: 1,
		Folds: 3}
	a, r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, s := range slices.Concat(c.Train, c.Dev) {
		if family(s.Source) != "large" {
			held++
		}
	}
	if a.Origin.Samples != len(c.Train)+len(c.Dev) || a.Origin.Sources != 26 || a.Origin.Folds != 3 ||
		r.Samples != held || len(r.Folds) != 3 || r.MacroF1 < 0.99 {
		t.Errorf("%+v\n%d held out, %+v", a.Origin, held, r)
	}
	for i, f := range r.Folds {
		if f.Samples == 0 || f.MacroF1 < 0.99 || f.Top2 != 1 {
			t.Errorf("fold %d: %+v", i, f)
		}
	}
	again, _, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := a.Encode()
	two, _ := again.Encode()
	if !bytes.Equal(one, two) {
		t.Error("the same data and seed give other bytes")
	}
}

// What only a family of its own says is not known when it is judged: a cross-validation that leaked would be right
// about it.
func TestNothingOfAFamilyIsLearntBeforeItIsJudged(t *testing.T) {
	dice := rand.New(rand.NewPCG(5, 5))
	var samples []Sample
	labels := []string{"a", "b", model.Reject}
	for f := range 12 {
		for i := range 40 { // in each family the words that tell its labels are its own, in two sources
			label := labels[i%3]
			samples = append(samples,
				Sample{Text: fmt.Sprintf("zz%c%c and %c", 'a'+f, 'a'+i%3, 'a'+dice.IntN(9)), Label: label,
					Source: fmt.Sprintf("org%d/%d", f, i%2)})
		}
	}
	_, r, err := Run(Config{Train: samples, Seed: 1, Folds: 4})
	if err != nil {
		t.Fatal(err)
	}
	if r.Top1 > 0.55 {
		t.Errorf("right about %.2f of what nobody can know", r.Top1)
	}
}

func TestFoldsThatMakeNoSenseAreFaults(t *testing.T) {
	for name, c := range map[string]Config{
		"one":                 {Train: orgs(), Folds: 1},
		"fewer than none":     {Train: orgs(), Folds: -2},
		"too many":            {Train: orgs(), Folds: maxFolds + 1},
		"one family":          {Train: made(1, "org/a", "org/b"), Folds: 2},
		"no family but large": {Train: slices.Concat(made(1, "a/1", "a/2", "a/3"), made(2, "b/1")), Folds: 2},
	} {
		if _, _, err := Run(c); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The search by thirds finds what a fine grid finds.
func TestTheLeastLossIsThatOfAGrid(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	for trial := range 20 {
		var answers []answer
		for range 80 {
			a := answer{label: dice.IntN(4), probabilities: make([]float64, 4)}
			total := 0.0
			for c := range a.probabilities {
				a.probabilities[c] = math.Exp(dice.NormFloat64() * float64(1+trial%3))
				if c == a.label {
					a.probabilities[c] *= float64(1 + trial%4)
				}
				total += a.probabilities[c]
			}
			for c := range a.probabilities {
				a.probabilities[c] /= total
			}
			answers = append(answers, a)
		}
		grid := math.Inf(1)
		for temperature := coldest; temperature <= hottest; temperature *= 1.005 {
			loss := 0.0
			for i := range answers {
				loss += answers[i].heated(temperature, 3, 0.2)
			}
			grid = min(grid, loss)
		}
		if got := leastLoss(answers, 3, 0.2); math.Abs(got-grid) > 0.001*grid {
			t.Errorf("trial %d: %.4f, the grid has %.4f", trial, got, grid)
		}
	}
}

// A fold's answers are made true by the others' alone: here each fold is as sure as the others are wrong.
func TestAFoldIsCalibratedByTheOthers(t *testing.T) {
	var answers []answer
	var of []int
	for k := range 2 {
		for i := range 200 {
			a := answer{label: 0, probabilities: []float64{0.9, 0.08, 0.02}}
			if k == 1 && i%2 == 0 {
				a.label = 1 // the second fold's models are right half the time
			}
			answers, of = append(answers, a), append(of, k)
		}
	}
	out := nested(answers, of, 2)
	if sure, unsure := out[200].probabilities[0], out[0].probabilities[0]; sure < 0.9 || unsure > 0.6 {
		t.Errorf("the fold beside one that is always right says %.2f, that beside one that is right half the time %.2f",
			sure, unsure)
	}
	for _, a := range out {
		if sum := a.probabilities[0] + a.probabilities[1] + a.probabilities[2]; math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%v add up to %v", a.probabilities, sum)
		}
	}
}
