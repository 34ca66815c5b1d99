package gate

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"octet/scheduler"
)

// Gateways that tell each other what they measured estimate as one does at which all of the requests came in.
func TestFirstTokensOfAllGatewaysAreMeasuredAsOnesOwn(t *testing.T) {
	for seed := range uint64(20) {
		d := rand.New(rand.NewPCG(seed, 168))
		all := newBench(t)
		some := make([]*bench, 1+d.IntN(4))
		for i := range some {
			some[i] = newBench(t)
		}
		for range 200 {
			prompt, others, pause := 1+d.IntN(4000), d.IntN(3)*d.IntN(5000), time.Duration(d.IntN(20))*time.Second
			took := 15*time.Millisecond + time.Duration(prompt+others/2+d.IntN(500))*100*time.Microsecond
			at := d.IntN(len(some))
			for i, b := range append([]*bench{all}, some...) {
				b.now += pause
				b.model.Beside(Beside{Backlog: others}, b.now)
				if i == 0 || i == at+1 {
					b.serve(prompt, took)
				} else {
					b.now += took
				}
			}
			f, ok := some[at].model.LastFirst()
			for i, b := range some {
				if ok && i != at {
					b.model.FirstElsewhere(&f, b.now)
				}
			}
			for i, b := range some {
				got, want := b.model.engine.rates.prefills, all.model.engine.rates.prefills
				if got.ttft != want.ttft || got.wrong != want.wrong || got.holds != want.holds {
					t.Fatalf("seed %d: gateway %d has measured %+v, and one that sees all %+v", seed, i, got, want)
				}
			}
		}
	}
}

// A gateway that refuses every request hears of another's trial, and measures anew as that does.
func TestATrialElsewhereHasAllMeasuredAnew(t *testing.T) {
	b, other := newBench(t), newBench(t)
	for range 50 {
		b.serve(100, 10*time.Second)
		other.serve(100, 10*time.Second)
	}
	b.now, other.now = b.now+evidence, other.now+evidence
	l, err := other.ask(100, time.Second)
	if err != nil {
		t.Fatalf("no trial: %v", err)
	}
	other.end(l, 100*time.Millisecond)
	b.now = other.now
	f, ok := other.model.LastFirst()
	if !ok || !f.Trial {
		t.Fatalf("%+v is told: %v", f, ok)
	}
	b.model.FirstElsewhere(&f, b.now)
	if _, err := b.ask(100, time.Second); err != nil {
		t.Errorf("the other's took 100 ms: %v", err)
	}
}

// What takes long elsewhere is refused here, where nothing was measured.
func TestAGatewayThatMeasuredNothingRefusesByWhatOthersMeasured(t *testing.T) {
	b := newBench(t)
	for range rateSamples {
		if _, err := b.ask(100, time.Second); err != nil {
			t.Fatalf("refused before anything is known: %v", err)
		}
		b.model.FirstElsewhere(&First{Uncached: 100, Took: 10 * time.Second}, b.now)
	}
	if _, err := b.ask(100, time.Second); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("10 s are promised within 1: %v", err)
	}
}

// Of what was measured since it was asked for last the last is told, once; what came from elsewhere is not.
func TestTheLastFirstTokenIsToldOnce(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 168))
	b := newBench(t)
	for range 100 {
		var measured []First // all: the slow oracle
		for range d.IntN(4) {
			prompt, took := 1+d.IntN(1000), time.Duration(1+d.IntN(1000))*time.Millisecond
			b.serve(prompt, took)
			b.model.FirstElsewhere(&First{Uncached: 7, Took: time.Second}, b.now)
			measured = append(measured, First{Uncached: prompt, Took: took})
		}
		got, ok := b.model.LastFirst()
		got.Trial, got.Expected = false, 0
		if n := len(measured); ok != (n > 0) || ok && got != measured[n-1] {
			t.Fatalf("%+v, %v is told of %+v", got, ok, measured)
		}
		if again, ok := b.model.LastFirst(); ok {
			t.Fatalf("%+v is told again", again)
		}
	}
}
