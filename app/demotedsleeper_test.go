package app_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A demoted specialist that has gone to sleep at night recovers in the morning, as one that does not sleep: a request
// that another answers for it, and of which it is owed a copy, wakes it.
func TestADemotedSpecialistThatSleepsRecovers(t *testing.T) {
	for _, after := range []string{"0s", "5m"} {
		t.Run(after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, choiceEngines())
				b.Serve(twoChoices, "shadow.max_concurrent=4", "specialists[0].sleep.after="+after)
				doubting(t, b.App)
				time.Sleep(3 * time.Second)
				demoteBoard(b, "debug")
				plain := hesitant(4, "", "")
				if got := b.reply("/v1/chat/completions", plain); got.by != "systems" {
					t.Fatalf("in the evening: %d by %s", got.status, got.by)
				}
				time.Sleep(30 * time.Minute)
				before := b.Engines["debug-0"].Asked.Load()
				for range 360 { // an hour
					time.Sleep(10 * time.Second)
					if got := b.reply("/v1/chat/completions", plain); got.status != 200 {
						t.Fatalf("in the morning: %d %s", got.status, got.text)
					}
				}
				if n := b.Engines["debug-0"].Asked.Load() - before; n < 20 {
					t.Errorf("debug-0 was asked %d times", n)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}
