package lessons

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Lesson is one labelled text.
type Lesson struct {
	Text  string
	Label string
	Group string // of texts that are alike
	Held  bool   // not to be learnt from: the group is of those that the result is evaluated on
}

// Counts say what became of the records, one of them a request but for Records, Skipped and Held.
type Counts struct {
	Records       int `json:"records"`
	Skipped       int `json:"skipped"`       // lines that are no records
	WithoutText   int `json:"without_text"`  // verdicts or comparisons of a request whose text was not recorded
	Undecided     int `json:"undecided"`     // no verdict, and no answer that was the better one
	Wrong         int `json:"wrong"`         // the answer failed, and no other is known to be right
	Contradictory int `json:"contradictory"` // evidence for two labels
	Unmapped      int `json:"unmapped"`      // no label of the model leads to the specialist
	Ambiguous     int `json:"ambiguous"`     // several labels do
	Repeated      int `json:"repeated"`      // a text that is there already, with the same label
	Lessons       int `json:"lessons"`
	Held          int `json:"held"` // lessons that are held out
}

// Terms are how records become lessons.
type Terms struct {
	Labels func(specialist string) []string // that lead to a specialist
	Hold   float64                          // share of the groups that are held out
	Seed   uint64                           // of the choice of these
}

// Lessons returns the labelled texts, sorted. The error wraps ErrNoText or ErrNoLessons; the counts are right then too.
func (r *Records) Lessons(t Terms) ([]Lesson, Counts, error) {
	c := Counts{Records: r.lines, Skipped: r.skipped}
	labels := map[string][]string{} // by text: the label of each request that has one
	openings := map[string]string{} // by text
	for _, receipt := range slices.Sorted(maps.Keys(r.of)) {
		e := r.of[receipt]
		label, ok := c.label(e, t.Labels)
		if !ok {
			continue
		}
		text := strings.TrimSpace(e.shown)
		labels[text] = append(labels[text], label)
		if openings[text] == "" || e.opening != "" && e.opening < openings[text] {
			openings[text] = e.opening
		}
	}
	var all []Lesson
	for _, text := range slices.Sorted(maps.Keys(labels)) {
		said := labels[text]
		if len(slices.Compact(slices.Sorted(slices.Values(said)))) > 1 {
			c.Contradictory += len(said)
			continue
		}
		c.Repeated += len(said) - 1
		all = append(all, Lesson{Text: text, Label: said[0]})
	}
	if len(all) == 0 {
		return nil, c, c.none()
	}
	c.Lessons = len(all)
	group(all, openings)
	c.Held = hold(all, t.Hold, t.Seed)
	return all, c, nil
}

// label returns the label of a request's text, or counts why it has none.
func (c *Counts) label(e *evidence, labelsOf func(string) []string) (label string, ok bool) {
	if strings.TrimSpace(e.shown) == "" {
		c.WithoutText++
		return "", false
	}
	specialist, why := e.right()
	if why != undecided && why != wrong && why != contradictory {
		all := labelsOf(specialist)
		if len(all) == 1 {
			return all[0], true
		}
		if why = unmapped; len(all) > 1 {
			why = ambiguous
		}
	}
	switch why { //nolint:exhaustive // a sound one is a lesson, and counted there
	case undecided:
		c.Undecided++
	case wrong:
		c.Wrong++
	case contradictory:
		c.Contradictory++
	case unmapped:
		c.Unmapped++
	case ambiguous:
		c.Ambiguous++
	}
	return "", false
}

// flaw is why a request labels no text.
type flaw int

const (
	sound flaw = iota
	undecided
	wrong
	contradictory
	unmapped
	ambiguous
)

// right returns the specialist that a text is for, as far as the evidence says.
func (e *evidence) right() (specialist string, why flaw) {
	switch {
	case e.torn:
		return "", contradictory
	case e.judged == "" && e.better == "":
		return "", undecided
	case e.judged == "":
		return e.better, sound
	case !e.failed && (e.better == "" || e.better == e.judged):
		return e.judged, sound
	case !e.failed || e.better == e.judged:
		return "", contradictory // it passed, and the other was better; or it was better, and failed
	case e.better != "" && e.worse == e.judged:
		return e.better, sound
	}
	return "", wrong
}

// none says why there is no lesson.
func (c *Counts) none() error {
	if c.WithoutText > 0 && c.Undecided+c.Wrong+c.Contradictory+c.Unmapped+c.Ambiguous == 0 {
		return fmt.Errorf("%w: %d requests have verdicts or comparisons without it; shadow.prompts: text records it",
			ErrNoText, c.WithoutText)
	}
	return fmt.Errorf("%w: of %d records, %d requests are without their text, %d undecided, %d wrong without a right "+
		"answer, %d contradictory, %d of a specialist without a label, %d of one with several", ErrNoLessons, c.Records,
		c.WithoutText, c.Undecided, c.Wrong, c.Contradictory, c.Unmapped, c.Ambiguous)
}
