package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const greeting, matter = "Good morning, dear friends of ours.", "The mutex and the arena lock of my program never meet."

// polished is a toy that takes the features of greeting alone for courtesy.
func polished(t *testing.T) *Artefact {
	t.Helper()
	a := toy(t, greeting, matter)
	r, err := NewReader(toyConcepts)
	if err != nil {
		t.Fatal(err)
	}
	polite, rest := r.Vector(greeting).Keys, r.Vector(matter).Keys
	a.Courtesy = Courtesy{Scale: 0.1, Weights: make([]int8, len(a.Keys))}
	for row, k := range a.Keys {
		a.Courtesy.Weights[row] = -100
		if slices.Contains(polite, k) && !slices.Contains(rest, k) {
			a.Courtesy.Weights[row] = 100
		}
		a.Rarity[row] = 1
	}
	return a
}

func said(m *Model, text string) []float64 {
	out := make([]float64, len(m.Labels()))
	m.Probabilities([]byte(text), out)
	return out
}

func TestCourtesyIsLeftOut(t *testing.T) {
	a := polished(t)
	m, deaf := built(t, a), *a
	deaf.Courtesy = Courtesy{}
	with := greeting + "\n" + matter
	if got, want := said(m, with), said(m, "\n"+matter); slices.Equal(said(built(t, &deaf), with), want) ||
		!slices.Equal(got, want) {
		t.Errorf("with a greeting %.4f, without %.4f", got, want)
	}
	if !slices.Equal(said(m, greeting+"\n"+greeting), said(built(t, &deaf), greeting+"\n"+greeting)) {
		t.Error("a text of courtesy alone is read whole")
	}
	code := "int good = morning(dear); friends->of.ours = {};\n"
	if !slices.Equal(said(m, code+matter), said(built(t, &deaf), code+matter)) {
		t.Error("code is no courtesy")
	}
}

// What is hardly courtesy by itself is left out beside a sentence that is far from it, and kept in a long text.
func TestWhatMayBeCourtesyIsLeftOutBesideWhatIsNone(t *testing.T) {
	a := polished(t)
	deaf := *a
	deaf.Courtesy = Courtesy{}
	with, alone := greeting+"\n"+matter, said(built(t, &deaf), "\n"+matter)
	greeted := said(built(t, &deaf), with)
	d := &desk{notes: newNotes(built(t, a).concepts)}
	odds := func(m *Model) float64 {
		of := make([]float64, maxSections)
		m.note(d, []byte(with))
		m.odds(d, of)
		return of[0]
	}
	for _, c := range []struct {
		odds float64
		want []float64
	}{{0.1, alone}, {-0.1, alone}, {-4.4, alone}, {-4.6, greeted}} {
		a.Courtesy.Bias += c.odds - odds(built(t, a))
		m := built(t, a)
		if got := said(m, with); !slices.Equal(got, c.want) {
			t.Errorf("odds %.1f: %.4f, want %.4f", c.odds, got, c.want)
		}
		text := with + strings.Repeat("\n"+matter, inLetter-1)
		dropped := !slices.Equal(said(m, text), said(built(t, &deaf), text))
		if dropped != (c.odds > 0) {
			t.Errorf("odds %.1f: left out of a long text: %v", c.odds, dropped)
		}
	}
}

func TestASentenceIsLeftOutFarFromTheSurestOne(t *testing.T) {
	for _, c := range []struct {
		least    float64
		sections int
		want     float64
	}{{-75, 3, -4.5}, {-6, 3, -3}, {-1, 3, 0}, {2, 3, 0}, {-6, inLetter, -3}, {-6, inLetter + 1, 0}} {
		if got := mostOdds(c.least, c.sections); got != c.want {
			t.Errorf("%d sections, the surest with %.1f: kept up to %.1f, want %.1f", c.sections, c.least, got, c.want)
		}
	}
}

func TestSectionsAreSentencesAndLines(t *testing.T) {
	r, err := NewReader("")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"": 0, "one two": 1, "Hello, how are you? Fine.": 3, "a::b and std::move(x).y are names": 1,
		"Hello\nworld\n\n\nof letters": 3, "I know that you are, of all people that I have met, busy.": 1,
		"x[0] = (y + z) * {1}; // !!\n(a) = [b] ** {c};\n!(d) = [e] ** {f};\n": 0,
	} {
		if got := len(r.Sections(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	n := r.desk.notes
	n.begin()
	for range 10 * maxSections {
		n.read("A sentence. ", r.concepts)
	}
	if len(n.sections) != maxSections || n.last().keys != len(n.keys) {
		t.Errorf("%d sections to %d of %d keys", len(n.sections), n.last().keys, len(n.keys))
	}
}

func TestProseHasSettingsOfItsOwn(t *testing.T) {
	a := polished(t)
	plain := said(built(t, a), matter)
	a.Prose = Setting{Shift: 50, Temperature: 1}
	m := built(t, a)
	if p := said(m, matter); p[2] < 0.99 || slices.Equal(p, plain) {
		t.Errorf("prose: %.3f", p)
	}
	if p := said(m, strings.Repeat(matter+" ", 4)); p[2] > 0.99 {
		t.Errorf("a document: %.3f", p)
	}
	if p := said(m, "{x}[0] = (mutex) + *(arena);"); p[2] > 0.99 {
		t.Errorf("code: %.3f", p)
	}
	back, err := Decode(encoded(t, a))
	if err != nil || cmp.Diff(a, back) != "" {
		t.Fatalf("%v\n%s", err, cmp.Diff(a, back))
	}
	for name, spoil := range map[string]func(*Artefact){
		"rows":        func(a *Artefact) { a.Courtesy.Weights = a.Courtesy.Weights[1:] },
		"temperature": func(a *Artefact) { a.Prose.Temperature = -1 },
		"doubt":       func(a *Artefact) { a.Prose.Doubt = 1 },
		"scale":       func(a *Artefact) { a.Courtesy.Scale = 1e300 },
	} {
		bad := *a
		if spoil(&bad); bad.check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
