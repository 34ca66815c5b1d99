package sleepers

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"octet/internal/await"
	"octet/scheduler/hold"
)

// Terms are put in force while requests have replicas woken, without end: neither waits for the other.
func TestTermsComeWhileReplicasAreWoken(t *testing.T) {
	const often = 50_000
	s := New(Config{Log: slog.New(slog.DiscardHandler), Replicas: func(string) ([]Replica, bool) { return nil, false },
		Run: func(context.Context, string, []string) error { return nil }})
	terms := Terms{Hold: time.Minute, Wakes: true, Declared: true, Argv: []string{"/bin/wake"}, Timeout: time.Minute}
	queue := s.Queue("debug", terms)
	var ended atomic.Int64
	begin := func(f func()) {
		go func() {
			for range often {
				f()
			}
			ended.Add(1)
		}()
	}
	begin(func() { s.Queue("debug", terms) })
	begin(func() { _, _ = queue.Enter(hold.Request{ID: "a"}) }) // there is no place for it, and a replica is wanted
	begin(func() { s.LookAll(); s.States() })
	await.True(t, "all have ended", func() bool { return ended.Load() == 3 })
}
