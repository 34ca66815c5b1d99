package gate

import (
	"testing"
	"time"

	"octet/scheduler"
)

// What another gateway's request left in the engine's cache need not be computed: a deadline that it makes possible is
// not refused, and the time of the first token is measured over what was computed.
func TestWhatAnEngineIsKnownToHoldIsNotComputedAgain(t *testing.T) {
	at := time.Unix(1, 0)
	m, err := NewModel(Config{Blocks: 1000, BlockSize: 16, MaxRunning: 8}, at)
	if err != nil {
		t.Fatal(err)
	}
	now := scheduler.Time(0)
	ask := func(prompt, held int, within time.Duration) (*Lease, error) {
		l, r := new(Lease), &Request{PromptTokens: prompt, Held: held, MaxNew: 8}
		if within > 0 {
			r.TTFTDeadline = at.Add(now + within)
		}
		_, err := m.Ask(r, l, now)
		return l, err
	}
	for i := range 16 { // a millisecond a token
		tokens := 100 * (1 + i%4)
		l, err := ask(tokens+1600, 1600, 0)
		if err != nil {
			t.Fatal(err)
		}
		now += scheduler.Time(tokens) * time.Millisecond
		m.FirstToken(l, now)
		m.Release(l, now)
	}
	if _, err := ask(1000, 0, 500*time.Millisecond); err == nil {
		t.Error("1,000 tokens are promised within 500 ms")
	}
	l, err := ask(1000, 800, 500*time.Millisecond)
	if err != nil {
		t.Fatalf("200 tokens are not computed within 500 ms: %v", err)
	}
	m.Release(l, now)
	if l, err = ask(1000, 5000, 500*time.Millisecond); err != nil || l.uncached != 1 {
		t.Errorf("%d tokens are to be computed of a prompt that is held: %v", l.uncached, err)
	}
}
