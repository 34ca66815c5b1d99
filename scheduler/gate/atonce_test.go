package gate

import (
	"errors"
	"testing"

	"octet/scheduler"
)

// What shall start at once or not at all waits for nothing, has no request give way, and gives way to all above it;
// refused it was not even offered, so that it makes no specialist look starved.
func TestWhatStartsAtOnceOrNotAtAllTakesNoPlace(t *testing.T) {
	gated(t, Config{Blocks: 8, BlockSize: 16, MaxRunning: 2, MaxWaiting: 9}, func(t *testing.T, g *Gate) {
		aside := Request{ID: "aside", Priority: -101, PromptTokens: 60, MaxNew: 10, Victim: true, AtOnce: true}
		low := admitted(t, g, Request{ID: "low", Priority: -100, PromptTokens: 10, MaxNew: 10, Victim: true})
		first := admitted(t, g, aside)
		for _, r := range []Request{aside,
			{ID: "urgent", Priority: 9, PromptTokens: 60, MaxNew: 10, AtOnce: true}} {
			if _, err := g.Admit(t.Context(), r); !errors.Is(err, scheduler.ErrQueueFull) {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		if s, c := g.Stats(), g.Calibration(); s.Waiting != 0 || s.Preempting != 0 || c.Offered != 2 {
			t.Errorf("%+v, %d offered", s, c.Offered)
		}
		other := waits(t, g, Request{ID: "other", Priority: -100, PromptTokens: 10, MaxNew: 10})
		<-first.Preempted()
		first.Release()
		wantTicket(t, other).Release()
		low.Release()
		_, err := g.Admit(t.Context(), Request{ID: "huge", PromptTokens: 1000, AtOnce: true})
		if !errors.Is(err, scheduler.ErrExceedsPool) {
			t.Error(err)
		}
		admitted(t, g, aside).Release()
	})
}
