package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// Stage is how far a request is at its engine.
type Stage string

// The stages of a request.
const (
	StageWaiting    Stage = "waiting"    // in the queue
	StagePrefilling Stage = "prefilling" // its first token is awaited
	StageAnswering  Stage = "answering"
	StageYielding   Stage = "yielding" // it was told to give way
)

// Held is one request that a Gate has. It shares no memory with the request.
type Held struct {
	ID        string
	Tenant    string
	Adapter   string // "" is the model itself
	Priority  int    // as age has lifted it
	Stage     Stage
	Arrived   time.Time     // at the gateway; of a resumed request its first arrival
	Waited    time.Duration // in the queue, until now or until it started
	Prompt    int           // tokens of all prompts
	Generated int           // tokens of all sequences, as of the last block that was reported
	Blocks    int           // that it holds
}

// Eldest returns the requests that arrived first, at most so many, the eldest first. It takes time linear in all that
// run and wait.
func (g *Gate) Eldest(most int) []Held {
	now := g.lock(time.Time{})
	defer g.unlock()
	return g.model.Eldest(most, now)
}

// Levels returns how many wait at each priority, as age has lifted it, the highest first; nil if none wait.
func (g *Gate) Levels() []queue.Level {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	return g.model.waiting.backlog.Levels()
}

// elder is a request on its way into the list of the eldest. Of a waiting one there is no lease.
type elder struct {
	rank   queue.Rank
	lease  *Lease
	waiter *Waiter
}

// Eldest is Gate.Eldest.
func (m *Model) Eldest(most int, now scheduler.Time) []Held {
	var eldest []elder
	note := func(e elder) { eldest = insert(eldest, e, most) }
	for _, l := range m.engine.roster.leases {
		note(elder{rank: l.rank, lease: l})
	}
	for w := range m.waiting.backlog.All() {
		note(elder{rank: w.Rank, waiter: w})
	}
	list := make([]Held, len(eldest))
	for i, e := range eldest {
		if e.waiter != nil {
			list[i] = e.waiter.held(now)
		} else {
			list[i] = e.lease.held()
		}
		list[i].Arrived = m.engine.origin.Add(e.rank.Arrival)
	}
	return list
}

// insert puts e in its place in a list of at most so many, by arrival; of a full one the last leaves.
func insert(list []elder, e elder, most int) []elder {
	at, _ := slices.BinarySearchFunc(list, e, func(a, b elder) int {
		return cmp.Or(cmp.Compare(a.rank.Arrival, b.rank.Arrival), cmp.Compare(a.rank.ID, b.rank.ID))
	})
	if at >= most {
		return list
	}
	if len(list) == most {
		list = list[:most-1]
	}
	return slices.Insert(list, at, e)
}

func (w *Waiter) held(now scheduler.Time) Held {
	shape := w.req.shape()
	return Held{ID: strings.Clone(w.req.ID), Tenant: strings.Clone(w.Tenant), Adapter: strings.Clone(w.req.Adapter),
		Priority: w.Level(), Stage: StageWaiting, Waited: now - w.queued, Prompt: shape.tokens(),
		Generated: w.req.Resume}
}

func (l *Lease) held() Held {
	h := Held{ID: strings.Clone(l.id), Tenant: strings.Clone(l.tenant), Adapter: strings.Clone(l.adapter),
		Priority: l.rank.Priority, Stage: l.stage(), Waited: l.waited, Prompt: l.shape.tokens(), Generated: l.generated}
	if l.table != nil {
		h.Blocks = l.table.Len()
	}
	return h
}

func (l *Lease) stage() Stage {
	switch {
	case l.yielding:
		return StageYielding
	case l.first == 0 && !l.whole:
		return StagePrefilling
	}
	return StageAnswering
}
