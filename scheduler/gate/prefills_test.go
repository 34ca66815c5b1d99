package gate

import (
	"errors"
	"testing"
	"time"

	"octet/scheduler"
)

// bench is a Model, and what is asked of it in virtual time.
type bench struct {
	*testing.T
	model  *Model
	origin time.Time
	now    scheduler.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, origin: time.Unix(1, 0)}
	m, err := NewModel(Config{Blocks: 10_000, BlockSize: 16, MaxRunning: 8}, b.origin)
	if err != nil {
		t.Fatal(err)
	}
	b.model = m
	return b
}

// ask asks for a prompt of so many tokens whose first token is wanted within a time; 0 is without a deadline.
func (b *bench) ask(prompt int, within time.Duration) (*Lease, error) {
	l, r := new(Lease), &Request{PromptTokens: prompt, MaxNew: 8}
	if within > 0 {
		r.TTFTDeadline = b.origin.Add(b.now + within)
	}
	_, err := b.model.Ask(r, l, b.now)
	return l, err
}

// serve asks for a prompt without a deadline, whose first token takes so long.
func (b *bench) serve(prompt int, took time.Duration) {
	b.Helper()
	l, err := b.ask(prompt, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.end(l, took)
}

// end has the first token of l come after a time, and l end with it.
func (b *bench) end(l *Lease, took time.Duration) {
	b.now += took
	b.model.FirstToken(l, b.now)
	b.model.Release(l, b.now)
}

// Times that refuse every request end: after evidence a request that finds the engine empty is a trial, and by its
// first token all is measured anew.
func TestTimesThatRefuseEveryRequestAreTriedAgain(t *testing.T) {
	b := newBench(t)
	for range 50 {
		b.serve(100, 10*time.Second) // what made it slow is over then
	}
	const within = time.Second
	if _, err := b.ask(100, within); !errors.Is(err, scheduler.ErrDeadline) {
		t.Fatalf("10 s are promised within 1: %v", err)
	}
	running, err := b.ask(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.now += evidence
	if _, err := b.ask(100, within); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("a trial beside another request: %v", err)
	}
	b.model.Release(running, b.now)
	first, err := b.ask(100, within)
	if err != nil {
		t.Fatalf("no trial: %v", err)
	}
	if _, err := b.ask(100, within); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("a second trial beside the first: %v", err)
	}
	b.model.Release(first, b.now) // it is given up, and says nothing
	b.now += evidence / 2
	if _, err := b.ask(100, within); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("a second trial before its time: %v", err)
	}
	b.now += evidence / 2
	for range 100 {
		l, err := b.ask(100, within)
		if err != nil {
			t.Fatalf("it takes 100 ms: %v", err)
		}
		b.end(l, 100*time.Millisecond)
	}
	if _, err := b.ask(100, 50*time.Millisecond); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("100 ms are promised within 50: %v", err)
	}
}

// A trial that bears out what was measured changes nothing.
func TestATrialThatTakesAsLongAsEstimatedLeavesTheRestRefused(t *testing.T) {
	b := newBench(t)
	for range 50 {
		b.serve(100, 10*time.Second)
	}
	for range 10 {
		b.now += evidence
		l, err := b.ask(100, time.Second)
		if err != nil {
			t.Fatalf("no trial: %v", err)
		}
		b.end(l, 9*time.Second)
		if _, err := b.ask(100, time.Second); !errors.Is(err, scheduler.ErrDeadline) {
			t.Fatalf("10 s are promised within 1: %v", err)
		}
	}
}
