package routing

import (
	"math/bits"

	"octet/routing/index"
)

// profile turns checked parts into what Select runs.
func (b *builder) profile() *Profile {
	p := &Profile{name: b.spec.Name, role: b.spec.Role}
	units := make([]*unit, len(b.parts))
	for i, part := range b.parts {
		units[i] = part.unit()
		switch part.stage {
		case StagePrepare:
			p.preparers = append(p.preparers, preparer{unit: units[i], Preparer: part.plugin.(Preparer)})
		case StageFilter:
			p.filters = append(p.filters, filter{units[i], part.plugin.(Filter)})
		case StageScore:
			p.scorers = append(p.scorers, scorer{units[i], part.plugin.(Scorer), part.weight})
		case StagePick:
			p.picker = picker{units[i], part.plugin.(Picker)}
		}
		if l, ok := part.plugin.(Learner); ok {
			p.learners = append(p.learners, learner{units[i], l})
		}
	}
	for i := range p.preparers {
		p.writes.join(&p.preparers[i].unit.writes)
	}
	b.markAlways(p)
	return p
}

// markAlways finds the Preparers that run for a single candidate too: those behind the filters and the picker and, if
// asked for, behind what the caller wants. Going backwards meets every reader before its writer.
func (b *builder) markAlways(p *Profile) {
	needed := p.picker.unit.reads
	for _, f := range p.filters {
		needed.join(&f.unit.reads)
	}
	if b.spec.AlwaysPrepare {
		for _, u := range uses(b.spec.Wanted) {
			needed.add(u.id)
		}
	}
	for i := len(p.preparers) - 1; i >= 0; i-- {
		u := &p.preparers[i]
		if u.always = needed.meets(&u.unit.writes); u.always {
			needed.join(&u.unit.reads)
		}
	}
}

func (p part) unit() *unit {
	u := &unit{name: p.plugin.Name(), stage: p.stage}
	for _, s := range p.reads {
		u.reads.add(s.id)
	}
	for _, s := range p.writes {
		u.writes.add(s.id)
		u.reads.add(s.id)
	}
	return u
}

// PluginStats counts what one plugin of a profile did wrong.
type PluginStats struct {
	Plugin     string
	Stage      Stage
	Panics     uint64
	OutOfRange uint64 // scores outside [0,1], NaN included, that were clamped
}

// Stats returns the counts of every plugin, in profile order.
func (p *Profile) Stats() []PluginStats {
	var all []PluginStats
	for _, u := range p.units() {
		all = append(all, PluginStats{u.name, u.stage, u.panics.Load(), u.clamped.Load()})
	}
	return all
}

func (p *Profile) units() []*unit {
	var us []*unit
	for i := range p.preparers {
		us = append(us, p.preparers[i].unit)
	}
	for i := range p.filters {
		us = append(us, p.filters[i].unit)
	}
	for i := range p.scorers {
		us = append(us, p.scorers[i].unit)
	}
	return append(us, p.picker.unit)
}

// appendHosts sets dst to the hosts of b, ascending.
func appendHosts(dst []index.HostID, b *index.HostBitmap) []index.HostID {
	dst = dst[:0]
	for i, w := range b {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, index.HostID(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return dst
}
