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

// crowd lets n requests be answered side by side, each of whose tokens takes base and share for each of them.
func crowd(r *fleet.Replica, now time.Time, n, tokens int, base, share time.Duration) time.Time {
	flights := make([]fleet.Flight, n)
	for i := range flights {
		r.Start(&flights[i], fleet.Demand{Prompt: 100, Uncached: 100}, now)
	}
	for i := range flights {
		flights[i].FirstToken(now.Add(time.Second))
	}
	now = now.Add(time.Second + time.Duration(tokens-1)*(base+time.Duration(n)*share))
	for i := range flights {
		flights[i].Grow(tokens, now)
	}
	for i := range flights {
		r.Begin() // others come as these go
		flights[i].Land()
	}
	for range flights {
		r.End()
	}
	return now
}

// A replica whose tokens take 5 ms, and 2 ms for each sequence: a request more holds an answer of 101 tokens up by 0.2
// s. A crowd that is always the same says nothing of that, and what was found before stays.
func TestPaceFindsWhatARequestDoesToOthers(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	want := func(slowdown, life float64) {
		t.Helper()
		p := r.Pace()
		if math.Abs(p.Slowdown-slowdown) > 1e-6 || math.Abs(p.Life-life) > 1e-6 {
			t.Fatalf("slowdown %v and life %v s, want %v and %v", p.Slowdown, p.Life, slowdown, life)
		}
	}
	for range 40 {
		now = crowd(r, now, 1, 101, 5*time.Millisecond, 2*time.Millisecond)
	}
	want(0, 1.7)
	for i := range 40 {
		now = crowd(r, now, 1+i%4, 101, 5*time.Millisecond, 2*time.Millisecond)
	}
	p := r.Pace()
	want(101*0.002, p.Life)
	for range 400 {
		now = crowd(r, now, 3, 101, 5*time.Millisecond, 2*time.Millisecond)
	}
	want(101*0.002, 1+100*0.011)
	f := r.Route(fleet.Demand{})
	if w := r.Work(now); w.Slowdown != r.Pace().Slowdown || w.Life != r.Pace().Life {
		t.Errorf("work %+v, pace %+v", w, r.Pace())
	}
	f.Land()
}

// An answer in one piece has a life and a length; how far apart its tokens were is not seen.
func TestPaceOfAnswersInOnePiece(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	for range 8 {
		var f fleet.Flight
		r.Start(&f, fleet.Demand{Prompt: 100, Uncached: 100, Whole: true}, now)
		now = now.Add(3 * time.Second)
		f.Grow(50, now)
		f.Land()
	}
	if p := r.Pace(); p.Life != 3 || p.Slowdown != 0 || p.ITL != 0 {
		t.Errorf("%+v", p)
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
