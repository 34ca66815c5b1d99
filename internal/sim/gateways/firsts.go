package gateways

import (
	"time"

	"octet/routing/peers/peerspb"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// tellFirsts adds to a message how long first tokens took since it was told last, as app/peering does.
func (g *gateway) tellFirsts(m *peerspb.Message, now scheduler.Time) *peerspb.Message {
	if now < g.firsts+firstsEvery {
		return m
	}
	g.firsts = now
	for i := range g.doors {
		d := &g.doors[i]
		if f, news := d.model.LastFirst(); news {
			if m == nil {
				m = new(peerspb.Message)
			}
			m.Firsts = append(m.Firsts, &peerspb.First{Replica: d.key, Uncached: uint64(f.Uncached),
				Others: uint64(f.Others), TookUs: uint64(f.Took.Microseconds()),
				ExpectedUs: uint64(f.Expected.Microseconds()), Trial: f.Trial})
		}
	}
	return m
}

// hearFirst counts what another gateway has measured of an engine.
func (r *run) hearFirst(g *gateway, m *peerspb.First) {
	f := gate.First{Uncached: int(m.GetUncached()), Others: int(m.GetOthers()),
		Took:     time.Duration(m.GetTookUs()) * time.Microsecond,
		Expected: time.Duration(m.GetExpectedUs()) * time.Microsecond, Trial: m.GetTrial()}
	for host := range g.doors {
		if d := &g.doors[host]; d.key == m.GetReplica() {
			d.model.FirstElsewhere(&f, r.now)
		}
	}
}
