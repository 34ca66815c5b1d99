package gate

import (
	"fmt"
	"math"

	"octet/scheduler"
)

// roster is the running requests.
type roster struct {
	leases       []*Lease // in no order; a lease knows its index
	yielding     []*Lease // those that were told to give way
	sequences    int      // of all of them
	prefilling   int      // tokens of prompts whose first token is awaited
	awaited      awaited  // of these, those that are not overtaken
	withDeadline int      // leases
	lowest       int      // no victim has a priority below it
	occupancy    occupancy
	grouping     grouping
}

// add counts l among the running.
func (s *roster) add(l *Lease) {
	l.index = len(s.leases)
	s.leases = append(s.leases, l)
	if l.preemptible {
		s.lowest = min(s.lowest, l.rank.Priority)
	}
	if l.deadline != maxTime {
		s.withDeadline++
	}
	if !l.whole {
		l.prefilling = true
		s.prefilling += l.uncached
		s.awaited.add(l)
	}
	s.sequences += l.shape.sequences()
	s.grouping.begin(l.adapter)
}

// remove takes l out.
func (s *roster) remove(l *Lease) {
	l.released, l.watcher, l.id = true, nil, ""
	last := len(s.leases) - 1
	s.leases[l.index] = s.leases[last]
	s.leases[l.index].index = l.index
	s.leases[last] = nil
	s.leases = s.leases[:last]
	if l.deadline != maxTime {
		s.withDeadline--
	}
	s.sequences -= l.shape.sequences()
	s.grouping.end(l.adapter)
	s.awaited.remove(l)
	s.prefilled(l)
	if l.yielding {
		s.yielding = without(s.yielding, l)
	}
}

// prefilled says that the prefill of l delays no other request any more.
func (s *roster) prefilled(l *Lease) {
	s.awaited.came(l)
	if l.prefilling {
		s.prefilling -= l.uncached
		l.prefilling = false
	}
}

// outranked reports whether there is a victim below priority. Linear in the running if there was one lately.
func (s *roster) outranked(priority int) bool {
	if s.lowest >= priority {
		return false
	}
	s.lowest = math.MaxInt
	for _, l := range s.leases {
		if l.victim() {
			s.lowest = min(s.lowest, l.rank.Priority)
		}
	}
	return s.lowest < priority
}

// check proves that the counts are those of the leases.
func (s *roster) check() error {
	yielding, prefilling, sequences, adapters := 0, 0, 0, 0
	for i, l := range s.leases {
		sequences += l.shape.sequences()
		if l.yielding {
			yielding++
		}
		if l.adapter != "" {
			adapters++
		}
		if l.prefilling {
			prefilling += l.uncached
		}
		if l.released || l.index != i || l.victim() && l.rank.Priority < s.lowest {
			return fmt.Errorf("%w: ticket %s at %d of %d: priority %d, lowest %d, yielding %t", scheduler.ErrCorrupt,
				l.id, l.index, i, l.rank.Priority, s.lowest, l.yielding)
		}
	}
	if err := s.awaited.check(); err != nil {
		return err
	}
	for _, n := range s.grouping.running {
		adapters -= n
	}
	if adapters != 0 {
		return fmt.Errorf("%w: %d more requests have an adapter than are counted", scheduler.ErrCorrupt, adapters)
	}
	if yielding != len(s.yielding) || prefilling != s.prefilling || sequences != s.sequences {
		return fmt.Errorf("%w: %d yield, counted %d; %d tokens to prefill, counted %d; %d sequences, counted %d",
			scheduler.ErrCorrupt, yielding, len(s.yielding), prefilling, s.prefilling, sequences, s.sequences)
	}
	return nil
}

// occupancy integrates the number of sequences in the engine over time: the mean between two moments is the company
// that a pace was measured in.
type occupancy struct {
	sum  float64 // sequences × ns, up to at
	at   scheduler.Time
	size int // sequences since at
}

func (c *occupancy) set(size int, now scheduler.Time) {
	c.sum += float64(c.size) * float64(now-c.at)
	c.at, c.size = now, size
}

func (c *occupancy) until(now scheduler.Time) float64 {
	return c.sum + float64(c.size)*float64(now-c.at)
}
