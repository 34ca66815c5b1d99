package adapters

import (
	"cmp"
	"slices"
	"time"
)

// View is what there is to be said of an adapter on one replica.
type View struct {
	Adapter   string `json:"adapter"`
	Version   string `json:"version,omitempty"`
	Served    string `json:"served"` // its name in the engine
	State     string `json:"state"`  // absent | loading | loaded | leaving | unloading | doubtful
	InForce   bool   `json:"in_force"`
	Confirmed bool   `json:"confirmed"`          // the engine lists it
	Tier      string `json:"tier,omitempty"`     // gpu | cpu; absent if the engine does not say
	Requests  int    `json:"requests"`           // that use it
	Waiting   int    `json:"waiting"`            // requests that wait for it here
	ForMs     int64  `json:"for_ms"`             // since its state or use last changed
	Failures  int    `json:"failures,omitempty"` // loads or unloads that failed in a row
	Error     string `json:"error,omitempty"`    // of the last load or unload
	RetryMs   int64  `json:"retry_ms,omitempty"`
}

// Views returns the adapters of a host, by name: all that it has, or is to have, or could not load.
func (p *Placement) Views(id uint16, now time.Time) []View {
	h := p.host(id)
	if h == nil {
		return nil
	}
	all := make([]View, 0, len(h.copies))
	for _, c := range h.copies {
		v := View{Adapter: c.e.Name, Version: c.e.Version, Served: c.e.served, State: stateNames[c.state],
			InForce: p.force[c.e.Name] == c.e, Confirmed: c.confirmed, Tier: c.tier(), Requests: c.users,
			Waiting: len(c.waiting), ForMs: now.Sub(c.since).Milliseconds(), Failures: c.failures + c.stays,
			Error: c.failure}
		if c.since.IsZero() {
			v.ForMs = 0
		}
		if c.retry.After(now) {
			v.RetryMs = c.retry.Sub(now).Milliseconds()
		}
		if barred := c.e.barredFor(now); barred != nil && c.state == absent {
			v.RetryMs = max(v.RetryMs, barred.RetryAfter.Milliseconds())
			v.Error = cmp.Or(v.Error, barred.Detail)
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.Served, b.Served))
	})
	return all
}

// tier returns where an engine has an adapter, as far as it says: in the accelerator's memory while it runs requests
// with it; elsewhere while it runs as many others as it can at once.
func (c *placed) tier() string {
	switch {
	case c.state != loaded:
		return ""
	case c.running:
		return "gpu"
	case c.h.full:
		return "cpu"
	}
	return ""
}

// Number returns the number of an adapter in the engine of a host whose requests name adapters so. False if the engine
// has not listed it.
func (k *Keeper) Number(host uint16, served string) (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, e := k.p.host(host), k.p.served[served]
	if h == nil || e == nil {
		return 0, false
	}
	c := h.at(e)
	if c == nil || !c.confirmed {
		return 0, false
	}
	return c.number, true
}

// Views is Placement.Views, now.
func (k *Keeper) Views(host uint16) []View {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.p.Views(host, time.Now())
}
