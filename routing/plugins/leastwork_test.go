package plugins_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// sent leaves a prompt of so many uncached tokens without a first token at h.
func (w *world) sent(h index.HostID, uncached int, now time.Time) {
	f := w.replica(h).Route(fleet.Demand{Prompt: uncached, Uncached: uncached})
	f.Begin(now)
}

// paced gives h a measured rate of so many tokens a second, and leaves it idle.
func (w *world) paced(h index.HostID, rate int, now time.Time) {
	for i := range 8 {
		f := w.replica(h).Route(fleet.Demand{Prompt: rate, Uncached: rate})
		f.Begin(now.Add(time.Duration(i-8) * time.Second))
		f.FirstToken(now.Add(time.Duration(i-7) * time.Second))
		f.Land()
	}
}

// Of four replicas one holds half the prompt and has a queue, one is twice as fast, and one is only busy with answers.
func TestLeastWorkCountsSeconds(t *testing.T) {
	w := newWorld(t, 4)
	now := time.Unix(1000, 0)
	for h, rate := range []int{100, 200, 100, 100} {
		w.paced(index.HostID(h), rate, now)
	}
	f := prompt(strings.Repeat("x", 1600)) // 400 tokens, 100 blocks of 4
	f.Now = now
	w.holds[0] = chainOf(f)[:50]
	w.sent(0, 200, now)
	w.load(2, fleet.Load{InFlight: 5})
	got := w.scores("least-work", nil, f, "tokenize", "block-hashes", "prefix-depths")
	const price = 1 + 2.0/4 // the backlogs are 2, 0, 0 and 0 s
	for h, cost := range []float64{2 + price*2 + 0.1, price * 2, price*4 + 0.5, price * 4} {
		if want := 1 / (1 + cost); math.Abs(got[h]-want) > 1e-9 {
			t.Errorf("replica %d scores %v, want %v", h, got[h], want)
		}
	}
	f.Now = now.Add(time.Second) // half of the queue is done
	again := w.scores("least-work", nil, f, "tokenize", "block-hashes", "prefix-depths")
	if again[0] <= got[0] {
		t.Errorf("a queue that shrinks scores %v, then %v", got[0], again[0])
	}
	params := map[string]any{"own_weight": 0, "backlog_price": 0, "active_seconds": 0}
	got = w.scores("least-work", params, f, "tokenize", "block-hashes", "prefix-depths")
	for h, want := range []float64{0.5, 1, 1, 1} {
		if math.Abs(got[h]-want) > 1e-9 {
			t.Errorf("by backlog alone replica %d scores %v, want %v", h, got[h], want)
		}
	}
}

func TestLeastWorkLendsRatesToWhoHasNone(t *testing.T) {
	w := newWorld(t, 2)
	f := prompt(strings.Repeat("x", 1600))
	f.Now = time.Unix(1000, 0)
	check := func(want ...float64) {
		t.Helper()
		got := w.scores("least-work", map[string]any{"assumed_rate": 400}, f, "tokenize", "block-hashes",
			"prefix-depths")
		for h, cost := range want {
			if math.Abs(got[h]-1/(1+cost)) > 1e-9 {
				t.Errorf("replica %d scores %v, want %v", h, got[h], 1/(1+cost))
			}
		}
	}
	check(1, 1)
	w.paced(1, 100, f.Now)
	check(4, 4)
}

// The busier the fleet, the more a second of work costs: an idle one sends a prompt where it starts at once, a crowded
// one where half of it is held, though the queue there is longer by the same second.
func TestLeastWorkPaysMoreForReuseWhenAllAreBusy(t *testing.T) {
	for _, queue := range []int{0, 3000} {
		w := newWorld(t, 4)
		now := time.Unix(1000, 0)
		f := prompt(strings.Repeat("x", 1600))
		f.Now = now
		w.holds[0] = chainOf(f)[:50]
		for h := range index.HostID(4) {
			w.paced(h, 100, now)
			if queue > 0 {
				w.sent(h, queue, now)
			}
		}
		w.sent(0, 700, now) // 7 s longer, 2 s less to compute
		first := w.pick(w.preset("default"), f)[0]
		if crowded := queue > 0; crowded != (first == 0) {
			t.Errorf("with %d tokens everywhere: picked %d", queue, first)
		}
	}
}

func chainOf(f routing.Facts) []kvpool.BlockHash {
	h := kvpool.Hasher{}
	return h.TextChain(nil, h.Root("debug", f.Adapter, f.Salt), f.Text(nil), 16)
}
