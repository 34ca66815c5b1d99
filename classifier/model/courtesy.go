package model

import (
	"fmt"
	"math"
)

// Courtesy tells the sentences that say nothing of what a text is about: greetings, introductions, thanks, signatures.
type Courtesy struct {
	Scale   float64 // what one step of a weight is worth
	Bias    float64
	Weights []int8 // by row; none: nothing is left out
}

// Setting is what makes sums true probabilities.
type Setting struct {
	Shift       float64 `json:"shift"` // added to the sum of reject
	Temperature float64 `json:"temperature"`
	Doubt       float64 `json:"doubt"`
}

// unknown is the row of a key that no feature has.
const unknown = math.MaxUint32

// find looks up the rows of the notes' keys.
func (m *Model) find(d *desk) {
	d.found = d.found[:0]
	for _, k := range d.notes.keys {
		row, known := m.rows.find(k)
		if !known {
			row = unknown
		}
		d.found = append(d.found, row)
	}
}

// leaveOut drops the sections that are courtesy. A text that is nothing else keeps all.
func (m *Model) leaveOut(d *desk) {
	sections := d.notes.sections
	if len(m.courtesy.Weights) == 0 || len(sections) < 2 {
		return
	}
	from, left := 0, 0
	for i := range sections {
		s := &sections[i]
		if s.dropped = s.prose && m.polite(d.found[from:s.keys]); !s.dropped {
			left++
		}
		from = s.keys
	}
	for i := range sections {
		sections[i].dropped = sections[i].dropped && left > 0
	}
}

// polite reports whether the features of a section, each sight counted once, say that it is courtesy.
func (m *Model) polite(found []uint32) bool {
	sum, square := 0.0, 0.0
	for _, row := range found {
		if row == unknown {
			continue
		}
		value := float64(m.rarity[row])
		sum += value * float64(m.courtesy.Weights[row])
		square += value * value
	}
	return m.courtesy.Bias+sum*m.courtesy.Scale/math.Sqrt(max(square, 1e-12)) > 0
}

// isProse reports whether what is left of a text is prose rather than code or a log.
func (n *notes) isProse() bool { return isProse(n.words, n.signs) }

func (a *Artefact) checkCourtesy() error {
	c, p := &a.Courtesy, &a.Prose
	if n := len(c.Weights); n != 0 && n != len(a.Keys) || !finite64([]float64{c.Scale, c.Bias}) {
		return fmt.Errorf("%w: courtesy of %d rows, scale %v, bias %v", ErrArtefact, n, c.Scale, c.Bias)
	}
	if !(p.Temperature >= 0) || !(p.Doubt >= 0 && p.Doubt < 1) || !finite64([]float64{p.Temperature, p.Shift}) {
		return fmt.Errorf("%w: prose has temperature %v, doubt %v, shift %v", ErrArtefact, p.Temperature, p.Doubt,
			p.Shift)
	}
	return nil
}
