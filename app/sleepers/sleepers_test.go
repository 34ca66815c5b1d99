package sleepers

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"octet/internal/await"
	"octet/routing/fleet"
	"octet/scheduler/hold"
)

func newTestSleepers(replicas func() ([]Replica, bool)) *Sleepers {
	return New(Config{Log: slog.New(slog.DiscardHandler),
		Replicas: func(string) ([]Replica, bool) { return replicas() },
		Run:      func(context.Context, string, []string) error { return nil }})
}

// Terms are put in force while requests have replicas woken, without end: neither waits for the other.
func TestTermsComeWhileReplicasAreWoken(t *testing.T) {
	const often = 50_000
	s := newTestSleepers(func() ([]Replica, bool) { return nil, false })
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

// Requests are held where a replica may come to serve, and where one serves already: then they wait behind those that
// are held. No request waits for a replica that takes no requests, unless the
// specialist is declared to sleep.
func TestRequestsAreHeldForWhatMayCome(t *testing.T) {
	for name, c := range map[string]struct {
		said     fleet.Standing
		left     bool
		none     bool
		coming   bool
		declared bool
		holds    bool
	}{
		"no replica":                         {none: true},
		"no replica yet":                     {none: true, coming: true, holds: true},
		"one serves":                         {said: fleet.Serving, holds: true},
		"one sleeps":                         {said: fleet.Asleep, holds: true},
		"one takes none":                     {said: fleet.Serving, left: true},
		"one takes none, and is declared":    {said: fleet.Serving, left: true, declared: true, holds: true},
		"one takes none, and others do soon": {said: fleet.Serving, left: true, coming: true, holds: true},
	} {
		t.Run(name, func(t *testing.T) {
			member, err := fleet.New().Put(fleet.Spec{Name: "debug-0", Specialist: "debug", URL: "http://10.1.2.3:1",
				Role: fleet.RoleBoth, BlockSize: 16})
			if err != nil {
				t.Fatal(err)
			}
			member.Says(c.said)
			member.SetLeft(c.left)
			all := []Replica{{Member: member, Known: true}}
			if c.none {
				all = nil
			}
			s := newTestSleepers(func() ([]Replica, bool) { return all, c.coming })
			queue := s.Queue("debug", Terms{Hold: time.Minute, Declared: c.declared})
			want := hold.Terms{}
			if c.holds {
				want.For = time.Minute
			}
			if got := queue.Terms(); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}
