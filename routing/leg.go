package routing

import (
	"errors"
	"fmt"

	"octet/routing/index"
)

// ErrWorkflow is a list of Legs that make no Workflow.
var ErrWorkflow = errors.New("routing: impossible workflow")

// Leg is one selection of a workflow, and what becomes of it: a step of the plan.
type Leg struct {
	Name      string // of the step; unique within the workflow
	Selector  Selector
	OnFailure FailurePolicy // of the step; under Skip the leg may also find no candidate
	Tries     int           // of the step
	Pick      Pick          // where it leaves its best candidate for the legs after it; zero: nowhere
	// Decider says whether the step is worth taking; nil: it always is. The last leg
	// has no Decider: a request must be answered.
	Decider Decider
}

// Pick is a slot that a leg fills with its best candidate.
type Pick struct {
	Slot AnySlot // that Put writes; may be nil
	Put  func(c *Context, best index.HostID)
}

// Decider decides for one request whether a leg's step is worth taking.
type Decider interface {
	// Reads declares the slots that it reads: they are prepared before it is asked.
	Reads() []AnySlot
	// Before is asked before anything is selected. A reason leaves the leg out.
	Before(v View) (reason string)
	// After is asked when all legs have selected. last is the best candidate for the last step. A reason leaves the
	// step out.
	After(v View, last index.HostID) (reason string)
}

func checkLegs(legs []Leg) error {
	if len(legs) == 0 {
		return fmt.Errorf("%w: no leg", ErrWorkflow)
	}
	last, names, picks := legs[len(legs)-1], map[string]bool{}, map[uint16]bool{}
	if last.Decider != nil || last.OnFailure == Skip {
		return fmt.Errorf("%w: the last leg, %s, may be left out", ErrWorkflow, last.Name)
	}
	for _, s := range legs {
		switch {
		case s.Selector == nil:
			return fmt.Errorf("%w: %s has no selector", ErrWorkflow, s.Name)
		case names[s.Name]:
			return fmt.Errorf("%w: two legs are called %q", ErrWorkflow, s.Name)
		case s.Pick.Slot == nil:
		case s.Pick.Put == nil:
			return fmt.Errorf("%w: nothing puts the pick of %s into slot %q", ErrWorkflow, s.Name, s.Pick.Slot.Name())
		case picks[s.Pick.Slot.use().id]:
			return fmt.Errorf("%w: two legs leave their pick in slot %q", ErrWorkflow, s.Pick.Slot.Name())
		default:
			picks[s.Pick.Slot.use().id] = true
		}
		names[s.Name] = true
	}
	return nil
}

// ties are the slots through which a leg can meet another.
type ties struct {
	known         bool // false: its Selector is not a Profile, and may touch anything
	reads, writes slotSet
}

// tiesOf returns what a leg reads and writes of the slots that are not prepared beforehand.
func tiesOf(s Leg, hoisted *slotSet) (t ties) {
	p, known := s.Selector.(*Profile)
	t.known = known
	if !known {
		return t
	}
	for _, u := range p.units() {
		t.reads.join(&u.reads)
	}
	for i := range p.preparers {
		t.writes.join(&p.preparers[i].unit.writes)
	}
	t.reads.drop(hoisted)
	t.writes.drop(hoisted)
	if s.Pick.Slot != nil {
		t.writes.add(s.Pick.Slot.use().id)
	}
	return t
}

// meets returns true if one of two legs writes what the other reads or writes: then their order matters.
func (t *ties) meets(o *ties) bool {
	if !t.known || !o.known {
		return true
	}
	return t.writes.meets(&o.reads) || t.writes.meets(&o.writes) || t.reads.meets(&o.writes)
}

// wavesOf groups neighbouring legs that no slot ties to each other; each number is where a wave ends.
func wavesOf(legs []Leg, hoisted *slotSet) (ends []int) {
	first := 0
	all := make([]ties, len(legs))
	for i, s := range legs {
		all[i] = tiesOf(s, hoisted)
		for j := first; j < i; j++ {
			if all[j].meets(&all[i]) {
				ends, first = append(ends, i), i
				break
			}
		}
	}
	return append(ends, len(legs))
}

// drop removes o from s.
func (s *slotSet) drop(o *slotSet) {
	for i := range s {
		s[i] &^= o[i]
	}
}
