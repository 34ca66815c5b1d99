package remote

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reject is the label of texts that are for no specialist.
const Reject = "reject"

// ErrLabels is a list of labels that does not fit the ensemble.
var ErrLabels = errors.New("labels of the classifier over HTTP")

// Bind returns a Classifier that asks s about the specialists: by the labels that named has for them, and by its own
// name about each one that named has none for. Errors wrap ErrLabels.
func (s *Service) Bind(specialists []string, named map[string]string) (*Classifier, error) {
	c := &Classifier{service: s, to: map[string]int{}, places: len(specialists)}
	for _, label := range slices.Sorted(maps.Keys(named)) {
		at := slices.Index(specialists, named[label])
		if label == "" || label == Reject || at < 0 {
			return nil, fmt.Errorf("%w: %.64q cannot lead to %.64q", ErrLabels, label, named[label])
		}
		c.to[label] = at
		c.labels = append(c.labels, label)
	}
	for i, name := range specialists {
		if !slices.Contains(slices.Collect(maps.Values(c.to)), i) {
			if _, taken := c.to[name]; taken || name == Reject {
				return nil, fmt.Errorf("%w: %.64q is a specialist that no label leads to", ErrLabels, name)
			}
			c.to[name] = i
			c.labels = append(c.labels, name)
		}
	}
	c.labels = append(c.labels, Reject)
	return c, nil
}

// leadsTo returns the specialist of a label, -1 for reject. Upper and lower case are alike where no other label is
// meant.
func (c *Classifier) leadsTo(label string) (at int, known bool) {
	if at, known = c.to[label]; known {
		return at, true
	}
	if strings.EqualFold(label, Reject) {
		return -1, true
	}
	for _, l := range c.labels {
		if strings.EqualFold(l, label) {
			return c.to[l], true
		}
	}
	return 0, false
}
