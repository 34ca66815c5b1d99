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

// An estimate is judged as it was made: a crowd that all came before the first of its first tokens has as many wrong
// estimates as it has requests, however well the last of them would be estimated by then.
func TestEstimatesAreJudgedAsTheyWereMade(t *testing.T) {
	b := newBench(t)
	for range 50 {
		b.serve(100, 100*time.Millisecond)
	}
	var crowd []*Lease
	for range 8 {
		l, err := b.ask(100, 0)
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, l)
	}
	wrong, weight := b.model.engine.rates.wrong.sum, b.model.engine.rates.wrong.weight
	for _, l := range crowd {
		expected := l.expected
		b.end(l, 500*time.Millisecond)
		wrong = wrong*rateMemory + min(2, float64(b.now-l.admitted-expected)/float64(expected))
		weight = weight*rateMemory + 1
	}
	got := b.model.engine.rates.wrong
	if d := got.value() - wrong/weight; d < -1e-9 || d > 1e-9 || got.value() < 0.3 {
		t.Errorf("wrong by %v, want %v", got.value(), wrong/weight)
	}
}

// A trial that refutes what was measured of an idle engine takes nothing from what was measured of a busy one: the next
// crowd is promised what the last one had.
func TestATrialLeavesWhatWasMeasuredOfCrowds(t *testing.T) {
	b := newBench(t)
	const token = time.Millisecond
	for i := range 200 { // the fixed time is measured wrong from so far away
		others, prompt := 10_000+i*61%2000, 100+i*37%400
		b.model.Beside(Beside{Backlog: others}, b.now)
		b.serve(prompt, 2*time.Second+time.Duration(others+prompt)*token*9/10)
	}
	b.model.Beside(Beside{}, b.now)
	b.now += evidence
	l, err := b.ask(100, time.Second)
	if err != nil {
		t.Fatalf("no trial: %v", err)
	}
	b.end(l, 100*token)
	if _, err := b.ask(100, 2*time.Second); err != nil {
		t.Errorf("100 ms are promised within 2 s: %v", err)
	}
	b.model.Beside(Beside{Backlog: 10_000}, b.now)
	if _, err := b.ask(100, 5*time.Second); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("10 s are promised within 5: %v", err)
	}
}
