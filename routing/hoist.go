package routing

import "context"

// hoist is the part of one profile's Prepare that its workflow does once, before any leg: what several legs write, what
// deciders read, and whatever these need. What follows from a leg's pick is not: each leg prepares it after that.
type hoist struct {
	profile *Profile
	indices []int // into profile.preparers, ascending
}

// hoistsOf returns what is prepared beforehand, and the slots that are settled by it.
func hoistsOf(legs []Leg) (hoists []hoist, settled slotSet) {
	profiles := profilesOf(legs)
	wanted := sharedSlots(profiles)
	for _, s := range legs {
		if s.Decider != nil {
			for _, u := range uses(s.Decider.Reads()) {
				wanted.add(u.id)
			}
		}
	}
	for i := range legs {
		late := lateSlots(&legs[i], profiles)
		wanted.drop(&late)
	}
	for _, p := range profiles {
		h := hoist{profile: p, indices: p.behind(&wanted, &settled)}
		if len(h.indices) > 0 {
			hoists = append(hoists, h)
		}
	}
	return hoists, settled
}

func profilesOf(legs []Leg) (all []*Profile) {
	for _, s := range legs {
		if p, ok := s.Selector.(*Profile); ok {
			all = append(all, p)
		}
	}
	return all
}

// sharedSlots returns the slots that two profiles or more prepare.
func sharedSlots(profiles []*Profile) (shared slotSet) {
	var once slotSet
	for _, p := range profiles {
		var own slotSet
		for i := range p.preparers {
			own.join(&p.preparers[i].unit.writes)
		}
		for i := range own {
			shared[i] |= once[i] & own[i]
		}
		once.join(&own)
	}
	return shared
}

// lateSlots returns the slot of a leg's pick and those that are prepared from it, however indirectly.
func lateSlots(l *Leg, profiles []*Profile) (late slotSet) {
	if l.Pick.Slot == nil {
		return late
	}
	late.add(l.Pick.Slot.use().id)
	for before := (slotSet{}); before != late; {
		before = late
		for _, p := range profiles {
			for i := range p.preparers {
				if u := p.preparers[i].unit; u.reads.meets(&late) {
					late.join(&u.writes)
				}
			}
		}
	}
	return late
}

// behind returns the preparers that write wanted slots not yet settled, and those that these read from, and settles
// their slots. Going backwards meets every reader before its writer.
func (p *Profile) behind(wanted, settled *slotSet) (indices []int) {
	need := *wanted
	need.drop(settled)
	for i := len(p.preparers) - 1; i >= 0; i-- {
		u := p.preparers[i].unit
		if !need.meets(&u.writes) {
			continue
		}
		reads := u.reads
		reads.drop(settled)
		need.join(&reads)
		indices = append([]int{i}, indices...)
	}
	for _, i := range indices {
		settled.join(&p.preparers[i].unit.writes)
	}
	return indices
}

// runOnce prepares, under the rules of Select.
func (h *hoist) runOnce(ctx context.Context, c *Context) (err error) {
	r := c.begin(h.profile)
	defer func() {
		c.hoisted = append(c.hoisted, r.laps...)
		c.records = c.records[:len(c.records)-1]
	}()
	defer c.end(&err)
	for _, i := range h.indices {
		if err := h.profile.prepareOne(ctx, c, r, i); err != nil {
			return err
		}
	}
	return nil
}
