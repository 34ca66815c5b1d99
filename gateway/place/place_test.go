package place

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
	"octet/scheduler"
	"octet/scheduler/gate"
)

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// world is one replica with places for two requests, and one in the queue.
func world(t *testing.T) (*fleet.Replica, *gate.Gate) {
	t.Helper()
	member, err := fleet.New().Put(fleet.Spec{Name: "debug-0", Specialist: "debug", URL: "http://10.1.2.3:30000",
		Role: fleet.RoleBoth, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	gate, err := gate.New(gate.Config{Blocks: 64, BlockSize: 16, MaxRunning: 2, MaxWaiting: 1,
		MaxWait: time.Second, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return member, gate
}

// one is a request that begins, and what it does next until it is over.
func one(ctx context.Context, rng *rand.Rand, p *Place) error {
	if err := p.Permit(time.Now()); err != nil {
		return err
	}
	p.Watch(ctx)
	r := gate.Request{PromptTokens: 100, MaxNew: 64, Now: time.Now(), Victim: true, Priority: rng.IntN(3)}
	if _, err := p.Admit(ctx, &r, fleet.Demand{Prompt: 100, Uncached: 50}, wall{}); err != nil {
		return err
	}
	for tokens := 1; tokens < 64; tokens++ {
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		if err := p.Context().Err(); err != nil {
			return p.Cause(err)
		}
		switch rng.IntN(40) {
		case 0:
			return errors.New("the engine failed")
		case 1:
			p.Unwatch()
			if !p.Complete(tokens, 16, time.Now()) {
				return ErrPreempted
			}
			return nil
		case 2:
			held := p.Detach()
			held.Release()
			held.Release()
			return nil
		case 3:
			p.Pin()
		}
		p.Grow(tokens, 0, time.Now())
	}
	p.Vacate(1, time.Now())
	return nil
}

// Whatever becomes of requests, a replica holds nothing of them once they are over. What is given back twice counts
// once.
func TestAPlaceGivesBackWhatItHoldsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		member, gate := world(t)
		ends := map[string]int{}
		for seed := range uint64(300) {
			done := make(chan error)
			for i := range uint64(4) {
				go func() {
					rng := rand.New(rand.NewPCG(seed, i))
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rng.IntN(900))*time.Millisecond)
					defer cancel()
					p := New(member, gate, 16)
					err := one(ctx, rng, &p)
					p.Close(fleet.Cancelled)
					p.Release()
					p.Close(fleet.Cancelled)
					done <- err
				}()
			}
			for range 4 {
				ends[kind(<-done)]++
			}
			if err := gate.Check(); err != nil {
				t.Fatal(err)
			}
			if s := gate.Stats(); s.Running+s.Waiting != 0 || member.InFlight()+member.Backlog()+member.Tokens() != 0 {
				t.Fatalf("%+v; %d in flight, %d to compute, %d tokens", s, member.InFlight(), member.Backlog(),
					member.Tokens())
			}
		}
		for _, want := range []string{"well", "preempted", "refused", "late", "failed"} {
			if ends[want] == 0 {
				t.Errorf("none ended %s: %v", want, ends)
			}
		}
	})
}

func kind(err error) string {
	switch {
	case err == nil:
		return "well"
	case errors.Is(err, ErrPreempted):
		return "preempted"
	case errors.Is(err, scheduler.ErrRefused):
		return "refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "late"
	}
	return "failed"
}

// A request that comes as its replica is put to sleep has no place there, and holds nothing of it.
func TestAPlaceIsGivenBackToAReplicaThatRests(t *testing.T) {
	replica, g := world(t)
	p := New(replica, g, 16)
	p.Watch(t.Context())
	if !replica.Rest() {
		t.Fatal("it does not rest")
	}
	_, err := p.Admit(t.Context(), &gate.Request{ID: "late", PromptTokens: 4, MaxNew: 4, Now: time.Now()},
		fleet.Demand{Prompt: 4}, wall{})
	if !errors.Is(err, ErrAsleep) {
		t.Errorf("got %v", err)
	}
	p.Release()
	if s := g.Stats(); s.Running+s.Used != 0 || !replica.Quiet() {
		t.Errorf("%+v, quiet %t", s, replica.Quiet())
	}
}
