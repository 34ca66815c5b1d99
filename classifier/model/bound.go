package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Errors of Bind.
var (
	ErrLabels  = errors.New("labels of the classifier")
	ErrForeign = errors.New("the classifier knows none of the specialists")
)

// Bound is a model whose labels lead to the specialists of an ensemble.
type Bound struct {
	model *Model
	to    []int // by label: the specialist; -1 = none
	n     int   // specialists
}

// Bind has each label lead to the specialist that named has for it, else to the one of its own name, upper and lower
// case alike. What a label without a specialist gets belongs to none of them: it counts as reject. ErrLabels: named
// speaks of a label or of a specialist that is not there. ErrForeign: no label leads anywhere.
func (m *Model) Bind(specialists []string, named map[string]string) (*Bound, error) {
	for _, l := range slices.Sorted(maps.Keys(named)) {
		if l == Reject || !slices.Contains(m.labels, l) {
			return nil, fmt.Errorf("%w: there is no %.64q among %q", ErrLabels, l, m.labels)
		}
		if !slices.Contains(specialists, named[l]) {
			return nil, fmt.Errorf("%w: %s leads to %.64q, which is no specialist", ErrLabels, l, named[l])
		}
	}
	b := &Bound{model: m, n: len(specialists)}
	leads := false
	for _, l := range m.labels {
		to := leadsTo(l, specialists, named)
		leads = leads || to >= 0
		b.to = append(b.to, to)
	}
	if !leads {
		return nil, fmt.Errorf("%w: it knows %q", ErrForeign, m.labels)
	}
	return b, nil
}

func leadsTo(label string, specialists []string, named map[string]string) int {
	if label == Reject {
		return -1
	}
	if s := named[label]; s != "" {
		return slices.Index(specialists, s)
	}
	return slices.IndexFunc(specialists, func(s string) bool { return strings.EqualFold(s, label) })
}

// Classify fills out, one probability a specialist, and returns the probability that the text is for none of them.
func (b *Bound) Classify(text []byte, out []float64) (reject float64, err error) {
	if len(out) != b.n {
		return 0, fmt.Errorf("%w: %d places for %d specialists", ErrLabels, len(out), b.n)
	}
	var byLabel [maxLabels]float64
	b.model.Probabilities(text, byLabel[:len(b.to)])
	clear(out)
	for l, to := range b.to {
		if to < 0 {
			reject += byLabel[l]
		} else {
			out[to] += byLabel[l]
		}
	}
	return reject, nil
}
