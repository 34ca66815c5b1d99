package app_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// tells asks and returns the error's code and what Retry-After says, in whole seconds; "" is nothing.
func (b *bubble) tells(q customer) (code, after string) {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body(),
		q.headers()...)
	if err != nil {
		b.T.Fatal(err)
	}
	return q.read(resp).failed, resp.Header.Get("Retry-After")
}

// MEGA-44, MEGA-46, MEGA-62: Retry-After is the time after which there is a place, from the measured drain; where no
// time would help there is none.
func TestRetryAfterIsWhenItPaysToComeBackAndAbsentWhereItNeverDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 1,
			Step: 20 * time.Millisecond}})
		b.Serve(strings.Replace(strings.Replace(oneplace, "WAIT", "30s", 1), "max_waiting: 8", "max_waiting: 4", 1))
		time.Sleep(time.Second)
		q := customer{id: "q", stream: true, model: "debug", text: "x", words: 4, tokens: 100} // some two seconds each
		for range 8 {
			if a := b.served(q); a.failed != "" {
				t.Fatal(a.failed)
			}
		}
		never := q
		never.deadline = 500 * time.Millisecond // an idle engine takes two seconds
		if code, after := b.tells(never); code != "deadline_unachievable" || after != "" {
			t.Errorf("a deadline that nobody could meet: %s, Retry-After %q", code, after)
		}
		var all sync.WaitGroup
		for i := range 5 {
			time.Sleep(time.Millisecond)
			all.Go(func() {
				if a := b.served(q); a.failed != "" {
					t.Errorf("%d: %s", i, a.failed)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		code, after := b.tells(q)
		seconds, err := strconv.Atoi(after)
		if code != "queue_full" || err != nil || seconds < 2 || seconds > 4 {
			// one leaves in 1.9 s; an eighth and up to a quarter more, rounded up
			t.Errorf("a full queue: %s, Retry-After %q", code, after)
		}
		late := q
		late.deadline = 4 * time.Second // in time on an idle engine, not behind five others
		if code, after := b.tells(late); code != "deadline_unachievable" && code != "queue_full" || after == "" {
			t.Errorf("a deadline that could be met later: %s, Retry-After %q", code, after)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
		if a := b.served(q); a.failed != "" {
			t.Errorf("come back as told, and refused: %s", a.failed)
		}
		all.Wait()
	})
}
