package model

import (
	"slices"
	"strings"
)

// LabelsOf returns the labels that lead to a specialist under Bind.
func (m *Model) LabelsOf(specialist string, specialists []string, named map[string]string) (labels []string) {
	at := slices.Index(specialists, specialist)
	for _, l := range m.labels {
		if at >= 0 && leadsTo(l, specialists, named) == at {
			labels = append(labels, l)
		}
	}
	return labels
}

// LabelsNamed returns the labels that are a specialist's name, upper and lower case alike: those that lead to it where
// no configuration says otherwise.
func (m *Model) LabelsNamed(specialist string) (labels []string) {
	for _, l := range m.labels {
		if l != Reject && strings.EqualFold(l, specialist) {
			labels = append(labels, l)
		}
	}
	return labels
}
