package plugins_test

import (
	"math"
	"math/rand/v2"
	"slices"
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

// over has h sent a prompt of so many uncached tokens, which is cancelled at once.
func (w *world) over(h index.HostID, uncached int, now time.Time) {
	f := w.replica(h).Route(fleet.Demand{Prompt: uncached, Uncached: uncached})
	f.Begin(now)
	f.Land()
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

// habit returns by how much more was sent to each of the first n replicas lately than to the one with least, in
// seconds at the default's tenth: at most what the prompt takes.
func (w *world) habit(n, prompt int, now time.Time) []float64 {
	all := make([]float64, n)
	for h := range all {
		r := w.replica(index.HostID(h))
		work, pace := r.Work(now), r.Pace()
		all[h] = 0.1 * (work.Recent.Tokens/work.Rate + 0.15*work.Recent.Requests*pace.Slowdown)
	}
	least := slices.Min(all)
	for h := range all {
		rate := w.replica(index.HostID(h)).Work(now).Rate
		all[h] = min(all[h]-least, float64(prompt)/rate)
	}
	return all
}

// Of four replicas one holds half the prompt and has a queue, one is twice as fast, and one is only busy with answers,
// of which no pace is known: what the prompt takes holds each of them up.
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
	habit := w.habit(4, 400, now)
	const price = 1 + 2.0/4 // the backlogs are 2, 0, 0 and 0 s
	for h, cost := range []float64{2 + price*2 + 0.15*2, price * 2, price*4 + 0.15*5*4, price * 4} {
		if want := 1 / (1 + cost + habit[h]); math.Abs(got[h]-want) > 1e-9 {
			t.Errorf("replica %d scores %v, want %v", h, got[h], want)
		}
	}
	f.Now = now.Add(time.Second) // half of the queue is done
	again := w.scores("least-work", nil, f, "tokenize", "block-hashes", "prefix-depths")
	if again[0] <= got[0] {
		t.Errorf("a queue that shrinks scores %v, then %v", got[0], again[0])
	}
	params := map[string]any{"own_weight": 0, "backlog_price": 0, "stream_weight": 0, "recent_weight": 0}
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
	check(4, 4+0.1*w.replica(1).Work(f.Now).Recent.Tokens/100)
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

// answered lets h answer alone and four at a time, each of whose 101 tokens takes 5 ms, and 2 ms for each of them; then
// it is idle.
func (w *world) answered(h index.HostID, now time.Time) {
	r := w.replica(h)
	for i := range 16 {
		flights := make([]fleet.Flight, 1+3*(i%2))
		began := now.Add(time.Duration(i-16) * time.Hour)
		for j := range flights {
			r.Start(&flights[j], fleet.Demand{Prompt: 100, Uncached: 100}, began)
		}
		for j := range flights {
			flights[j].FirstToken(began.Add(time.Second))
		}
		for j := range flights {
			flights[j].Grow(101, began.Add(time.Second+100*time.Duration(5+2*len(flights))*time.Millisecond))
		}
		for j := range flights {
			r.Begin()
			flights[j].Land()
		}
		for range flights {
			r.End()
		}
	}
}

// What a request holds up counts for little: five answers in flight, by its tokens' 0.2 s each and by its prompt. What
// it waits for blocks counts in full: 30 of 60 used ones within a mean life. What was sent lately counts for a tenth,
// what its answers slow down for 0.15 of that.
func TestLeastWorkCountsAnswersAndBlocks(t *testing.T) {
	w := &world{t: t, fleet: fleet.New(), holds: map[index.HostID][]kvpool.BlockHash{}}
	w.deps.Index, w.deps.Tiers = w, noTiers{}
	now := time.Unix(1e6, 0)
	for h := range index.HostID(3) {
		w.put(fleet.Spec{Host: h, HasEvents: true, Blocks: 120})
		w.answered(h, now)
		w.paced(h, 100, now)
	}
	f := prompt(strings.Repeat("x", 1440)) // 360 tokens, 90 blocks
	f.Now = now
	w.load(1, fleet.Load{InFlight: 5})
	w.load(2, fleet.Load{KVUsage: 0.5})
	got := w.scores("least-work", nil, f, "tokenize", "block-hashes", "prefix-depths")
	life, slowdown := w.replica(2).Pace().Life, w.replica(1).Pace().Slowdown
	own := 360 / w.replica(0).Work(now).Rate
	if math.Abs(slowdown-0.2) > 0.01 || life <= 1.7 || life >= 2.3 {
		t.Fatalf("slowdown %v, life %v", slowdown, life)
	}
	for h, cost := range []float64{own, own + 5*(0.15*own+0.04*slowdown), own + life*30/60} {
		if want := 1 / (1 + cost + w.habit(3, 360, now)[h]); math.Abs(got[h]-want) > 1e-6 {
			t.Errorf("replica %d scores %v, want %v", h, got[h], want)
		}
	}
}

// A replica that holds more of the prompt, has less to prefill, fewer answers in flight or more free blocks never
// scores lower for it, whatever else is so.
func TestLeastWorkIsMonotone(t *testing.T) {
	draw := rand.New(rand.NewPCG(11, 12))
	now := time.Unix(1e6, 0)
	f := prompt(strings.Repeat("x", 1600))
	f.Now = now
	type state struct{ held, queued, inFlight, waiting, usage, lately int }
	score := func(s, other state) float64 {
		w := &world{t: t, fleet: fleet.New(), holds: map[index.HostID][]kvpool.BlockHash{}}
		w.deps.Index, w.deps.Tiers = w, noTiers{}
		for h, s := range []state{s, other} {
			h := index.HostID(h)
			w.put(fleet.Spec{Host: h, HasEvents: true, Blocks: 1200})
			w.answered(h, now)
			w.paced(h, 100, now)
			w.holds[h] = chainOf(f)[:s.held]
			w.load(h, fleet.Load{InFlight: s.inFlight, Waiting: s.waiting, KVUsage: float64(s.usage) / 100})
			w.over(h, s.lately, now.Add(-5*time.Second))
			w.sent(h, s.queued, now)
		}
		return w.scores("least-work", map[string]any{"backlog_price": 0}, f, "tokenize", "block-hashes",
			"prefix-depths")[0]
	}
	drawn := func() state {
		return state{draw.IntN(90), draw.IntN(5000), draw.IntN(30), draw.IntN(8), draw.IntN(95), draw.IntN(5000)}
	}
	for range 200 {
		s, other := drawn(), drawn()
		got := score(s, other)
		for name, better := range map[string]state{
			"more of the prompt": {s.held + 10, s.queued, s.inFlight, s.waiting, s.usage, s.lately},
			"a shorter queue":    {s.held, s.queued / 2, s.inFlight, s.waiting, s.usage, s.lately},
			"fewer answers":      {s.held, s.queued, s.inFlight / 2, s.waiting, s.usage, s.lately},
			"fewer that wait":    {s.held, s.queued, s.inFlight, s.waiting / 2, s.usage, s.lately},
			"an emptier pool":    {s.held, s.queued, s.inFlight, s.waiting, s.usage / 2, s.lately},
			"less sent lately":   {s.held, s.queued, s.inFlight, s.waiting, s.usage, s.lately / 2},
		} {
			if again := score(better, other); again < got-1e-12 {
				t.Fatalf("%s: %v, then %v: %+v beside %+v", name, got, again, s, other)
			}
		}
	}
}

// Sessions that begin while nothing is in flight are spread by what went where lately, though one replica holds what
// they have in common; a session whose turns are cached there stays.
func TestSessionsBeginWhereLeastWasSentLately(t *testing.T) {
	w := newWorld(t, 2)
	now := time.Unix(1000, 0)
	w.paced(0, 100, now)
	w.paced(1, 100, now)
	f := prompt(strings.Repeat("x", 1600)) // 4 s
	f.Now = now
	w.holds[0] = chainOf(f)[:20]
	if picked := w.pick(w.preset("default"), f)[0]; picked != 0 {
		t.Errorf("what both begin with is cached at 0, picked %d", picked)
	}
	w.over(0, 2000, now) // 20 s of work that is over
	if picked := w.pick(w.preset("default"), f)[0]; picked != 1 {
		t.Errorf("a new session went to %d, beside all others", picked)
	}
	w.holds[0] = chainOf(f)[:90]
	if picked := w.pick(w.preset("default"), f)[0]; picked != 0 {
		t.Errorf("a turn whose session is cached at 0 went to %d", picked)
	}
	w.holds[0] = chainOf(f)[:20]
	f.Now = now.Add(time.Minute)
	if picked := w.pick(w.preset("default"), f)[0]; picked != 0 {
		t.Errorf("a minute later a new session went to %d", picked)
	}
}

// What was sent lately outweighs no more than computing the whole prompt: after a storm the shorter queue decides.
func TestWhatWasSentLatelyIsBounded(t *testing.T) {
	w := newWorld(t, 2)
	now := time.Unix(1000, 0)
	w.paced(0, 100, now)
	w.paced(1, 100, now)
	w.over(0, 1e6, now)
	w.sent(1, 500, now) // 5 s
	f := prompt(strings.Repeat("x", 1600))
	f.Now = now
	if picked := w.pick(w.preset("default"), f)[0]; picked != 0 {
		t.Errorf("a prompt of 4 s waits for 5 s at %d, as an idle replica was busy before", picked)
	}
}

// Waiting for blocks and waiting in the queue go on side by side: the longer one counts.
func TestLeastWorkWaitsOnceForQueueAndBlocks(t *testing.T) {
	w := &world{t: t, fleet: fleet.New(), holds: map[index.HostID][]kvpool.BlockHash{}}
	w.deps.Index, w.deps.Tiers = w, noTiers{}
	now := time.Unix(1e6, 0)
	w.put(fleet.Spec{HasEvents: true, Blocks: 120})
	w.put(fleet.Spec{Host: 1, HasEvents: true, Blocks: 120})
	w.answered(0, now)
	w.paced(0, 100, now)
	f := prompt(strings.Repeat("x", 1440)) // 90 blocks
	f.Now = now
	params := map[string]any{"own_weight": 0, "backlog_price": 0, "recent_weight": 0, "stream_weight": 0,
		"slowdown_weight": 0}
	cost := func(usage float64) float64 {
		w.load(0, fleet.Load{KVUsage: usage})
		return 1/w.scores("least-work", params, f, "tokenize", "block-hashes", "prefix-depths")[0] - 1
	}
	room := cost(0.5)
	if room <= 0 {
		t.Fatal("blocks that are short cost nothing")
	}
	w.sent(0, 1000, now)
	queue := cost(0)
	if both := cost(0.5); queue <= room || both != queue {
		t.Errorf("room %v s, queue %v s, both %v s", room, queue, both)
	}
}

// An engine that takes requests and gives no first token does not come to look idle: what is behind the head is not
// begun, however long it is ago.
func TestAStuckReplicaDoesNotLookIdle(t *testing.T) {
	w := newWorld(t, 2)
	now := time.Unix(1000, 0)
	w.paced(0, 100, now)
	w.paced(1, 100, now)
	f := prompt(strings.Repeat("x", 1600))
	for range 5 {
		w.sent(0, 300, now)
	}
	w.sent(1, 600, now.Add(time.Hour))
	f.Now = now.Add(time.Hour)
	if picked := w.pick(w.preset("default"), f)[0]; picked != 1 {
		t.Errorf("picked %d, which has said nothing for an hour", picked)
	}
}

func chainOf(f routing.Facts) []kvpool.BlockHash {
	h := kvpool.Hasher{}
	return h.TextChain(nil, h.Root("debug", f.Adapter, f.Salt), f.Text(nil), 16)
}
