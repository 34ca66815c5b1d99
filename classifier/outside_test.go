package classifier

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// elsewhere is a classifier out of process that says p, or fails.
type elsewhere struct {
	p      []float64
	reject float64
	err    error
}

func (e elsewhere) Ask(_ context.Context, _ []byte, out []float64) (float64, error) {
	copy(out, e.p)
	return e.reject, e.err
}

// inside is a model that says p, or fails.
type inside struct {
	p   []float64
	err error
}

func (m inside) Classify(_ []byte, out []float64) (float64, error) {
	clear(out)
	copy(out, m.p)
	return 0, m.err
}

func TestTheClassifierOutOfProcessDecidesAndTheModelStandsInForIt(t *testing.T) {
	broken := fmt.Errorf("%w: after 5ms", OutageTimeout)
	for _, row := range []struct {
		name       string
		outside    Outside
		model      Model
		specialist string
		by         RoutedBy
		classifier string
		outage     Outage
		degraded   bool
	}{
		{"it answers", elsewhere{p: []float64{0, 1}}, inside{p: []float64{1, 0}}, "stl", ByClassifier, FromHTTP, "",
			false},
		{"it answers, without a model", elsewhere{p: []float64{0, 1}}, nil, "stl", ByClassifier, FromHTTP, "", false},
		{"it rejects", elsewhere{p: []float64{0, 0}, reject: 1}, inside{p: []float64{1, 0}}, "stl", ByFallback,
			FromHTTP, "", false},
		{"it is late", elsewhere{p: []float64{0, 7}, err: broken}, inside{p: []float64{1, 0}}, "algo", ByClassifier,
			FromModel, OutageTimeout, false},
		{"it lies", elsewhere{p: []float64{0.7, 0.7}}, inside{p: []float64{1, 0}}, "algo", ByClassifier, FromModel,
			OutageMalformed, false},
		{"it fails without a word", elsewhere{err: errors.New("no")}, inside{p: []float64{1, 0}}, "algo",
			ByClassifier, FromModel, OutageMalformed, false},
		{"it is late, without a model", elsewhere{err: broken}, nil, "stl", ByFallback, "", OutageTimeout, true},
		{"both fail", elsewhere{err: broken}, inside{err: ErrModel}, "stl", ByFallback, "", OutageTimeout, true},
		{"there is none", nil, inside{p: []float64{1, 0}}, "algo", ByClassifier, "", "", false},
	} {
		c, err := New(Config{Specialists: []string{"algo", "stl"}, Fallback: "stl", Outside: row.outside,
			Model: row.model})
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Classify(Input{Text: []byte("how do I do this?")})
		if err != nil || v.Specialist != row.specialist || v.RoutedBy != row.by || v.Classifier != row.classifier ||
			v.Outage != row.outage || (v.Degraded != nil) != row.degraded {
			t.Errorf("%s: %+v, %v", row.name, v, err)
		}
		if row.degraded && errors.Is(v.Degraded, ErrNoModel) {
			t.Errorf("%s: %v", row.name, v.Degraded)
		}
		if c.Outside() != (row.outside != nil) {
			t.Errorf("%s: Outside returns %v", row.name, c.Outside())
		}
	}
}

// What is declared, and what a detector knows, is asked of nothing out of process.
func TestWhatIsDeclaredIsNotAskedOutOfProcess(t *testing.T) {
	asked := 0
	c, err := New(Config{Specialists: []string{"debug", "stl"}, Fallback: "stl", Detectors: true,
		Intents: map[string]IntentConfig{"debug": {Specialist: "debug"}}, Outside: counting{&asked}})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []Input{{Model: "stl"}, {Intent: "debug"},
		{Text: []byte("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n#0 0x1 in f a.cc:1\n")}} {
		if _, err := c.Classify(in); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 0 {
		t.Errorf("asked %d times", asked)
	}
	if _, err := c.Classify(Input{Text: []byte("hello")}); err != nil || asked != 1 {
		t.Errorf("a plain text: asked %d times, %v", asked, err)
	}
}

type counting struct{ asked *int }

func (c counting) Ask(context.Context, []byte, []float64) (float64, error) {
	*c.asked++
	return 0, OutageStatus
}
