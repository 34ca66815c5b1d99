package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"octet/gateway/api"
)

// holding is one adapter of a specialist, over all replicas.
type holding struct {
	of       *api.SpecialistState
	name     string
	version  string // in force; "" if none is declared
	at       []at
	loaded   int // replicas
	moving   int // replicas that load or unload it
	requests int
	waiting  int
	failures int    // in a row, over all replicas
	failure  string // the last that is told
}

// at is a replica that has an adapter, or is to have it.
type at struct{ replica, state string }

// add counts what one replica says of the adapter.
func (h *holding) add(replica string, v *api.AdapterView) {
	h.at = append(h.at, at{replica, v.State})
	h.requests += v.Requests
	h.waiting += v.Waiting
	h.failures += v.Failures
	h.failure = cmp.Or(v.Error, h.failure)
	if v.InForce {
		h.version = v.Version
	}
	switch v.State {
	case "loaded":
		h.loaded++
	case "loading", "leaving", "unloading":
		h.moving++
	}
}

// holdingsOf are the adapters of a specialist by name.
func holdingsOf(s *api.SpecialistState) []*holding {
	found, all := map[string]*holding{}, []*holding(nil)
	for i := range s.Replicas {
		r := &s.Replicas[i]
		for j := range r.Adapters {
			v := &r.Adapters[j]
			h := found[v.Adapter]
			if h == nil {
				h = &holding{of: s, name: v.Adapter}
				found[v.Adapter], all = h, append(all, h)
			}
			h.add(r.Name, v)
		}
	}
	slices.SortFunc(all, func(a, b *holding) int { return cmp.Compare(a.name, b.name) })
	return all
}

func (m *Model) adapters() *table {
	t := &table{columns: columns("ADAPTER", "SPECIALIST", "#LOADED", "#MOVING", "#USE", "#WAIT", "#FAILED", "VERSION",
		"LOADED AT"), empty: "no replica has an adapter, or is to have one"}
	if m.reading == nil {
		return t
	}
	if !m.reading.Adapters {
		t.empty = "the gateway is asked for its adapters"
		return t
	}
	for i := range m.reading.State.Specialists {
		s := &m.reading.State.Specialists[i]
		for _, h := range holdingsOf(s) {
			t.rows = append(t.rows, row{key: s.Name + "\x00" + h.name, cells: []cell{word(clean(h.name)),
				word(clean(s.Name)), valued(fmt.Sprintf("%d/%d", h.loaded, len(s.Replicas)), float64(h.loaded)),
				count(h.moving), count(h.requests), count(h.waiting), count(h.failures).as(bad, h.failures > 0),
				word(orDash(h.version)), word(orDash(h.where("loaded")))}, detail: h.detail})
		}
	}
	return t
}

// mostNamed is how many replicas are named in a line.
const mostNamed = 8

// where names the replicas where the adapter is in a state.
func (h *holding) where(state string) string {
	var names []string
	for _, p := range h.at {
		if p.state == state {
			names = append(names, p.replica)
		}
	}
	more := ""
	if n := len(names) - mostNamed; n > 0 {
		names, more = names[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, " ") + more
}

func (h *holding) detail() []string {
	work := h.of.AdapterWork
	if work == nil {
		work = new(api.AdapterWork)
	}
	failure := "none"
	if h.failure != "" {
		failure = clean(h.failure)
	}
	return []string{
		fmt.Sprintf("adapter  %s of %s, version %s", clean(h.name), clean(h.of.Name), orDash(h.version)),
		fmt.Sprintf("loaded   at %s", orDash(h.where("loaded"))),
		fmt.Sprintf("moving   loading at %s; unloading at %s", orDash(h.where("loading")),
			orDash(h.where("unloading"))),
		fmt.Sprintf("failed   %d in a row; the last: %s", h.failures, failure),
		fmt.Sprintf("all of %s  %d loads, %d failed; %d evicted for room, %d unloaded otherwise", clean(h.of.Name),
			work.Loads, work.Failures, work.Evicted, work.Unloaded),
	}
}
