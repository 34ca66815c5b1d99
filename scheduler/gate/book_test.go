package gate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"octet/scheduler"
)

// crowdPlan is a crowd before one engine: bursts of clients that come at once, and come back when they are told to, or
// never.
type crowdPlan struct {
	places, queue int
	wait          time.Duration // longest in the queue; 0 is no bound
	service       time.Duration
	noise         float64
	burst, bursts int
	pause         time.Duration // between bursts
	passing       time.Duration // between others that come once, whatever they are told; 0 is none come
	obeys         float64
	grain         time.Duration
	twins         bool // all look alike
}

// crowdRun is one simulation, in virtual time and without goroutines.
type crowdRun struct {
	crowdPlan
	t       *testing.T
	gate    *Gate
	book    *Book
	now     time.Duration
	agenda  []agendum
	dice    *rand.Rand
	waiting []*Wait
	events  int
	service func() time.Duration

	spans        []taken
	begun, ended time.Duration // of what is measured
	sent, obeyed int           // sent away at the first try; of them those that came back
	heard        int           // of these: let in or let wait
	again        int           // refusals after that
}

type agendum struct {
	at time.Duration
	do func()
}

// taken is how many places were for a time.
type taken struct {
	from, to time.Duration
	places   int
}

var crowdOrigin = time.Unix(1000, 0)

func newCrowdRun(t *testing.T, p crowdPlan, seed uint64) *crowdRun {
	c := &crowdRun{crowdPlan: p, t: t, book: NewBook(p.grain), dice: rand.New(rand.NewPCG(seed, 6))}
	gate, err := New(Config{
		MaxRunning: p.places, MaxWaiting: p.queue, MaxWait: p.wait,
		Now:    func() time.Time { return crowdOrigin.Add(c.now) },
		Jitter: c.dice.Float64, Promised: c.book.Expected,
	})
	if err != nil {
		t.Fatal(err)
	}
	c.gate = gate
	c.service = func() time.Duration {
		return time.Duration(float64(p.service) * (1 + p.noise*(2*c.dice.Float64()-1)))
	}
	return c
}

func (c *crowdRun) in(d time.Duration, do func()) {
	c.agenda = append(c.agenda, agendum{c.now + d, do})
}

// run lets everything happen, in order.
func (c *crowdRun) run() {
	for len(c.agenda) > 0 {
		first := 0
		for i, a := range c.agenda {
			if a.at < c.agenda[first].at {
				first = i
			}
		}
		a := c.agenda[first]
		c.agenda = slices.Delete(c.agenda, first, first+1)
		c.pass(a.at)
		a.do()
		c.collect()
	}
}

// pass counts the places that are taken until at.
func (c *crowdRun) pass(at time.Duration) {
	c.spans = append(c.spans, taken{c.now, at, c.gate.Stats().Running})
	c.now = at
}

// client comes for the n-th time; obeys says whether it comes again when told to. since is when it came first.
func (c *crowdRun) client(id uint64, n int, obeys bool, since time.Duration) {
	caller := Caller{ID: id, Exact: !c.twins}
	if c.twins {
		caller.ID = 7
	}
	now := crowdOrigin.Add(c.now)
	r := Request{ID: fmt.Sprint(id), PromptTokens: 10, MaxNew: 20, Returns: c.book.Come(caller, now)}
	ticket, w, err := c.gate.ask(&r)
	if n == 1 {
		c.obeyed++
		if err == nil {
			c.heard++
		}
	}
	var no *scheduler.Refusal
	switch {
	case errors.As(err, &no):
		c.turnedAway(id, n, obeys, since, caller, no)
	case w != nil:
		c.waiting = append(c.waiting, w)
	default:
		c.serve(ticket)
	}
}

func (c *crowdRun) turnedAway(id uint64, n int, obeys bool, since time.Duration, caller Caller, no *scheduler.Refusal) {
	sent := Sent{Caller: caller, After: no.RetryAfter, Every: no.Every, Room: no.Room}
	told := c.book.Tell(&sent, crowdOrigin.Add(since), crowdOrigin.Add(c.now))
	if told == 0 {
		c.t.Fatal("sent away without a time")
	}
	if n == 0 {
		c.sent++
		c.ended = max(c.ended, c.now+told)
	} else {
		c.again++
	}
	if obeys {
		c.in(told+time.Duration(c.dice.Int64N(int64(20*time.Millisecond))), func() { c.client(id, n+1, obeys, since) })
	}
}

func (c *crowdRun) serve(t *Ticket) {
	took := c.service()
	c.in(took/10, t.FirstToken)
	c.in(took, func() { t.Grow(20); t.Release() })
}

// collect begins with the requests that got a place meanwhile.
func (c *crowdRun) collect() {
	c.waiting = slices.DeleteFunc(c.waiting, func(w *Wait) bool {
		if w.gone() && w.granted() != nil {
			c.serve(w.granted())
		}
		return w.gone()
	})
	if c.events++; c.events%32 == 0 {
		if err := c.gate.Check(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// play measures from the first burst until all of it were to be back.
func (c *crowdRun) play() {
	id := uint64(100)
	for i := range 8 * c.places { // what the gate learns its rates from
		c.in(time.Duration(i)*c.crowdPlan.service/time.Duration(c.places), func() { id++; c.client(id, 9, false, 0) })
	}
	c.begun = 60 * c.crowdPlan.service
	for b := range c.bursts {
		c.in(c.begun+time.Duration(b)*c.pause, func() {
			for range c.burst {
				id++
				c.client(id, 0, c.dice.Float64() < c.obeys, c.now)
			}
		})
	}
	for at := c.begun; c.passing > 0 && at < c.begun+200*c.crowdPlan.service; at += c.passing {
		c.in(at, func() { id++; c.client(id, 9, false, c.now) })
	}
	c.run()
}

// used is the part of the places that was taken while it was measured.
func (c *crowdRun) used() float64 {
	var busy time.Duration
	for _, s := range c.spans {
		busy += time.Duration(s.places) * max(0, min(s.to, c.ended)-max(s.from, c.begun))
	}
	return float64(busy) / float64(c.ended-c.begun) / float64(c.places)
}

// A crowd that is sent away at once comes back one after the other, as places come free: a request that obeys is let in
// at the first retry, and meanwhile the engine's places are used. Where a part never comes back its places are others',
// or told twice once that is known.
func TestACrowdThatObeysGetsInAtItsFirstRetry(t *testing.T) {
	base := crowdPlan{places: 16, queue: 64, service: 2 * time.Second, noise: 0.2, burst: 400, bursts: 1, obeys: 1}
	with := func(change func(*crowdPlan)) crowdPlan {
		p := base
		change(&p)
		return p
	}
	for name, tt := range map[string]struct {
		plan        crowdPlan
		heard, used float64 // at least
	}{
		"all obey":                {base, 0.8, 0.9},
		"all obey, whole seconds": {with(func(p *crowdPlan) { p.grain = time.Second }), 0.8, 0.9},
		"all obey, and look alike": {with(func(p *crowdPlan) { p.twins, p.grain = true, time.Second }), 0.8,
			0.9},
		"a wait of five seconds": {with(func(p *crowdPlan) { p.queue, p.wait = 1000, 5*time.Second }), 0.8,
			0.9},
		"few places, short queue": {with(func(p *crowdPlan) { p.places, p.queue, p.burst = 4, 8, 80 }), 0.8,
			0.9},
		"three bursts": {with(func(p *crowdPlan) {
			p.bursts, p.pause, p.burst = 3, 10*time.Second,
				200
		}), 0.8, 0.9},
		"others pass by": {with(func(p *crowdPlan) { p.passing = 100 * time.Millisecond }), 0.8, 0.9},
		"nine in ten":    {with(func(p *crowdPlan) { p.obeys = 0.9 }), 0.8, 0.9},
		"half, once":     {with(func(p *crowdPlan) { p.obeys = 0.5 }), 0.8, 0.65},
		"half, and others pass by": {with(func(p *crowdPlan) { p.obeys, p.passing = 0.5, 100*time.Millisecond }),
			0.8, 0.9},
		"half, of bursts again and again": {with(func(p *crowdPlan) {
			p.obeys, p.bursts, p.pause, p.burst = 0.5, 12,
				8*time.Second, 150
		}), 0.8, 0.85},
		"none, of bursts again and again": {with(func(p *crowdPlan) {
			p.obeys, p.bursts, p.pause, p.burst = 0, 12,
				8*time.Second, 150
		}), 0, 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			heard, used := 1.0, 1.0
			for seed := range uint64(3) {
				c := newCrowdRun(t, tt.plan, seed)
				c.play()
				if c.obeyed > 0 {
					heard = min(heard, float64(c.heard)/float64(c.obeyed))
				}
				used = min(used, c.used())
				t.Logf(
					"seed %d: %d sent away, %d came back, %d of them heard, %d more refusals, %.3f of the places "+
						"used, over %v",
					seed, c.sent, c.obeyed, c.heard, c.again, c.used(), c.ended-c.begun)
				if c.sent == 0 || c.book.Away() > c.burst*c.bursts {
					t.Fatalf("%d sent away, %d still are", c.sent, c.book.Away())
				}
			}
			if heard < tt.heard || used < tt.used {
				t.Errorf("%.3f heard at the first retry, want %.2f; %.3f of the places used, want %.2f", heard,
					tt.heard, used, tt.used)
			}
		})
	}
}
