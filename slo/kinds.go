package slo

import (
	"slices"
	"time"
)

// CompileKind is the kind of verdicts whose rate answers carry in a header of its own: does the code compile?
const CompileKind = "compile"

// OtherKind is what verdicts of a kind that has no name of its own are published under.
const OtherKind = "other"

// kinds are the verdicts of a window apart by kind, for what is published. An answer is one sample of each kind that
// judged it. The breaker does not go by them: for it an answer is one sample, whatever judged it.
type kinds struct {
	cfg CorrectnessConfig
	by  map[string]*votes // by a name of cfg.Kinds, or OtherKind; a kind without a verdict has none
}

func newKinds(c CorrectnessConfig) kinds { return kinds{cfg: c, by: map[string]*votes{}} }

// name returns what a kind of verdict is published as.
func (k *kinds) name(kind string) string {
	if slices.Contains(k.cfg.Kinds, kind) {
		return kind
	}
	return OtherKind
}

// of returns a kind's verdicts. Those of a kind that has none yet begin at since.
func (k *kinds) of(kind string, since time.Time) *votes {
	kind = k.name(kind)
	v := k.by[kind]
	if v == nil {
		made := newVotes(k.cfg, since)
		v = &made
		k.by[kind] = v
	}
	return v
}

// rates returns what is published of each kind that has a verdict in the window; nil if none has.
func (k *kinds) rates(now time.Time) map[string]KindRate {
	var all map[string]KindRate
	for name, v := range k.by {
		c := v.fair(now)
		if c.all == 0 {
			continue
		}
		r := KindRate{Rate: known(c, k.cfg.MinSamples), Samples: c.all}
		if low, high := c.wilson(); r.Rate != nil {
			r.Low, r.High = &low, &high
		}
		if all == nil {
			all = make(map[string]KindRate, len(k.by))
		}
		all[name] = r
	}
	return all
}

// saved returns the verdicts of each kind; nil if there are none.
func (k *kinds) saved(now time.Time) map[string][]Slot {
	var all map[string][]Slot
	for name, v := range k.by {
		if slots := v.saved(now); len(slots) > 0 {
			if all == nil {
				all = make(map[string][]Slot, len(k.by))
			}
			all[name] = slots
		}
	}
	return all
}

// restore takes what was saved. A kind that has lost its name since goes into the others'.
func (k *kinds) restore(saved map[string][]Slot, now time.Time) {
	clear(k.by)
	for name, slots := range saved {
		k.of(name, beginOf(slots, k.cfg.Window, now)).merge(slots, now)
	}
}

// CountKind takes a verdict into the window of its kind: the first of this kind on an answer.
func (l *Breaker) CountKind(v Verdict, now time.Time) {
	l.ofKind(v, now, func(w *votes) { w.add(now, v) })
}

// OverturnKind has an answer that passed by one voter's verdict of a kind fail by v's of the same kind.
func (l *Breaker) OverturnKind(v Verdict, passedBy string, now time.Time) {
	l.ofKind(v, now, func(w *votes) { w.overturn(now, v, passedBy) })
}

func (l *Breaker) ofKind(v Verdict, now time.Time, change func(*votes)) {
	l = l.current()
	defer l.mu.Unlock()
	if !l.foreign(v) {
		change(l.kinds.of(v.Kind, now))
	}
}

// rates returns what is published of each kind of verdict.
func (l *Breaker) rates(now time.Time) map[string]KindRate {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kinds.rates(now)
}

// OutcomeOfKind counts the first verdict of its kind on an answer, for the rate of the kind.
func (b *Board) OutcomeOfKind(v Verdict) { b.give(Given{Verdict: v, OfKind: true}) }

// OverturnOfKind has an answer that passed by one voter's verdict of a kind fail by another's of the same kind.
func (b *Board) OverturnOfKind(v Verdict, passedBy string) {
	b.give(Given{Verdict: v, OfKind: true, Overturn: true, PassedBy: passedBy})
}

// KindOf returns what a kind of verdict is published as.
func (b *Board) KindOf(kind string) string { return b.breaker.kinds.name(kind) }
