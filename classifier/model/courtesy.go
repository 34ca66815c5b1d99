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

// Odds are logarithms: above 0 a section is courtesy, whatever stands beside it.
const (
	doubtful = -4.5 // from here on a section may be courtesy in words that are not known
	apart    = 3.0  // it is left out where another one is so much less polite
	inLetter = 16   // sections at most: a longer text is no letter, and loses only what is courtesy for sure
)

// leaveOut drops the sections that are courtesy: for sure, or beside one that is far surer to be none. A text that is
// nothing else keeps all.
func (m *Model) leaveOut(d *desk) {
	sections := d.notes.sections
	if len(m.courtesy.Weights) == 0 || len(sections) < 2 {
		return
	}
	var odds [maxSections]float64
	least := m.odds(d, odds[:])
	most := mostOdds(least, len(sections))
	if least > most {
		return
	}
	for i := range sections {
		sections[i].dropped = odds[i] > most
	}
}

// mostOdds are those of the politest section that is kept, of so many of which the surest has the least.
func mostOdds(least float64, sections int) float64 {
	if sections > inLetter {
		return 0
	}
	return min(0, max(doubtful, least+apart))
}

// odds fills in how polite each section is, and returns the least. What is no prose is not polite at all.
func (m *Model) odds(d *desk, odds []float64) (least float64) {
	from := 0
	for i, s := range d.notes.sections {
		odds[i] = math.Inf(-1)
		if s.prose {
			odds[i] = m.polite(d.found[from:s.keys])
		}
		if from = s.keys; i == 0 || odds[i] < least {
			least = odds[i]
		}
	}
	return least
}

// polite is the logarithm of the odds that a section is courtesy, by its features, each sight counted once.
func (m *Model) polite(found []uint32) float64 {
	sum, square := 0.0, 0.0
	for _, row := range found {
		if row == unknown {
			continue
		}
		value := float64(m.rarity[row])
		sum += value * float64(m.courtesy.Weights[row])
		square += value * value
	}
	return m.courtesy.Bias + sum*m.courtesy.Scale/math.Sqrt(max(square, 1e-12))
}

// aQuestion is how many words a question has at most. Longer prose is a document, of which as much is known as of code.
const aQuestion = 30

// isProse reports whether what is left of a text is a few sentences rather than a document, code or a log.
func (n *notes) isProse() bool { return n.words <= aQuestion && isProse(n.words, n.signs) }

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
