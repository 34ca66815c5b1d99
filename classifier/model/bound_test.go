package model

import (
	"errors"
	"math"
	"testing"
)

func TestLabelsLeadToSpecialists(t *testing.T) {
	m := built(t, toy(t, sampleCode))
	plain := make([]float64, 3)
	m.Probabilities([]byte(sampleCode), plain)
	for _, row := range []struct {
		name        string
		specialists []string
		named       map[string]string
		want        []float64 // by specialist
		reject      float64
	}{
		{"by name, in any case", []string{"b", "a"}, nil, []float64{plain[1], plain[0]}, plain[2]},
		{"one that no label is for", []string{"a", "x", "b"}, nil, []float64{plain[0], 0, plain[1]}, plain[2]},
		{"a label for nobody is reject's", []string{"a"}, nil, []float64{plain[0]}, plain[1] + plain[2]},
		{"two labels for one", []string{"all", "b"}, map[string]string{"A": "all", "B": "all"},
			[]float64{plain[0] + plain[1], 0}, plain[2]},
		{"named before its namesake", []string{"a", "z"}, map[string]string{"A": "z"}, []float64{0, plain[0]},
			plain[1] + plain[2]},
	} {
		b, err := m.Bind(row.specialists, row.named)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		out := make([]float64, len(row.specialists))
		reject, err := b.Classify([]byte(sampleCode), out)
		if err != nil || math.Abs(reject-row.reject) > 1e-12 {
			t.Errorf("%s: reject %v, want %v, %v", row.name, reject, row.reject, err)
		}
		for i := range out {
			if math.Abs(out[i]-row.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", row.name, out, row.want)
			}
		}
	}
}

func TestLabelsThatLeadNowhereAreErrors(t *testing.T) {
	m := built(t, toy(t, sampleCode))
	for _, row := range []struct {
		name  string
		named map[string]string
		want  error
	}{
		{"an unknown label", map[string]string{"C": "x"}, ErrLabels},
		{"an unknown specialist", map[string]string{"A": "y"}, ErrLabels},
		{"reject", map[string]string{Reject: "x"}, ErrLabels},
		{"none fits", nil, ErrForeign},
	} {
		if _, err := m.Bind([]string{"x"}, row.named); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	b, err := m.Bind([]string{"a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Classify(nil, make([]float64, 2)); !errors.Is(err, ErrLabels) {
		t.Errorf("too many places: %v", err)
	}
}
