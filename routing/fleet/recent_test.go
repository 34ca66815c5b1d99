package fleet_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"octet/routing/fleet"
)

// Each prompt counts from when it is sent, and fades alone: as a sum over all of them says.
func TestRecentIsTheFadedSumOfWhatWasSent(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(1000, 0)
	draw := rand.New(rand.NewPCG(3, 4))
	type prompt struct {
		tokens float64
		at     time.Time
	}
	var sent []prompt
	for range 300 {
		now = now.Add(time.Duration(draw.IntN(3000)) * time.Millisecond)
		d := fleet.Demand{Prompt: 5000, Uncached: draw.IntN(5000)}
		queued := r.Route(d) // is not sent, and does not count
		f := r.Route(d)
		f.Begin(now)
		sent = append(sent, prompt{float64(d.Uncached), now})
		if draw.IntN(2) == 0 {
			f.FirstToken(now)
		}
		f.Land()
		now = now.Add(time.Duration(draw.IntN(3000)) * time.Millisecond)
		want := fleet.Recent{}
		for _, p := range sent {
			left := math.Exp(-float64(now.Unix()-p.at.Unix()) / 20)
			want.Tokens, want.Requests = want.Tokens+left*p.tokens, want.Requests+left
		}
		got := r.Work(now).Recent
		if math.Abs(got.Tokens-want.Tokens) > 1e-3*want.Tokens || math.Abs(got.Requests-want.Requests) > 1e-3 {
			t.Fatalf("%+v, want %+v", got, want)
		}
		queued.Land()
	}
	before := r.Work(now).Recent
	if early := r.Work(now.Add(-time.Hour)).Recent; early.Tokens < before.Tokens || math.IsInf(early.Tokens, 0) {
		t.Errorf("a clock that went back: %+v, then %+v", before, early)
	}
	if late := r.Work(now.Add(time.Hour)).Recent; late.Tokens > 1e-9 {
		t.Errorf("an hour later %+v", late)
	}
}

// A request holds blocks from when its prompt is begun: what it waited for before is no part of its life, or each that
// waits would make all the others seem to hold their blocks for longer.
func TestALifeBeginsWithThePrompt(t *testing.T) {
	for _, whole := range []bool{false, true} {
		_, all := filled(t, 1)
		r := all[0]
		now := measured(r, time.Unix(100, 0)) // a second for 1,000 tokens
		var queue []*fleet.Flight
		for range 100 { // each takes a second, and 0.5 s of tokens
			queue = append(queue, begin(r, 1000, whole, now))
		}
		for _, f := range queue {
			now = now.Add(time.Second)
			if !whole {
				f.FirstToken(now)
			}
			f.Grow(11, now.Add(500*time.Millisecond))
			f.Land()
		}
		if life := r.Pace().Life; math.Abs(life-1.5) > 0.05 {
			t.Errorf("whole %v: a life of %v s", whole, life)
		}
	}
}
