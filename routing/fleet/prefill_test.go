package fleet_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"octet/routing/fleet"
)

// begin sends a prompt of so many uncached tokens at now.
func begin(r *fleet.Replica, tokens int, whole bool, now time.Time) *fleet.Flight {
	f := r.Route(fleet.Demand{Prompt: tokens, Uncached: tokens, Whole: whole})
	f.Begin(now)
	return &f
}

// measured gives r a rate of 1000 tokens a second.
func measured(r *fleet.Replica, now time.Time) time.Time {
	for range 8 {
		f := begin(r, 1000, false, now)
		now = now.Add(time.Second)
		f.FirstToken(now)
		f.Land()
	}
	return now
}

func wantWork(t *testing.T, r *fleet.Replica, now time.Time, tokens, rate float64) {
	t.Helper()
	if w := r.Work(now); math.Abs(w.Tokens-tokens) > 1e-6 || math.Abs(w.Rate-rate) > 1e-6 {
		t.Fatalf("work %+v, want %v tokens at %v", w, tokens, rate)
	}
}

func TestWorkShrinksWhileItIsDone(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(100, 0)
	wantWork(t, r, now, 0, 0)
	first := begin(r, 4000, false, now)
	wantWork(t, r, now.Add(time.Hour), 4000, 0) // its rate is not known
	first.Land()

	now = measured(r, now)
	wantWork(t, r, now, 0, 1000)
	long, short := begin(r, 5000, false, now), begin(r, 200, false, now)
	queued := r.Route(fleet.Demand{Prompt: 300, Uncached: 300}) // waits for its place: no engine works on it
	wantWork(t, r, now, 5500, 1000)
	wantWork(t, r, now.Add(3*time.Second), 2500, 1000)
	wantWork(t, r, now.Add(5100*time.Millisecond), 500, 1000) // the next one has not begun: long's token is not here
	wantWork(t, r, now.Add(time.Minute), 500, 1000)
	wantWork(t, r, now.Add(-time.Minute), 5500, 1000) // a clock that went back

	now = now.Add(5 * time.Second)
	long.FirstToken(now)
	wantWork(t, r, now, 500, 1000) // what comes behind begins now
	queued.Begin(now)
	short.Land() // cancelled: the next begins with what time there was
	wantWork(t, r, now.Add(100*time.Millisecond), 200, 1000)
	queued.Land()
	queued.Land()
	long.Land()
	wantWork(t, r, now, 0, 1000)
}

// An answer that comes whole shows no first token: its prompt is over with its time, or with the first token of a later
// one.
func TestAPromptWhoseFirstTokenNobodySeesIsNotWaitedFor(t *testing.T) {
	_, all := filled(t, 1)
	r := all[0]
	now := measured(r, time.Unix(0, 0))
	whole := begin(r, 2000, true, now)
	wantWork(t, r, now.Add(time.Second), 1000, 1000)
	wantWork(t, r, now.Add(time.Minute), 0, 1000)
	streamed := begin(r, 1000, false, now)
	now = now.Add(3 * time.Second)
	streamed.FirstToken(now) // 3000 tokens in 3 seconds: the rate holds
	wantWork(t, r, now, 0, 1000)
	behind := begin(r, 500, false, now)
	wantWork(t, r, now, 500, 1000)
	whole.Land()
	streamed.Land()
	behind.Land()
	wantWork(t, r, now, 0, 1000)
}

// oldWork is work told in the plainest way: what is open, in order of Begin, less what one engine did since its head
// began.
type oldWork struct {
	sent, queued []*sentPrompt
	since        time.Time
}

type sentPrompt struct {
	flight fleet.Flight
	tokens int
}

func (o *oldWork) at(now time.Time, rate float64) (sum float64) {
	done := rate * max(0, now.Sub(o.since).Seconds())
	for _, p := range o.sent {
		did := min(done, float64(p.tokens))
		sum, done = sum+float64(p.tokens)-did, 0 // none after it has begun
	}
	for _, p := range o.queued {
		sum += float64(p.tokens)
	}
	return sum
}

func TestWorkIsThatOfAPlainList(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 7))
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	var o oldWork
	for range 20000 {
		now = now.Add(time.Duration(draw.IntN(int(300 * time.Millisecond))))
		switch n := draw.IntN(4); {
		case n == 0 && len(o.queued)+len(o.sent) < 12:
			p := &sentPrompt{tokens: draw.IntN(3000)}
			if draw.IntN(2) == 0 { // finds a place at once
				r.Start(&p.flight, fleet.Demand{Prompt: 3000, Uncached: p.tokens}, now)
				if len(o.sent) == 0 {
					o.since = now
				}
				o.sent = append(o.sent, p)
				break
			}
			p.flight = r.Route(fleet.Demand{Prompt: 3000, Uncached: p.tokens})
			o.queued = append(o.queued, p)
		case n == 1 && len(o.queued) > 0:
			i := draw.IntN(len(o.queued))
			p := o.queued[i]
			o.queued = append(o.queued[:i:i], o.queued[i+1:]...)
			p.flight.Begin(now)
			if len(o.sent) == 0 {
				o.since = now
			}
			o.sent = append(o.sent, p)
		case n >= 2 && len(o.sent) > 0:
			i := draw.IntN(len(o.sent))
			p := o.sent[i]
			o.sent = append(o.sent[:i:i], o.sent[i+1:]...)
			if n == 2 {
				p.flight.FirstToken(now)
				o.since = now
			}
			p.flight.Land()
		}
		w := r.Work(now)
		if want := o.at(now, w.Rate); math.Abs(w.Tokens-want) > 1e-6 {
			t.Fatalf("work %v, want %v", w.Tokens, want)
		}
	}
}

// What every prompt takes, however short, is not put down to its tokens: a replica that mostly answers from its cache
// is not slow.
func TestTheRateIsThatOfTokensAlone(t *testing.T) {
	_, all := filled(t, 1)
	r, now := all[0], time.Unix(0, 0)
	for i := range 64 {
		tokens := 10
		if i%8 == 0 {
			tokens = 2000
		}
		f := begin(r, tokens, false, now)
		now = now.Add(50*time.Millisecond + time.Duration(tokens)*time.Millisecond)
		f.FirstToken(now)
		f.Land()
	}
	wantWork(t, r, now, 0, 1000)
}

// An engine that computes other gateways' prompts too is as fast as it is, and computes ours behind what was there.
func TestTheRateIsTheEnginesBesideOtherGateways(t *testing.T) {
	_, all := filled(t, 1)
	r, now, dice := all[0], time.Unix(0, 0), rand.New(rand.NewPCG(1, 1))
	tokens := func() int { return 100 * (2 + dice.IntN(30)) } // of which the engine computes 1000 a second
	after := func(n int) time.Time { return now.Add(time.Duration(n) * time.Millisecond) }
	for round := range 40 {
		others, own := tokens(), tokens()
		r.Beside(fleet.Beside{Running: 1, Backlog: others, Left: others})
		now = after(100)
		r.Beside(fleet.Beside{Running: 1, Backlog: others, Left: others - 100})
		f := begin(r, own, false, now)
		if round > 8 {
			wantWork(t, r, now, float64(others-100+own), 1000)
		}
		if got := r.Remaining(after(others - 100)); round > 8 && got != own {
			t.Fatalf("%d of %d tokens are left before the engine begins with them", got, own)
		}
		now = after(others - 100)
		r.Beside(fleet.Beside{})
		if got := r.Remaining(after(own / 2)); round > 8 && got != own-own/2 {
			t.Fatalf("%d of %d tokens are left when half is computed", got, own)
		}
		now = after(own)
		f.FirstToken(now)
		f.Land()
	}
	wantWork(t, r, now, 0, 1000)
	now = measured(r, now) // alone again, it is measured as before
	wantWork(t, r, now, 0, 1000)
}
