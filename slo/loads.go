package slo

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// loadShare is the part of a specialist's requests that those intents make which are said to load it. What the rest
// asks is too little for its refusal to help.
const loadShare = 0.9

// loads knows whose requests load a specialist: how many each intent has lately sent, in two halves that take turns, as
// those of classes do. note and has take no lock; the rest is called under the owner's.
type loads struct {
	counts atomic.Pointer[[]*halves] // of those that have asked; the slice is never modified
	now    atomic.Uint32
	turned time.Time
	heavy  atomic.Pointer[[]string] // by name; nil before the first requests were weighed
}

// halves count the requests of an intent.
type halves struct {
	intent string
	n      [2]atomic.Uint64
}

// note notes that a request of an intent asked.
func (l *loads) note(intent string) {
	c := find(l.all(), intent)
	if c == nil {
		c = l.meet(intent)
	}
	c.n[l.now.Load()&1].Add(1)
}

// find finds an intent's; nil where it has not asked. There are few intents: they are compared.
func find(all []*halves, intent string) *halves {
	for _, c := range all {
		if c.intent == intent {
			return c
		}
	}
	return nil
}

func (l *loads) all() []*halves {
	if counts := l.counts.Load(); counts != nil {
		return *counts
	}
	return nil
}

// meet returns the counts of an intent that has not asked before.
func (l *loads) meet(intent string) *halves {
	for {
		old := l.counts.Load()
		all := l.all()
		if c := find(all, intent); c != nil {
			return c
		}
		c := &halves{intent: intent}
		more := append(all[:len(all):len(all)], c)
		if l.counts.CompareAndSwap(old, &more) {
			return c
		}
	}
}

// turn forgets what is older than two halves.
func (l *loads) turn(now time.Time) {
	if now.Sub(l.turned) < remember {
		return
	}
	old := now.Sub(l.turned) >= 2*remember
	l.turned = now
	next := (l.now.Load() + 1) & 1
	for _, c := range l.all() {
		if c.n[next].Store(0); old {
			c.n[next^1].Store(0)
		}
	}
	l.now.Store(next)
}

// weigh brings heavy to now: the intents that send most, until they make up loadShare.
func (l *loads) weigh() {
	sent, all := map[string]uint64{}, uint64(0)
	for _, c := range l.all() {
		if n := c.n[0].Load() + c.n[1].Load(); n > 0 {
			sent[c.intent] = n
			all += n
		}
	}
	most := slices.SortedFunc(maps.Keys(sent),
		func(a, b string) int { return cmp.Or(cmp.Compare(sent[b], sent[a]), cmp.Compare(a, b)) })
	heavy, sum := most[:0], uint64(0)
	for _, intent := range most {
		if float64(sum) >= loadShare*float64(all) {
			break
		}
		heavy, sum = append(heavy, intent), sum+sent[intent]
	}
	slices.Sort(heavy)
	l.heavy.Store(&heavy)
}

// list returns the intents that load the specialist, by name. The slice is read-only.
func (l *loads) list() []string {
	if heavy := l.heavy.Load(); heavy != nil {
		return *heavy
	}
	return nil
}

// has returns true if an intent is one of those; before the first request each may be.
func (l *loads) has(intent string) bool {
	heavy := l.list()
	return len(heavy) == 0 || slices.Contains(heavy, intent)
}
