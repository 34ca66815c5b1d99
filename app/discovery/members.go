package discovery

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"octet/config"
)

// Found is a replica that a source has found, or that is registered.
type Found struct {
	Specialist string
	Replica    config.Replica
}

// Members are the replicas in force that were found. One goroutine at a time uses them.
type Members struct {
	in    map[string]member // by name
	ended map[string]bool   // names that are to go as soon as they are idle, not after fleet.discovery.keep
}

// member is one replica in force.
type member struct {
	Found
	left time.Time // when it was found no more; zero while it is found
}

// Fleet is what Merge has to know of the replicas in force.
type Fleet interface {
	// Free returns how many slots a new replica could have at once.
	Free() int
	// Stays returns true if the replica of a specialist is in force, and needs no other slot.
	Stays(sp *config.Specialist, rep *config.Replica) bool
	// Busy returns true if the replica has requests in flight.
	Busy(replica string) bool
}

// Plan is a configuration with the replicas that were found.
type Plan struct {
	Config  *config.Config
	Left    map[string]bool                 // replicas of Config that are found no more, by name
	Refused map[string]map[string][]Refusal // by specialist and source: what is left out for good
	Pending int                             // replicas that wait for a slot
	Coming  map[string]bool                 // specialists of whose listed replicas some do, by name
	Again   time.Duration                   // after which another plan may be due by time alone; 0 = none

	members map[string]member
}

// NewMembers returns no members.
func NewMembers() *Members { return &Members{in: map[string]member{}, ended: map[string]bool{}} }

// In returns the replicas in force that were found.
func (m *Members) In() []Found {
	all := make([]Found, 0, len(m.in))
	for _, name := range slices.Sorted(maps.Keys(m.in)) {
		all = append(all, m.in[name].Found)
	}
	return all
}

// End has a replica go as soon as it is found no more and idle.
func (m *Members) End(name string) {
	if _, in := m.in[name]; in {
		m.ended[name] = true
	}
}

// Commit makes the replicas of p those in force.
func (m *Members) Commit(p *Plan) {
	m.in = p.members
	for name := range m.ended {
		if one, in := m.in[name]; !in || one.left.IsZero() {
			delete(m.ended, name)
		}
	}
}

// Merge returns c, which lists replicas alone, with those that were found, as far as there are slots for new ones. Of
// two with one name or URL the one in force wins, and the first of found else. It changes nothing.
func (m *Members) Merge(c *config.Config, found []Found, fleet Fleet, now time.Time) *Plan {
	b := builder{members: m, c: c, fleet: fleet, now: now, names: map[string]bool{}, addresses: addresses{},
		plan: &Plan{Left: map[string]bool{}, Coming: map[string]bool{}, Refused: map[string]map[string][]Refusal{},
			members: map[string]member{}}}
	b.c = b.list()
	chosen := b.choose(b.distinct(found))
	chosen = b.fit(chosen)
	b.keep(chosen)
	return b.plan
}

// Same returns true if two configurations with the same specialists have the same replicas.
func Same(a, b *config.Config) bool {
	return slices.EqualFunc(a.Specialists, b.Specialists, func(a, b config.Specialist) bool {
		return a.Name == b.Name && reflect.DeepEqual(a.Replicas, b.Replicas)
	})
}

// Listed returns c without the replicas that were found.
func Listed(c *config.Config) *config.Config {
	wasFound := func(rep config.Replica) bool { return rep.Source != "" }
	return without(c, wasFound)
}

// without returns c without some replicas; c itself if it has none of them.
func without(c *config.Config, leave func(config.Replica) bool) *config.Config {
	if !slices.ContainsFunc(c.Specialists, func(sp config.Specialist) bool {
		return slices.ContainsFunc(sp.Replicas, leave)
	}) {
		return c
	}
	out := *c
	out.Specialists = slices.Clone(c.Specialists)
	for i := range out.Specialists {
		sp := &out.Specialists[i]
		sp.Replicas = slices.DeleteFunc(slices.Clone(sp.Replicas), leave)
	}
	return &out
}
