package gate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"octet/scheduler"
)

// line is a Model before an engine of some places, and the order in which requests start.
type line struct {
	model   *Model
	at      scheduler.Time
	running []*Lease
	waiters map[string]*Waiter
	started []string
}

func newLine(places int, b AdapterBounds) *line {
	m, err := NewModel(Config{MaxRunning: places, MaxWaiting: 1000, MaxWait: time.Hour, Adapters: b}, time.Unix(0, 0))
	if err != nil {
		panic(err)
	}
	return &line{model: m, waiters: map[string]*Waiter{}}
}

// ask has a request come, and wait if it must.
func (l *line) ask(r Request) {
	l.at += time.Millisecond
	r.MaxNew = 10
	lease := new(Lease)
	switch state, _ := l.model.Ask(&r, lease, l.at); state {
	case scheduler.Admitted:
		l.running, l.started = append(l.running, lease), append(l.started, r.ID)
	case scheduler.Waiting:
		w := new(Waiter)
		l.model.Queue(w, &r, lease, l.at)
		l.waiters[r.ID] = w
	case scheduler.Refused:
	}
	l.effects()
}

// end has the running request at i end, and those start that may.
func (l *line) end(i int) {
	l.at += time.Millisecond
	lease := l.running[i]
	l.running = slices.Delete(l.running, i, i+1)
	l.model.Release(lease, l.at)
	l.effects()
}

func (l *line) effects() {
	settled, _ := l.model.Effects()
	for _, w := range settled {
		if w.Refusal() == nil {
			l.running, l.started = append(l.running, w.lease), append(l.started, w.req.ID)
		}
	}
}

// drain ends requests, the first that started first, until none is left.
func (l *line) drain() {
	for len(l.running) > 0 {
		l.end(0)
	}
}

// MEGA-26, MEGA-68: before an engine that batches itself the waiting are grouped by adapter, within a bound: each lets
// so many go ahead, and no more. Requests without an adapter, with a deadline, of another tenant or priority keep
// their places; where the engine has room for another adapter at once nothing changes.
func TestWaitingRequestsAreGroupedByAdapter(t *testing.T) {
	at := func(id, adapter string) Request { return Request{ID: id, Adapter: adapter} }
	later := time.Unix(3600, 0)
	for name, c := range map[string]struct {
		bounds AdapterBounds
		asked  []Request
		want   []string
	}{
		"no bound, no grouping": {AdapterBounds{}, []Request{at("a1", "a"), at("b1", "b"), at("a2", "a")},
			[]string{"a1", "b1", "a2"}},
		"grouped": {AdapterBounds{Overtakes: 4},
			[]Request{at("a1", "a"), at("b1", "b"), at("a2", "a"), at("b2", "b"), at("a3", "a")},
			[]string{"a1", "a2", "a3", "b1", "b2"}},
		"as often as the bound says": {AdapterBounds{Overtakes: 1},
			[]Request{at("a1", "a"), at("b1", "b"), at("a2", "a"), at("a3", "a"), at("b2", "b")},
			[]string{"a1", "a2", "b1", "b2", "a3"}},
		"one without an adapter changes none": {AdapterBounds{Overtakes: 4},
			[]Request{at("a1", "a"), at("plain", ""), at("a2", "a")}, []string{"a1", "plain", "a2"}},
		"a deadline is not overtaken": {AdapterBounds{Overtakes: 4},
			[]Request{at("a1", "a"), {ID: "b1", Adapter: "b", Deadline: later}, at("a2", "a")},
			[]string{"a1", "b1", "a2"}},
		"nor one behind the head": {AdapterBounds{Overtakes: 4},
			[]Request{at("a1", "a"), at("b1", "b"), {ID: "c1", Adapter: "c", TTFTDeadline: later}, at("a2", "a")},
			[]string{"a1", "b1", "c1", "a2"}},
		"a less urgent one goes ahead of none": {AdapterBounds{Overtakes: 4},
			[]Request{at("a1", "a"), at("b1", "b"), {ID: "a2", Adapter: "a", Priority: -1}},
			[]string{"a1", "b1", "a2"}},
		"nor one of another tenant": {AdapterBounds{Overtakes: 4},
			[]Request{at("a1", "a"), {ID: "b1", Adapter: "b", Tenant: "t"}, {ID: "a2", Adapter: "a", Tenant: "u"}},
			[]string{"a1", "b1", "a2"}},
		"the engine takes one at once": {AdapterBounds{Overtakes: 4, AtOnce: 1},
			[]Request{at("a1", "a"), at("b1", "b"), at("a2", "a")}, []string{"a1", "a2", "b1"}},
		"the engine takes two at once": {AdapterBounds{Overtakes: 4, AtOnce: 2},
			[]Request{at("a1", "a"), at("b1", "b"), at("a2", "a")}, []string{"a1", "b1", "a2"}},
	} {
		l := newLine(1, c.bounds)
		for _, r := range c.asked {
			l.ask(r)
		}
		if l.drain(); !slices.Equal(l.started, c.want) {
			t.Errorf("%s: %v, want %v", name, l.started, c.want)
		}
	}
}

// MEGA-26: how many adapters an engine takes at once is what it says, where the configuration does not.
func TestAnEngineSaysHowManyAdaptersItTakes(t *testing.T) {
	for told, want := range map[int][]string{0: {"a1", "c1", "a2", "b1"}, 1: {"a1", "c1", "a2", "b1"},
		2: {"a1", "c1", "b1", "a2"}} {
		l := newLine(2, AdapterBounds{Overtakes: 4})
		l.model.Reconcile(Observed{MaxAdapters: told}, l.at)
		for _, r := range []string{"a1", "c1", "b1", "a2"} {
			l.ask(Request{ID: r, Adapter: r[:1]})
		}
		l.end(1)
		if l.drain(); !slices.Equal(l.started, want) {
			t.Errorf("%d at once: %v, want %v", told, l.started, want)
		}
	}
}

// twins are two lines before equal engines that are asked the same: one groups by adapter, the other does not.
type twins struct {
	grouped, strict *line
	requests        map[string]Request
	asked           []string
}

// play has requests of the seed's come and go for so many steps, and then all of them end.
func play(bounds AdapterBounds, places, steps int, seed uint64) *twins {
	p := &twins{newLine(places, bounds), newLine(places, AdapterBounds{}), map[string]Request{}, nil}
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range steps {
		s := rng.IntN(34) - 10
		if s < 0 {
			for _, l := range []*line{p.grouped, p.strict} {
				if len(l.running) > 0 {
					l.end(0)
				}
			}
			continue
		}
		r := Request{ID: fmt.Sprint("r", i), Adapter: []string{"", "a", "b", "c"}[s%4],
			Tenant: []string{"t", "u"}[s/4%2], Priority: s / 8 % 2}
		if s >= 22 {
			r.Deadline = time.Unix(36000, 0)
		}
		p.requests[r.ID], p.asked = r, append(p.asked, r.ID)
		p.grouped.ask(r)
		p.strict.ask(r)
	}
	p.grouped.drain()
	p.strict.drain()
	return p
}

// MEGA-26: whatever comes, no request is overtaken by more than its bound of later ones of its tenant and priority, nor
// one that has a deadline by any; none starves; and tenants and priorities come in the order in which they would
// without grouping.
func TestGroupingStarvesNoRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := AdapterBounds{Overtakes: rapid.IntRange(0, 5).Draw(t, "overtakes"),
			AtOnce: rapid.IntRange(0, 2).Draw(t, "at once")}
		p := play(bounds, rapid.IntRange(1, 3).Draw(t, "places"), rapid.IntRange(1, 80).Draw(t, "steps"),
			rapid.Uint64().Draw(t, "seed"))
		started := p.grouped.started
		if len(started) != len(p.asked) {
			t.Fatalf("%d of %d started", len(started), len(p.asked))
		}
		for i, id := range started {
			r, by := p.requests[id], 0
			for _, before := range started[:i] {
				o := p.requests[before]
				if slices.Index(p.asked, before) > slices.Index(p.asked, id) && o.Tenant == r.Tenant &&
					o.Priority == r.Priority {
					by++
				}
			}
			if by > bounds.Overtakes || by > 0 && !r.Deadline.IsZero() {
				t.Fatalf("%s (%+v) was overtaken by %d, the bound is %d: %v", id, r, by, bounds.Overtakes, started)
			}
			if was := p.requests[p.strict.started[i]]; was.Tenant != r.Tenant || was.Priority != r.Priority {
				t.Fatalf("start %d is of %s at %d, without grouping of %s at %d", i, r.Tenant, r.Priority, was.Tenant,
					was.Priority)
			}
		}
		if err := p.grouped.model.Check(p.grouped.at); err != nil {
			t.Fatal(err)
		}
	})
}

// MEGA-26: over many lives adapters are changed less often with grouping than without, and the further requests may be
// overtaken the less often. A single life may have a change or two more: which request starts first is its luck.
func TestGroupingChangesAdaptersLessOften(t *testing.T) {
	before := 0
	for _, overtakes := range []int{0, 1, 5} {
		with := 0
		for seed := range uint64(300) {
			p := play(AdapterBounds{Overtakes: overtakes}, 1, 80, seed)
			with += changes(p.grouped.started, p.requests)
		}
		if before > 0 && with >= before {
			t.Errorf("%d overtaking: %d changes of adapter, with a smaller bound %d", overtakes, with, before)
		}
		t.Logf("%d overtaking: %d changes", overtakes, with)
		before = with
	}
}

// changes counts the starts with an adapter that come after one with another.
func changes(started []string, requests map[string]Request) (n int) {
	last := ""
	for _, id := range started {
		if a := requests[id].Adapter; a != "" {
			if a != last {
				n++
			}
			last = a
		}
	}
	return n
}
