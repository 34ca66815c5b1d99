package plugins_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// at returns a request of so many tokens at now, of which replica h holds depths[h] blocks of 4.
func at(now time.Time, tokens int, depths ...uint16) given {
	return given{facts: routing.Facts{Now: now}, tokens: tokens, blocks: tokens / 4, depths: depths}
}

// Of three replicas the first holds most and waits longest, the second is twice as fast, the third is idle.
func TestConductorForetellsTheFirstToken(t *testing.T) {
	w, now := newWorld(t, 3), time.Unix(1000, 0)
	for h, rate := range []int{100, 200, 100} {
		w.paced(index.HostID(h), rate, now)
	}
	w.sent(0, 300, now)
	w.sent(1, 100, now)
	got := w.rated("conductor", nil, at(now, 400, 75, 50, 0))
	want := []float64{1 / (1 + (300.+100)/100), 1 / (1 + (100.+200)/200), 1 / (1 + 400./100)}
	if !near(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

// A replica without a measured rate has the mean of those that are known, the assumed one where none is.
func TestConductorLendsRates(t *testing.T) {
	w, now := newWorld(t, 3), time.Unix(1000, 0)
	params := map[string]any{"assumed_rate": 50}
	if got := w.rated("conductor", params, at(now, 100, 0, 0, 0)); !near(got, []float64{1. / 3, 1. / 3, 1. / 3}) {
		t.Errorf("unmeasured: %v", got)
	}
	w.paced(0, 100, now)
	w.paced(1, 300, now)
	if got := w.rated("conductor", params, at(now, 600, 0, 0, 0)); !near(got, []float64{1. / 7, 1. / 3, 1. / 4}) {
		t.Errorf("one of three unmeasured: %v", got)
	}
}

// Costs of (0 + 28) × 4, (100 + 100) × 1 and (50 + 12) × 2.
func TestLMetricMultipliesPrefillByRequests(t *testing.T) {
	w, now := newWorld(t, 3), time.Unix(1000, 0)
	w.load(0, fleet.Load{InFlight: 3})
	w.busy(1, 25, 25) // on its way: queued, not in flight
	w.sent(2, 50, now)
	got := w.rated("lmetric", nil, at(now, 100, 18, 0, 22))
	costs := []float64{28 * 4, 100 + 100, (50 + 12) * 2}
	want := []float64{1, 0, (costs[1] - costs[2]) / (costs[1] - costs[0])}
	if !near(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

// E2's table: what is cached decides above a half of the prompt, the load of the window below.
func TestPrebleExploitsAboveAHalf(t *testing.T) {
	w, now := newWorld(t, 3), time.Unix(1000, 0)
	for h := range index.HostID(3) {
		w.paced(h, 100, now)
	}
	for _, test := range []struct {
		about string
		g     given
		want  index.HostID
	}{
		{"nothing cached, equal loads", at(now, 400, 0, 0, 0), 0},
		{"half: explored, least to compute", at(now, 400, 0, 50, 20), 1},
		{"over a half at one", at(now, 400, 0, 20, 51), 2},
		{"over a half at two, equal", at(now, 400, 0, 60, 60), 1},
	} {
		w.pickBy("preble-e2", nil, test.g, test.about, test.want)
	}
}

// pickBy checks which replica a scorer, made anew, rates best.
func (w *world) pickBy(scorer string, params map[string]any, g given, about string, want index.HostID) {
	w.t.Helper()
	best, got := 0.0, index.HostID(0)
	for h, s := range w.rated(scorer, params, g) {
		if s > best {
			best, got = s, index.HostID(h)
		}
	}
	if got != want {
		w.t.Errorf("%s: %d is picked, want %d", about, got, want)
	}
}

// prebles is E2 over requests one after the other, which it learns from.
type prebles struct {
	*world
	profile *routing.Profile
}

// ask routes a request and returns the scores.
func (p prebles) ask(g given) (scores []float64) {
	p.t.Helper()
	c := p.request(g.facts)
	g.put(c)
	c.EnableTrace(func() time.Duration { return 0 })
	if _, err := p.profile.Select(p.t.Context(), c); err != nil {
		p.t.Fatal(err)
	}
	for _, cand := range c.Trace().Candidates {
		scores = append(scores, cand.Scores[0].Raw)
	}
	return scores
}

func (w *world) prebles(params map[string]any) prebles {
	w.t.Helper()
	p, err := routing.Build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
		Given: append(given{depths: []uint16{}, tokens: 1}.put(w.request(routing.Facts{})), plugins.Fleet),
		Score: []routing.WeightedSpec{{Weight: 1,
			PluginSpec: routing.PluginSpec{Name: "preble-e2", Params: params}}}}, plugins.Registry(w.deps))
	if err != nil {
		w.t.Fatal(err)
	}
	return prebles{w, p}
}

// The load is what was sent within the window, by hand: 4 s, then 1 s, then what is left of both.
func TestPrebleWeighsTheWindow(t *testing.T) {
	w, now := newWorld(t, 2), time.Unix(1800, 0)
	w.paced(0, 100, now)
	w.paced(1, 100, now)
	p := w.prebles(map[string]any{"window_s": 180})
	check := func(g given, want ...float64) {
		t.Helper()
		if got := p.ask(g); !near(got, want) {
			t.Errorf("%v: %v, want %v", g.facts.Now.Unix(), got, want)
		}
	}
	dry := at(now, 100, 0, 0)
	dry.facts.Dry = true
	check(dry, 0.5/2, 0.5/2)
	check(at(now, 400, 0, 0), 0.5/5, 0.5/5)                      // 4 s to the first
	check(at(now, 100, 0, 0), 0.5/6, 0.5/2)                      // 1 s to the second
	check(at(now.Add(100*time.Second), 200, 0, 0), 0.5/7, 0.5/4) // 2 s more to the second
	check(at(now.Add(190*time.Second), 100, 0, 0), 0.5/2, 0.5/4) // the first two are out of the window
	check(at(now.Add(200*time.Second), 100, 13, 13), 0.5+0.25/2, 0.5+0.25/3)
}

// What a prompt drives out of a full pool costs the share of it that is likely to be asked for again.
func TestPrebleChargesEvictions(t *testing.T) {
	w, now := newWorld(t, 0), time.Unix(1800, 0)
	for h := range index.HostID(2) {
		w.put(fleet.Spec{Host: h, HasEvents: true, Blocks: 100})
		w.paced(h, 100, now)
	}
	p := w.prebles(map[string]any{"imbalance": 1e6})
	p.ask(at(now, 360, 0, 0))  // 90 blocks and 3.6 s to the first
	p.ask(at(now, 360, 0, 0))  // to the second
	p.ask(at(now, 360, 89, 0)) // hits: 356 of 720 tokens at the first, 91 blocks filled
	got := p.ask(at(now, 40, 0, 0))
	// 10 blocks: one too many at the first; none at the second
	want := []float64{0.5 / (1 + 3.64 + 0.04*356/720 + 0.4), 0.5 / (1 + 3.6 + 0.4)}
	if !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A replica whose load exceeds twice what the lightest would have gives the next request away, though it holds it all.
func TestPrebleRelievesTheHeaviest(t *testing.T) {
	w, now := newWorld(t, 2), time.Unix(1800, 0)
	w.paced(0, 100, now)
	w.paced(1, 100, now)
	p := w.prebles(nil)
	p.ask(at(now, 400, 0, 0)) // 4 s to the first
	if got := p.ask(at(now, 200, 50, 0)); got[0] < got[1] {
		t.Errorf("4 s is twice 0 + 2 s: %v", got)
	}
	if got := p.ask(at(now, 160, 40, 0)); got[1] != 1 {
		t.Errorf("4.01 s is more than twice 0 + 1.6 s: %v", got)
	}
}

// A longer queue or less cache at one replica never makes any of these rules rate it higher.
func TestRulesOfOtherRoutersAreMonotone(t *testing.T) {
	draw := rand.New(rand.NewPCG(31, 32))
	for range 200 {
		n, now := 2+draw.IntN(6), time.Unix(1000, 0)
		w := newWorld(t, n)
		g := at(now, 40+draw.IntN(400))
		for h := range index.HostID(n) {
			w.paced(h, 50+draw.IntN(200), now)
			w.sent(h, draw.IntN(500), now)
			w.busy(h, draw.IntN(30), 30)
			g.depths = append(g.depths, uint16(draw.IntN(g.blocks+1)))
		}
		h := index.HostID(draw.IntN(n))
		for _, rule := range []string{"conductor", "lmetric", "preble-e2"} {
			before := w.rated(rule, nil, g)[h]
			more := g
			more.depths = append([]uint16(nil), g.depths...)
			more.depths[h] = uint16(min(int(g.depths[h])+1+draw.IntN(20), g.blocks))
			if after := w.rated(rule, nil, more)[h]; after < before-1e-12 {
				t.Fatalf("%s: %v with %d blocks, %v with %d", rule, before, g.depths[h], after, more.depths[h])
			}
			w.sent(h, 1+draw.IntN(300), now)
			if after := w.rated(rule, nil, g)[h]; after > before+1e-12 {
				t.Fatalf("%s: %v, %v behind a longer queue", rule, before, after)
			}
		}
	}
}

// Half of the prompt is not more than what is to be computed: a replica with a load is left alone for it.
func TestPrebleExploresAtAHalf(t *testing.T) {
	w, now := newWorld(t, 2), time.Unix(1800, 0)
	w.paced(0, 100, now)
	w.paced(1, 100, now)
	p := w.prebles(nil)
	p.ask(at(now, 400, 0, 0)) // 4 s to the first
	if got := p.ask(at(now, 400, 50, 0)); !near(got, []float64{0.5 / 7, 0.5 / 5}) {
		t.Errorf("half: %v", got)
	}
	if got := p.ask(at(now, 396, 50, 0)); got[0] <= 0.5 {
		t.Errorf("over a half: %v", got)
	}
}

// A request's load is its prefill, and the decode of an answer of the assumed length at the replica's pace.
func TestPrebleCountsDecoding(t *testing.T) {
	w, now := newWorld(t, 2), time.Unix(1800, 0)
	for h := range index.HostID(2) {
		w.paced(h, 100, now)
	}
	for range 40 { // a tenth of a second between tokens
		f := w.replica(0).Route(fleet.Demand{Prompt: 1})
		f.Begin(now)
		f.FirstToken(now)
		f.Grow(11, now.Add(time.Second))
		f.Land()
	}
	itl, rate := w.replica(0).Pace().ITL, w.replica(0).Work(now).Rate
	p := w.prebles(map[string]any{"answer_tokens": 50})
	p.ask(at(now, 200, 50, 0)) // all of it cached at the first: one token to compute
	got := p.ask(at(now, 40, 0, 0))
	if want := 0.5 / (1 + 1/rate + 50*itl + 40/rate); itl < 0.09 || !near(got[:1], []float64{want}) {
		t.Errorf("score %v, want %v; %v s between tokens", got[0], want, itl)
	}
}

// What was sent to a replica is no load of the next one in its slot.
func TestPrebleForgetsAReplicaThatLeft(t *testing.T) {
	w, now := newWorld(t, 2), time.Unix(1800, 0)
	p := w.prebles(map[string]any{"assumed_rate": 100})
	p.ask(at(now, 400, 0, 0))
	if got := p.ask(at(now, 100, 0, 0)); got[0] >= got[1] {
		t.Errorf("4 s were sent to the first: %v", got)
	}
	other := fleet.Spec{Name: "other", Specialist: "debug", BlockSize: 4, HasEvents: true}
	if _, err := w.fleet.Put(other); !w.fleet.Remove("debug-0") || err == nil {
		t.Fatal("the slot was free")
	}
	if _, err := w.fleet.Put(other); err != nil {
		t.Fatal(err)
	}
	if got := p.ask(at(now, 100, 0, 0)); !near(got, []float64{0.5 / 2, 0.5 / 3}) {
		t.Errorf("the next one in its slot has none, the second has 1 s: %v", got)
	}
}
