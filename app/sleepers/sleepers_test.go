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

func newTestSleepers(found func() Found) *Sleepers {
	return New(Config{Log: slog.New(slog.DiscardHandler),
		Found: func(string) Found { return found() },
		Run:   func(context.Context, string, []string) error { return nil }})
}

// Terms are put in force while requests have replicas woken, without end: neither waits for the other.
func TestTermsComeWhileReplicasAreWoken(t *testing.T) {
	const often = 50_000
	s := newTestSleepers(func() Found { return Found{} })
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
// are held. No request waits for a replica that takes no requests, unless the specialist is declared to sleep, nor for
// one of a specialist that a reload has removed.
func TestRequestsAreHeldForWhatMayCome(t *testing.T) {
	for name, c := range map[string]struct {
		said     fleet.Standing
		left     bool
		none     bool
		coming   bool
		gone     bool
		declared bool
		program  []string
		holds    bool
	}{
		"no replica":                         {none: true},
		"no replica yet":                     {none: true, coming: true, holds: true},
		"no replica yet, and a program":      {none: true, declared: true, program: []string{"/bin/wake"}, holds: true},
		"there is no such specialist":        {none: true, gone: true, declared: true, program: []string{"/bin/wake"}},
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
			s := newTestSleepers(func() Found { return Found{Replicas: all, Coming: c.coming, Gone: c.gone} })
			queue := s.Queue("debug", Terms{Hold: time.Minute, Declared: c.declared, Argv: c.program})
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
