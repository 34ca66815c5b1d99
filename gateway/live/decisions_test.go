package live

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"octet/gateway/receipt"
)

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func ended(specialist, code string) *receipt.Receipt {
	cached := 16
	return &receipt.Receipt{ID: "r", Asked: receipt.Asked{Model: "octet", Intent: "codegen"},
		Decision: receipt.Decision{Specialist: specialist, RoutedBy: "classifier"},
		Attempts: []receipt.Attempt{{Replica: "x", QueueMs: 1, Outcome: "queue_full"},
			{Replica: specialist + "-0", QueueMs: 2, PredictedTokens: 32, DeliveredTokens: &cached, Outcome: "ok"}},
		Result: receipt.Result{Status: 200, Code: code, Done: code == "", PromptTokens: 40, CompletionTokens: 8}}
}

func watch(t *testing.T, d *Decisions, f Filter) *Watcher {
	t.Helper()
	w, ok := d.Watch(f)
	if !ok {
		t.Fatal("no watcher")
	}
	t.Cleanup(w.Close)
	return w
}

func TestAWatcherSeesWhatItsFilterLetsPass(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	d := New(Config{PerSecond: 10, Watchers: 8, Now: c.now})
	for want, f := range map[uint64]Filter{4: {}, 3: {Specialist: "debug"}, 2: {Outcome: Failed},
		1: {Tenant: "acme", Specialist: "debug", Outcome: "queue_full"}, 0: {Tenant: "other"}} {
		w := watch(t, d, f)
		d.Offer("acme", ended("debug", ""))
		d.Offer("acme", ended("debug", "queue_full"))
		d.Offer("zeta", ended("debug", ""))
		d.Offer("zeta", ended("algo", "kv_exhausted"))
		if w.Seen() != want || len(w.Lines()) != int(want) {
			t.Errorf("%+v: %d seen, %d shown, want %d", f, w.Seen(), len(w.Lines()), want)
		}
		w.Close()
	}
	left := ended("debug", "")
	left.Result.Done = false
	if got := outcomeOf(left); got != Left {
		t.Error(got)
	}
}

func TestALineTellsTheLastAttempt(t *testing.T) {
	var e Event
	if err := json.Unmarshal(lineOf("acme", ended("debug", "")), &e); err != nil {
		t.Fatal(err)
	}
	if e.Replica != "debug-0" || e.Predicted != 32 || *e.Delivered != 16 || e.QueueMs != 3 || e.Attempts != 2 ||
		e.Outcome != OK || e.Tenant != "acme" {
		t.Errorf("%+v", e)
	}
}

// Issue 22: 5,000 decisions a second are sampled. An oracle that keeps the times of all lines holds every window of a
// second to the bound, but for the burst after a pause.
func TestAWatcherIsGivenAtMostItsShare(t *testing.T) {
	const share, rate = 50, 5000
	c := &clock{time.Unix(1000, 0)}
	d := New(Config{PerSecond: share, Watchers: 1, Now: c.now})
	w := watch(t, d, Filter{})
	r := ended("debug", "")
	var given []time.Time
	for range 4 * rate {
		d.Offer("acme", r)
		for len(w.Lines()) > 0 {
			<-w.Lines()
			given = append(given, c.at)
		}
		c.at = c.at.Add(time.Second / rate)
	}
	if w.Seen() != 4*rate {
		t.Errorf("%d seen", w.Seen())
	}
	if n := len(given); n < 4*share || n > 5*share {
		t.Errorf("%d lines in four seconds, want %d and a burst", n, 4*share)
	}
	for i := range given {
		n := 0
		for _, at := range given[i:] {
			if at.Sub(given[i]) < time.Second {
				n++
			}
		}
		if n > 2*share || i > share && n > share+1 {
			t.Fatalf("%d lines in the second from %v on", n, given[i].Sub(given[0]))
		}
	}
}

func TestAWatcherThatDoesNotReadHoldsNothingUp(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	d := New(Config{PerSecond: 5, Watchers: 1, Now: c.now})
	w := watch(t, d, Filter{})
	for range 100 {
		d.Offer("acme", ended("debug", ""))
		c.at = c.at.Add(time.Second)
	}
	if w.Seen() != 100 || len(w.Lines()) != 5 {
		t.Errorf("%d seen, %d kept", w.Seen(), len(w.Lines()))
	}
}

func TestWatchersAreBoundedAndGoAgain(t *testing.T) {
	d := New(Config{PerSecond: 5, Watchers: 2, Now: time.Now})
	a, b := watch(t, d, Filter{}), watch(t, d, Filter{})
	if _, ok := d.Watch(Filter{}); ok {
		t.Error("a third watches")
	}
	a.Close()
	c := watch(t, d, Filter{})
	d.Offer("acme", ended("debug", ""))
	if a.Seen() != 0 || b.Seen() != 1 || c.Seen() != 1 {
		t.Errorf("%d %d %d", a.Seen(), b.Seen(), c.Seen())
	}
	b.Close()
	c.Close()
	if d.watchers.Load() != nil {
		t.Error("what nothing watches is offered to nothing")
	}
	(*Decisions)(nil).Offer("acme", ended("debug", ""))
}

func TestDecisionsAreOfferedFromEverywhere(t *testing.T) {
	d := New(Config{PerSecond: 1000, Watchers: 4, Now: time.Now})
	stay := watch(t, d, Filter{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				d.Offer("acme", ended("debug", ""))
			}
		})
		wg.Go(func() {
			for range 200 {
				if w, ok := d.Watch(Filter{Outcome: Failed}); ok {
					w.Close()
				}
			}
		})
	}
	wg.Wait()
	if stay.Seen() != 2000 {
		t.Errorf("%d seen", stay.Seen())
	}
}

// What a decision costs: nothing watches, pages watch whose filters it does not pass, and pages that are given their
// share of 5,000 decisions a second.
func BenchmarkOffer(b *testing.B) {
	r := ended("debug", "")
	for _, watchers := range []int{0, 1, 8} {
		for name, f := range map[string]Filter{"filtered": {Specialist: "algo"}, "sampled": {}} {
			if watchers == 0 && name == "filtered" {
				continue
			}
			b.Run(fmt.Sprintf("watchers=%d/%s", watchers, name), func(b *testing.B) {
				c := &clock{time.Unix(1000, 0)}
				d := New(Config{PerSecond: 50, Watchers: 8, Now: c.now})
				var all []*Watcher
				for range watchers {
					w, _ := d.Watch(f)
					all = append(all, w)
				}
				b.ReportAllocs()
				for b.Loop() {
					d.Offer("acme", r)
					c.at = c.at.Add(time.Second / 5000)
					for _, w := range all {
						if len(w.lines) > 0 {
							<-w.lines
						}
					}
				}
			})
		}
	}
}
