package peering

import (
	"errors"
	"maps"
	"slices"
	"time"

	"octet/routing/peers/peerspb"
	"octet/slo"
)

// mostKnobs bounds the knobs whose changes are remembered.
const mostKnobs = 4096

// knobs are the changes that operators made, at any gateway. A change has a Lamport clock: of two changes of a knob the
// later one holds everywhere, in whatever order they come.
type knobs struct {
	name   string
	clock  uint64
	latest map[string]knobChange
	untold []string // changed here since news
	turn   int      // of latest by name: the next that is told again
}

type knobChange struct {
	clock    uint64
	at       string        // the gateway at which it was made
	override *slo.Override // nil: taken back
}

func newKnobs(name string) *knobs { return &knobs{name: name, latest: map[string]knobChange{}} }

// change notes a change that was made here.
func (k *knobs) change(name string, o *slo.Override) {
	k.clock++
	k.latest[name] = knobChange{clock: k.clock, at: k.name, override: o}
	k.untold = append(k.untold, name)
}

// take notes a change that was made elsewhere, and reports whether it is the latest.
func (k *knobs) take(name string, c knobChange) bool {
	k.clock = max(k.clock, c.clock)
	had, known := k.latest[name]
	if !known && len(k.latest) >= mostKnobs {
		return false
	}
	if known && (c.clock < had.clock || c.clock == had.clock && c.at <= had.at) {
		return false
	}
	k.latest[name] = c
	return true
}

// news returns a message with what was changed here since the last call; nil for nothing.
func (k *knobs) news() *peerspb.Message {
	if len(k.untold) == 0 {
		return nil
	}
	m, now := new(peerspb.Message), time.Now()
	for _, name := range k.untold {
		m.Knobs = append(m.Knobs, k.latest[name].wire(name, now))
	}
	k.untold = nil
	return m
}

// Bounds of the knobs that are told again at a time: how many, and the bytes of who set them and why, after which no
// further one is told.
const (
	knobsAgain = 64
	wordsAgain = 16 << 10
)

// again returns a message with the latest changes of the knobs whose turn it is to be told again, here or elsewhere
// made; nil if there are none. What a gateway has missed it learns by that.
func (k *knobs) again(now time.Time) *peerspb.Message {
	if len(k.latest) == 0 {
		return nil
	}
	m, words, names := new(peerspb.Message), 0, slices.Sorted(maps.Keys(k.latest))
	for len(m.Knobs) < min(len(names), knobsAgain) && words < wordsAgain {
		name := names[k.turn%len(names)]
		k.turn = (k.turn + 1) % len(names)
		told := k.latest[name].wire(name, now)
		m.Knobs, words = append(m.Knobs, told), words+len(told.GetBy())+len(told.GetWhy())
	}
	return m
}

func (c knobChange) wire(name string, now time.Time) *peerspb.Knob {
	out := &peerspb.Knob{Name: name, Clock: c.clock, At: c.at, Cleared: c.override == nil}
	if o := c.override; o != nil {
		out.Value, out.By, out.Why = o.Value, o.By, o.Why
		if !o.Until.IsZero() {
			left := o.Until.Sub(now)
			if left <= 0 {
				out.Cleared = true
				return out
			}
			out.ForMs = uint64(max(left.Milliseconds(), 1))
		}
	}
	return out
}

func fromWire(k *peerspb.Knob, now time.Time) knobChange {
	c := knobChange{clock: k.GetClock(), at: k.GetAt()}
	if k.GetCleared() {
		return c
	}
	c.override = &slo.Override{Value: k.GetValue(), By: k.GetBy(), Why: k.GetWhy()}
	if ms := k.GetForMs(); ms > 0 {
		c.override.Until = now.Add(time.Duration(min(ms, uint64(maxFor.Milliseconds()))) * time.Millisecond)
	}
	return c
}

// maxFor bounds how long an override of another gateway may hold.
const maxFor = 10 * 365 * 24 * time.Hour

// knobChanged is told of each change that an operator makes here.
func (g *Group) knobChanged(name string, o *slo.Override) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.knobs.change(name, o)
}

// adopt takes changes over that were made at other gateways.
func (g *Group) adopt(changes []*peerspb.Knob) {
	now := time.Now()
	for _, k := range changes {
		c := fromWire(k, now)
		adopted, err := g.cfg.Knobs.Adopt(k.GetName(), c.override, func() bool {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.knobs.take(k.GetName(), c)
		})
		switch o := c.override; {
		case err != nil:
			g.cfg.Log.Warn("a knob that was set at another gateway is not taken over", "knob", k.GetName(),
				"gateway", c.at, "error", err)
		case !adopted:
		case o != nil:
			g.cfg.Log.Info("knob set at another gateway", "knob", k.GetName(), "gateway", c.at, "value", o.Value,
				"by", o.By, "why", o.Why, "until", o.Until)
		default:
			g.cfg.Log.Info("knob cleared at another gateway", "knob", k.GetName(), "gateway", c.at)
		}
	}
}

// KnobsDefined puts the latest changes of knobs in force once these are defined anew. A change may have come before its
// knob was known here, and what stands in for a knob ends with it.
func (g *Group) KnobsDefined() {
	g.mu.Lock()
	latest := maps.Clone(g.knobs.latest)
	g.mu.Unlock()
	for name, c := range latest {
		v, overridden, known := g.cfg.Knobs.Own(name)
		if !known || c.override == nil || overridden && v == c.override.Value {
			continue
		}
		_, err := g.cfg.Knobs.Adopt(name, c.override, func() bool {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.knobs.latest[name] == c
		})
		if err != nil && !errors.Is(err, slo.ErrExpired) {
			g.cfg.Log.Warn("a knob that was set is not put in force again", "knob", name, "gateway", c.at, "error", err)
		}
	}
}

// knobsAMessage bounds the knobs of one message.
const knobsAMessage = 256

// tellKnobs tells a gateway that has joined all changes that are known here.
func (g *Group) tellKnobs(to string) {
	now := time.Now()
	g.mu.Lock()
	all := make([]*peerspb.Knob, 0, len(g.knobs.latest))
	for name, c := range g.knobs.latest {
		all = append(all, c.wire(name, now))
	}
	g.mu.Unlock()
	for len(all) > 0 {
		n := min(len(all), knobsAMessage)
		g.one(to, &peerspb.Message{Knobs: all[:n]})
		all = all[n:]
	}
}
