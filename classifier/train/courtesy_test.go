package train

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"octet/classifier/model"
)

// strangers are letters of other words than the frames that the model learnt.
var strangers = [...]string{
	"Ahoy! %s Bless you, stranger.",
	"Hello from rainy Dublin! My aunt says you never lose your temper, so I dare to write. %s Ever so grateful, Niamh",
	"Sehr geehrte Damen und Herren,\n\nI trust all is peaceful on your side of the ocean. %s\n\nHumbly yours,\nIgor",
	"Pardon the intrusion, it is nearly midnight and the kettle is on. %s That would ease my mind a great deal.",
}

// Courtesy around a question is no evidence: few verdicts change, as many as the figure says at most.
func TestCourtesyIsNoEvidence(t *testing.T) {
	m, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	of := func(text string) string {
		p := make([]float64, len(m.Labels()))
		m.Probabilities([]byte(text), p)
		return m.Labels()[slices.Index(p, slices.Max(p))]
	}
	changed, all := 0, 0
	for _, s := range TrainedQuestions().Samples(1) {
		if s.Tier != WordingPlain {
			continue
		}
		for _, letter := range strangers {
			all++
			if of(s.Text) != of(strings.Replace(letter, "%s", s.Text, 1)) {
				changed++
			}
		}
	}
	t.Logf("%d of %d", changed, all)
	if share := float64(changed) / float64(all); all < 500 || share > 0.02 {
		t.Errorf("%d of %d verdicts change", changed, all)
	}
}

func TestFramesAndSubjectsAreWhole(t *testing.T) {
	for _, o := range order {
		if o.kind != "" && len(frames[o.kind]) < 10 {
			t.Errorf("%d texts of %q", len(frames[o.kind]), o.kind)
		}
	}
	chance := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		text := inLetter("QUESTION", chance)
		if !strings.Contains(strings.ToUpper(text), "QUESTION") || strings.ContainsAny(text, "{}") {
			t.Fatalf("%q", text)
		}
	}
	labels := map[string]int{}
	for _, s := range Subjects() {
		labels[s.Label]++
		if q := s.question(chance); q.Text == "" || q.Label != s.Label || strings.Contains(q.Text, "%s") {
			t.Fatalf("%+v", q)
		}
	}
	if len(labels) != 9 {
		t.Errorf("%v", labels)
	}
	for l, n := range labels {
		if n < 100 {
			t.Errorf("%d subjects of %s", n, l)
		}
	}
}

// All questions weigh the same by label, and a share beside all other texts.
func TestQuestionsWeighTheSameByLabel(t *testing.T) {
	examples := []example{{label: 0}, {label: 0}, {label: 0}, {label: 1}}
	weighAsked(examples, 12)
	if examples[0].weight != 2 || examples[3].weight != 6 {
		t.Errorf("%v", examples)
	}
}

func TestQuestionsOfATopicStandInOneFold(t *testing.T) {
	all := TrainedQuestions()
	q := all.Dealt(1, 4)
	folds, of := dealTopics(q, 4), map[string]int{}
	for i, s := range q {
		for j, frame := range all.frames[s.Tier] {
			before, after, _ := strings.Cut(frame, questionPlace)
			if strings.HasPrefix(s.Text, before) && strings.HasSuffix(s.Text, after) && j%4 != folds[i] &&
				s.Tier == WordingLetter {
				t.Fatalf("fold %d has a frame of fold %d: %s", folds[i], j%4, s.Text)
			}
		}
		if k, known := of[s.Source]; known && k != folds[i] || folds[i] < 0 || folds[i] > 3 {
			t.Fatalf("%s: folds %d and %d", s.Source, k, folds[i])
		}
		of[s.Source] = folds[i]
	}
}

// A text of courtesy alone is for none of the specialists, although no training text says so: it is read whole, and no
// label has more courtesy around its texts than another.
func TestCourtesyAloneIsForNobody(t *testing.T) {
	m, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	kinds := [...]string{"greet", "intro", "lead", "close", "thanks", "sign"}
	chance, rejected := rand.New(rand.NewPCG(9, 9)), 0
	const all = 1000
	for range all {
		var text []string
		for range 1 + chance.IntN(3) {
			text = append(text, frame(kinds[chance.IntN(len(kinds))], chance))
		}
		p := make([]float64, len(m.Labels()))
		m.Probabilities([]byte(strings.Join(text, " ")), p)
		if m.Labels()[slices.Index(p, slices.Max(p))] == model.Reject {
			rejected++
		}
	}
	if t.Logf("%d of %d", rejected, all); rejected < all*95/100 {
		t.Errorf("%d of %d texts of courtesy alone are rejected", rejected, all)
	}
}
