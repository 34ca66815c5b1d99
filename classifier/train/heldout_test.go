package train

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode"

	"octet/classifier"
	"octet/classifier/model"
)

const heldOutFile = "testdata/questions/heldout.txt"

func heldOut(t *testing.T) *Questions {
	t.Helper()
	text, err := os.ReadFile(heldOutFile)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ReadQuestions(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// said are the words of a text, in lower case.
func said(text string) []string {
	apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.FieldsFunc(strings.ToLower(text), apart)
}

func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range said(text) {
		set[w] = true
	}
	return set
}

// alike is the share of the words of both texts that both have.
func alike(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

// asking is a question as sets of words.
type asking struct {
	Question
	plain, terse map[string]bool
}

func askings(q *Questions) (all []asking) {
	for _, t := range q.Topics {
		for _, one := range t.Questions {
			all = append(all, asking{one, wordsOf(one.Plain), wordsOf(one.Terse)})
		}
	}
	return all
}

// The halves have no topic and no question in common, not even one in nearly the same words.
func TestNoHeldOutQuestionIsTrainedOn(t *testing.T) {
	trained, held := TrainedQuestions(), heldOut(t)
	for _, h := range held.Topics {
		for _, o := range trained.Topics {
			if h.Name == o.Name || h.Code == o.Code || h.Log == o.Log {
				t.Errorf("%q and %q are the same topic, or have the same snippet", h.Name, o.Name)
			}
		}
	}
	known, asked := askings(trained), askings(held)
	for _, e := range Examples() {
		known = append(known, asking{Question{Plain: e.Text}, wordsOf(e.Text), nil})
	}
	for line := range strings.Lines(askList) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		known = append(known, asking{Question{Plain: text}, wordsOf(text), nil})
	}
	for _, a := range asked {
		for _, b := range known {
			if alike(a.plain, b.plain) > 0.5 || alike(a.terse, b.terse) > 0.6 || a.Mixed == b.Mixed {
				t.Errorf("asked in both halves:\n%q\n%q", a.Question, b.Question)
			}
		}
	}
	if n := len(asked) + len(askings(trained)); n < 600 {
		t.Errorf("%d questions", n)
	}
}

const run = 5 // words

// runs are all runs of so many words in the frames.
func runs(frames map[string][]string) map[string]string {
	all := map[string]string{}
	for _, of := range frames {
		for _, frame := range of {
			for part := range strings.SplitSeq(frame, questionPlace) {
				words := said(part)
				for i := run; i <= len(words); i++ {
					all[strings.Join(words[i-run:i], " ")] = frame
				}
			}
		}
	}
	return all
}

// Nothing that stands around held-out questions was there in training: no frame, and no run of five words of one.
func TestHeldOutFramesAreNotTrainedOn(t *testing.T) {
	known, held := TrainedQuestions().frames, heldOut(t).frames
	for wording, texts := range held {
		for _, f := range texts {
			if slices.Contains(known[wording], f) {
				t.Errorf("in both halves: %q", f)
			}
		}
	}
	trained := runs(known)
	for _, more := range []map[string][]string{{"": asked[:]}, frames} {
		maps.Copy(trained, runs(more))
	}
	for words, frame := range runs(held) {
		if other, ok := trained[words]; ok {
			t.Errorf("%q stands in both:\n%q\n%q", words, frame, other)
		}
	}
}

// No program can train on the held-out half by itself: only tests name its file, and training takes no such file.
func TestNoProgramNamesTheHeldOutQuestions(t *testing.T) {
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "heldout") || strings.Contains(string(text), "embed testdata/questions\n") {
			t.Errorf("%s names the held-out questions", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(heldOutFile); !errors.Is(err, ErrData) {
		t.Errorf("training reads the held-out questions: %v", err)
	}
}

// router names the label that a text goes to.
type router func(text string) (label string)

// TestQuestions prints how a model does on the held-out questions, which is the published table:
//
//	OCTET_MODEL=builtin go test -run TestQuestions$ -v ./classifier/train
func TestQuestions(t *testing.T) {
	m, err := model.Open(cmp.Or(os.Getenv("OCTET_MODEL"), model.BuiltinName))
	if err != nil {
		t.Fatal(err)
	}
	samples := heldOut(t).Samples(1)
	r, err := Evaluate(m, samples)
	if err != nil {
		t.Fatal(err)
	}
	if r.Seen > 0 {
		t.Errorf("the model was trained on the topics of %d texts", r.Seen)
	}
	alone := grid(samples, m.Labels(), func(text string) string {
		p := make([]float64, len(m.Labels()))
		m.Probabilities([]byte(text), p)
		return m.Labels()[slices.Index(p, slices.Max(p))]
	})
	whole := grid(samples, m.Labels(), cascaded(t, m))
	t.Logf("%d texts, ECE %.3f\n\nshare right, the model alone\n%s\nwith the detectors before it\n%s",
		r.Samples, r.ECE, alone.table(m.Labels()), whole.table(m.Labels()))
	if r.ECE > 0.055 {
		t.Errorf("ECE %.3f", r.ECE)
	}
	for wording, floor := range map[string]float64{WordingPlain: 0.87, WordingLower: 0.86, WordingGreeting: 0.87,
		WordingLetter: 0.83, WordingTerse: 0.85, WordingCode: 0.89, WordingLog: 0.90, WordingFollowUp: 0.86,
		WordingMixed: 0.74, WordingTypos: 0.84} {
		sum := 0.0
		for _, share := range alone[wording] {
			sum += share / float64(len(alone[wording]))
		}
		if sum < floor && os.Getenv("OCTET_MODEL") == "" {
			t.Errorf("%s: %.3f right, below %.2f", wording, sum, floor)
		}
	}
	for wording, of := range alone {
		if of[model.Reject] < 0.88 && os.Getenv("OCTET_MODEL") == "" {
			t.Errorf("%s: %.2f of what is off-topic is caught", wording, of[model.Reject])
		}
		if len(of) != len(m.Labels()) {
			t.Errorf("%s: %d classes", wording, len(of))
		}
	}
}

// cascaded routes as an ensemble with all detectors does whose specialists are the model's labels.
func cascaded(t *testing.T, m *model.Model) router {
	c := classifier.Config{Detectors: true, Fallback: model.Reject}
	names := map[string]string{}
	for _, l := range m.Labels() {
		c.Specialists = append(c.Specialists, strings.ToLower(l))
		names[strings.ToLower(l)] = l
	}
	bound, err := m.Bind(c.Specialists, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Model = bound
	cascade, err := classifier.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) string {
		v, err := cascade.Classify(classifier.Input{Text: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		return names[v.Specialist]
	}
}

// cells are shares that are right, by wording and label.
type cells map[string]map[string]float64

func grid(samples []Sample, labels []string, route router) cells {
	right, all := cells{}, cells{}
	for _, w := range Wordings {
		right[w], all[w] = map[string]float64{}, map[string]float64{}
	}
	for _, s := range samples {
		all[s.Tier][s.Label]++
		if route(s.Text) == s.Label {
			right[s.Tier][s.Label]++
		}
	}
	for w, of := range all {
		for l, n := range of {
			right[w][l] /= n
		}
	}
	return right
}

// table has a line a label and a column a wording. Its last line is the mean of the column: the macro accuracy.
func (c cells) table(labels []string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\t\n", strings.Join(Wordings[:], "\t"))
	sums := map[string]float64{}
	for _, l := range labels {
		fmt.Fprintf(w, "%s\t", l)
		for _, wording := range Wordings {
			fmt.Fprintf(w, "%.2f\t", c[wording][l])
			sums[wording] += c[wording][l] / float64(len(labels))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "macro\t")
	for _, wording := range Wordings {
		fmt.Fprintf(w, "%.3f\t", sums[wording])
	}
	fmt.Fprintln(w)
	w.Flush()
	return text.String()
}
