package fleet_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"octet/routing/fleet"
)

// flightModel is what a Flight weighs, told in the plainest way.
type flightModel struct {
	flight           fleet.Flight
	prompt, uncached int
	tokens           int
	begun, answered  bool
	landed           bool
}

// The ledger is the sum of what is open after every step, whatever the order, and nothing when all have landed.
//
// DYN-02, DYN-04, DYN-24
func TestTheLedgerIsTheSumOfWhatIsOpen(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	var open []*flightModel
	check := func() {
		t.Helper()
		var want fleet.Load
		for _, m := range open {
			if m.landed {
				continue
			}
			want.Tokens += m.prompt + m.tokens
			if !m.answered {
				want.Backlog += m.uncached
			}
			if m.begun {
				want.InFlight++
			} else {
				want.Waiting++
			}
		}
		if got := r.Load(); got != want {
			t.Fatalf("ledger %+v, want %+v", got, want)
		}
	}
	for range 20000 {
		now = now.Add(time.Millisecond)
		if len(open) < 8 && draw.IntN(3) == 0 {
			m := &flightModel{prompt: draw.IntN(1000)}
			m.uncached = draw.IntN(m.prompt + 1)
			m.flight = r.Route(fleet.Demand{Prompt: m.prompt, Uncached: m.uncached})
			open = append(open, m)
		}
		if len(open) == 0 {
			continue
		}
		i := draw.IntN(len(open))
		m := open[i]
		switch draw.IntN(5) {
		case 0:
			if m.begun && !m.landed && draw.IntN(2) == 0 { // leaves, and starts elsewhere at once
				m.flight.Land()
				r.Start(&m.flight, fleet.Demand{Prompt: m.prompt, Uncached: m.uncached}, now)
				m.tokens, m.answered = 0, false
			}
			m.flight.Begin(now)
			m.begun = m.begun || !m.landed
		case 1:
			m.flight.FirstToken(now)
			m.answered = true
		case 2:
			n := draw.IntN(100)
			m.flight.Grow(n, now)
			m.tokens = max(m.tokens, n)
		case 3:
			m.flight.Land()
			m.landed = true
		case 4:
			if m.landed {
				open = append(open[:i], open[i+1:]...)
			}
		}
		check()
	}
	for _, m := range open {
		m.flight.Land()
		m.flight.Land()
		m.landed = true
	}
	check()
}

func TestMoreCachedThanThePromptIsNothingToCompute(t *testing.T) {
	_, all := filled(t, 1)
	f := all[0].Route(fleet.Demand{Prompt: 10, Uncached: -6})
	g := all[0].Route(fleet.Demand{Prompt: 10, Uncached: 60})
	if got := all[0].Load(); got.Backlog != 10 || got.Tokens != 20 || got.Waiting != 2 {
		t.Errorf("%+v", got)
	}
	f.Land()
	g.Land()
	var zero fleet.Flight
	zero.Begin(time.Time{})
	zero.FirstToken(time.Time{})
	zero.Grow(5, time.Time{})
	zero.Land()
	if got := all[0].Load(); got != (fleet.Load{}) {
		t.Errorf("%+v", got)
	}
}

// A replica of 50 ms and 1,000 tokens a second, first tokens of many lengths, 10 ms between tokens: all of it is found.
func TestPaceFindsWhatAReplicaTakes(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	if r.Pace().Known() {
		t.Error("a pace before any measurement")
	}
	draw := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		n := 1 + draw.IntN(4000)
		f := r.Route(fleet.Demand{Prompt: n, Uncached: n})
		f.Begin(now)
		now = now.Add(50*time.Millisecond + time.Duration(n)*time.Millisecond)
		f.FirstToken(now)
		f.Grow(1, now)
		f.Grow(11, now.Add(100*time.Millisecond))
		f.Land()
	}
	p := r.Pace()
	if math.Abs(p.Fixed-0.05) > 1e-6 || math.Abs(p.PerToken-0.001) > 1e-9 || math.Abs(p.ITL-0.01) > 1e-9 {
		t.Errorf("%+v", p)
	}
	if got := p.TTFT(2000); math.Abs(got-2.05) > 1e-3 {
		t.Errorf("2,000 tokens are foretold to take %g s", got)
	}
}

func TestPaceOfOneLengthPromisesNothingForLongerPrompts(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	for range 10 {
		f := r.Route(fleet.Demand{Prompt: 100, Uncached: 100})
		f.Begin(now)
		f.FirstToken(now.Add(time.Second))
		f.Land()
	}
	if got := r.Pace().TTFT(1000); math.Abs(got-10) > 1e-9 {
		t.Errorf("ten times the prompt is foretold to take %g s", got)
	}
}

func TestTheLedgerIsExactUnderConcurrency(t *testing.T) {
	_, all := filled(t, 1)
	var users sync.WaitGroup
	for i := range 8 {
		users.Go(func() {
			now := time.Unix(0, 0)
			for n := range 500 {
				f := all[0].Route(fleet.Demand{Prompt: n, Uncached: n / 2})
				f.Begin(now)
				if n%2 == i%2 {
					now = now.Add(time.Millisecond)
					f.FirstToken(now)
					f.Grow(n, now)
				}
				_ = all[0].Pace()
				f.Land()
			}
		})
	}
	users.Wait()
	if got := all[0].Load(); got != (fleet.Load{}) {
		t.Errorf("%+v", got)
	}
}

func TestReportedIsWhatWasSaidLast(t *testing.T) {
	_, all := filled(t, 1)
	if r := all[0].Reported(); r.HasLoad || r.HasAdapters {
		t.Errorf("%+v", r)
	}
	all[0].Reports(&fleet.Reported{HasAdapters: true, MaxAdapters: 2, RunningAdapters: []string{"a"},
		WaitingAdapters: []string{"b"}})
	if r := all[0].Reported(); !r.Runs("a") || r.Runs("b") || !r.Queues("b") || r.Queues("a") {
		t.Errorf("%+v", r)
	}
}

// A sampled source is asked once for all that look, and again when something has happened.
func TestASampledSourceIsAskedWhenSomethingHappened(t *testing.T) {
	_, all := filled(t, 1)
	r, asked, usage := all[0], 0, 0.25
	r.SampleFrom(func() fleet.Load {
		asked++
		return fleet.Load{Waiting: 3, Running: 2, Preempting: 1, KVUsage: usage, InFlight: 99}
	})
	now := time.Unix(0, 0)
	var f fleet.Flight
	for i, happen := range []func(){
		func() {},
		func() { f = r.Route(fleet.Demand{Prompt: 4}); f.Begin(now) },
		func() { f.Grow(1, now) },
		func() { f.Land() },
		func() { r.Reports(&fleet.Reported{}) },
		func() { r.Begin() },
		func() { r.End() },
	} {
		happen()
		usage += 0.1
		r.Load()
		got := r.Load()
		requests, preempting := r.Queue()
		if asked != i+1 || got.KVUsage != usage || got.Running != 2 || got.InFlight > 1 || got.Waiting != 3 ||
			requests != got.InFlight+3 || !preempting {
			t.Errorf("step %d: asked %d times, %+v, queue %d", i, asked, got, requests)
		}
	}
	r.LoadFrom(func() fleet.Load { asked++; return fleet.Load{Waiting: 1} })
	asked = 0
	if requests, preempting := r.Queue(); requests != 1 || preempting || r.Load().Waiting != 1 || asked != 2 {
		t.Errorf("a source that is not sampled: %d requests, asked %d times", requests, asked)
	}
}

// A source of its own answers for the queue without what else Load would ask for.
func TestTheQueueHasASourceOfItsOwn(t *testing.T) {
	_, all := filled(t, 1)
	r, asked := all[0], 0
	r.SampleFrom(func() fleet.Load { asked++; return fleet.Load{Waiting: 3, Preempting: 2} })
	waiting, preempting := 3, true
	r.QueueFrom(func() (int, bool) { return waiting, preempting })
	var f fleet.Flight
	r.Start(&f, fleet.Demand{Prompt: 5, Uncached: 2}, time.Unix(0, 0))
	g := r.Route(fleet.Demand{Prompt: 5})
	if n, gives := r.Queue(); n != 5 || !gives || asked != 0 {
		t.Errorf("%d requests, preempting %t, Load's source asked %d times", n, gives, asked)
	}
	waiting, preempting = 0, false
	f.Land()
	if n, gives := r.Queue(); n != 1 || gives {
		t.Errorf("%d requests, preempting %t", n, gives)
	}
	if l := r.Load(); l.Waiting != 4 || l.InFlight != 0 || l.Preempting != 2 || l.Tokens != 5 || l.Backlog != 0 {
		t.Errorf("%+v", l)
	}
	g.Land()
}

// More Ends than Begins is told, however many wait.
func TestEndingWhatNeverBeganPanics(t *testing.T) {
	_, all := filled(t, 1)
	g := all[0].Route(fleet.Demand{Prompt: 1})
	defer g.Land()
	defer func() {
		if recover() == nil {
			t.Error("nothing was said")
		}
	}()
	all[0].End()
}
