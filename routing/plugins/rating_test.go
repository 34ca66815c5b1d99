package plugins_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"octet/adapters"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

func inFlightLoad() []routing.PluginSpec { return []routing.PluginSpec{{Name: "in-flight-load"}} }

// tokens has a replica carry requests of so many tokens.
func (w *world) tokens(h index.HostID, n int) {
	f := w.replica(h).Route(fleet.Demand{Prompt: n})
	w.t.Cleanup(f.Land)
}

// GAIE-23. EPP's cases.
//
//nolint:lll // raw text that cannot be broken
func TestTokenLoadRatesTokensInFlight(t *testing.T) {
	limit := map[string]any{"threshold_tokens": 1000}
	for _, test := range []struct {
		inFlight []int
		prompt   int
		want     []float64
	}{
		{[]int{0, 500, 1000}, 0, []float64{1, 0.5, 0}},
		{[]int{0, 250, 750}, 250, []float64{0.75, 0.5, 0}},
		{[]int{0, 0, 5000}, 0, []float64{1, 1, 0}},
	} {
		w := newWorld(t, 3)
		for h, n := range test.inFlight {
			w.tokens(index.HostID(h), n)
		}
		if got := w.rated("token-load-scorer", limit, given{tokens: test.prompt}, inFlightLoad()...); !near(got, test.want) {
			t.Errorf("%v and %d: %v, want %v", test.inFlight, test.prompt, got, test.want)
		}
	}
	w := newWorld(t, 2) // blocks of 4 tokens: of 100, the first replica holds 80
	if got := w.rated("token-load", limit, given{tokens: 100, depths: []uint16{20, 0}, blocks: 25}, inFlightLoad()...); !near(got, []float64{0.98, 0.9}) {
		t.Errorf("what is held does not count: %v", got)
	}
}

// GAIE-19. EPP's case.
//
//nolint:lll // raw text that cannot be broken
func TestLoRAAffinityPrefersWhoHasTheAdapterThenWhoHasRoom(t *testing.T) {
	w := newWorld(t, 6)
	for h, said := range []fleet.Reported{
		{MaxAdapters: 5, RunningAdapters: []string{"m1"}},
		{MaxAdapters: 5, RunningAdapters: []string{"m2"}, WaitingAdapters: []string{"m1"}},
		{MaxAdapters: 2, RunningAdapters: []string{"m2"}},
		{MaxAdapters: 2, RunningAdapters: []string{"m3"}, WaitingAdapters: []string{"m1"}},
		{MaxAdapters: 2, RunningAdapters: []string{"m4", "m5"}},
	} {
		said.HasAdapters = true
		w.replica(index.HostID(h)).Reports(&said)
	}
	want := routing.Facts{Adapter: "m1"}
	if got := w.rated("lora-affinity-scorer", nil, given{facts: want}); !near(got, []float64{1, 0.8, 0.8, 0.6, 0, 0.8}) {
		t.Errorf("%v", got)
	}
	if got := w.rated("lora-affinity", nil, given{}); !near(got, []float64{1, 1, 1, 1, 1, 1}) {
		t.Errorf("without an adapter: %v", got)
	}
	loaded := adapters.NewResidency(adapters.Bounds{})
	if err := loaded.Replace(4, []string{"m1"}); err != nil {
		t.Fatal(err)
	}
	w.deps.Resident = loaded
	if got := w.rated("lora-affinity", nil, given{facts: want}); got[4] != 1 {
		t.Errorf("loaded and idle: %v", got)
	}
}

// GAIE-18
//
//nolint:lll // raw text that cannot be broken
func TestLatencyRatesHeadroom(t *testing.T) {
	w := newWorld(t, 4)
	forecasts := []plugins.Forecast{{TTFT: 0.1, Known: true}, {TTFT: 0.3, Known: true}, {TTFT: 0.2, Known: true}, {}}
	ttft := map[string]any{"ttft_weight": 1, "itl_weight": 0}
	if got := w.rated("latency-scorer", ttft, given{forecasts: forecasts}); !near(got, []float64{1, 0, 0.5, 0.5}) {
		t.Errorf("without a deadline the quickest is best: %v", got)
	}
	wants := routing.Facts{TTFT: 250 * time.Millisecond}
	if got := w.rated("latency-headroom", ttft, given{facts: wants, forecasts: forecasts}); !near(got, []float64{1, 0, 0.5, 0.5}) {
		t.Errorf("most headroom: %v", got)
	}
	ttft["strategy"] = "least"
	if got := w.rated("latency-headroom", ttft, given{facts: wants, forecasts: forecasts}); !near(got, []float64{0.5, 0, 0.75, 1.25 / 3}) {
		t.Errorf("least headroom, those in time first: %v", got)
	}
	two := []plugins.Forecast{{TTFT: 0.1, ITL: 0.03, Known: true}, {TTFT: 0.2, ITL: 0.01, Known: true},
		{TTFT: 0.2, ITL: 0.03, Known: true}, {TTFT: 0.1, ITL: 0.01, Known: true}}
	if got := w.rated("latency-headroom", nil, given{forecasts: two}); !near(got, []float64{0.8, 0.2, 0, 1}) {
		t.Errorf("both kinds: %v", got)
	}
	if got := w.rated("latency-headroom", nil, given{forecasts: make([]plugins.Forecast, 4)}); !near(got, []float64{1, 1, 1, 1}) {
		t.Errorf("nothing is foretold: %v", got)
	}
}

// MOD3-10
//
//nolint:lll // raw text that cannot be broken
func TestNodeLocalityRatesDistance(t *testing.T) {
	w := newWorld(t, 4)
	if got := w.rated("node-locality", nil, given{distances: []uint8{0, 1, 2, 3}, levels: 3}); !near(got, []float64{1, 2. / 3, 1. / 3, 0}) {
		t.Errorf("%v", got)
	}
}

//nolint:lll // raw text that cannot be broken
func TestPreemptingPenaltyAndLoadAware(t *testing.T) {
	w := newWorld(t, 3)
	for h, n := range []int{0, 1, 3} {
		w.load(index.HostID(h), fleet.Load{Preempting: n})
	}
	if got := w.rated("preempting-penalty", nil, given{}); !near(got, []float64{1, 0.5, 0.25}) {
		t.Errorf("preempting: %v", got)
	}
	for h, n := range []int{2, 0, 15} { // EPP's case
		w.load(index.HostID(h), fleet.Load{Waiting: n})
	}
	if got := w.rated("load-aware-scorer", map[string]any{"threshold": 10}, given{}); !near(got, []float64{0.4, 0.5, 0}) {
		t.Errorf("load-aware: %v", got)
	}
}

// GAIE-20: EPP's cases of the bonus for length, in blocks of 4 tokens.
//
//nolint:lll // raw text that cannot be broken
func TestCacheAffinityMayRewardLongMatches(t *testing.T) {
	w := newWorld(t, 2)
	bonus := map[string]any{"length_weight": 0.5, "length_scale": 400}
	if got := w.rated("cache-affinity", bonus, given{depths: []uint16{5, 10}, blocks: 10}); !near(got[:1], []float64{0.25125}) {
		t.Errorf("%v", got)
	}
	if got := w.rated("cache-affinity", bonus, given{depths: []uint16{50, 0}, blocks: 100}); !near(got, []float64{0.375, 0}) {
		t.Errorf("%v", got)
	}
}

// GAIE-26
func TestSessionAffinityRatesWhereTheSessionWentLast(t *testing.T) {
	w := newWorld(t, 3)
	p := w.build(routing.ProfileSpec{Name: "p", Prepare: []routing.PluginSpec{{Name: "session-key"}},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "session-affinity"}, Weight: 2},
			{PluginSpec: routing.PluginSpec{Name: "least-load"}, Weight: 1}},
		Pick: routing.PluginSpec{Name: "max-score"}})
	acme, other := routing.Facts{Tenant: "acme", Session: "s"}, routing.Facts{Tenant: "other", Session: "s"}
	w.load(0, fleet.Load{InFlight: 5})
	dry := acme
	dry.Dry = true
	if w.pick(p, dry)[0] != 1 || w.pick(p, acme)[0] != 1 {
		t.Fatal("the least loaded is not the first")
	}
	w.load(0, fleet.Load{})
	w.load(1, fleet.Load{InFlight: 5})
	if got := w.pick(p, acme)[0]; got != 1 {
		t.Errorf("the session moved to %d", got)
	}
	if got := w.pick(p, other)[0]; got == 1 {
		t.Error("a session of another tenant is taken for this one")
	}
	if got := w.pick(p, routing.Facts{Tenant: "acme"})[0]; got == 1 {
		t.Error("a request without a session is sticky")
	}
	w.fleet.Remove("debug-1")
	if _, err := w.fleet.Put(fleet.Spec{Name: "another", Specialist: "debug", Host: 1, BlockSize: 4}); err != nil {
		t.Fatal(err)
	}
	w.load(1, fleet.Load{InFlight: 5})
	if got := w.pick(p, acme)[0]; got == 1 {
		t.Error("whoever has the slot by now is taken for the session's replica")
	}
}

// GAIE-27, GAIE-28. Deviation from the EPP: those never used are equals, which it ranks as they come.
func TestNoHitLRUSpreadsColdRequests(t *testing.T) {
	w := newWorld(t, 3)
	p, err := routing.Build(routing.ProfileSpec{Name: "p",
		Given: []routing.AnySlot{plugins.Fleet, plugins.Depths, plugins.BlockHashes},
		Pick:  routing.PluginSpec{Name: "max-score"},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "no-hit-lru"}, Weight: 1}}},
		plugins.Registry(w.deps))
	if err != nil {
		t.Fatal(err)
	}
	pick := func(g given) (ranked []index.HostID, best float64) {
		c := w.request(g.facts)
		g.put(c)
		d, err := p.Select(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Ranked {
			ranked = append(ranked, s.Host)
		}
		return ranked, d.Ranked[0].Score
	}
	cold := given{depths: []uint16{0, 0, 0}, blocks: 4}
	for i := range index.HostID(9) {
		if got, _ := pick(cold); got[0] != i%3 {
			t.Errorf("cold request %d goes to %v", i, got)
		}
		warm := given{depths: []uint16{0, 1, 0}, blocks: 4}
		if got, score := pick(warm); got[0] != 0 || score != 0.5 {
			t.Errorf("a request that hits: %v, %g", got, score)
		}
		dry := cold
		dry.facts.Dry = true
		pick(dry)
	}
}

// DYN-15, DYN-16, DYN-18
func TestDeviceAwareChoosesTheClassThenTheLeastLoaded(t *testing.T) {
	w := newWorld(t, 0)
	for h, device := range []string{"cpu", "cpu", "gpu", "gpu"} {
		w.put(fleet.Spec{Host: index.HostID(h), Labels: map[string]string{"device": device}})
	}
	p := w.build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "device-aware-weighted",
			Params: map[string]any{"cpu_ratio": 4}}, Weight: 1}}})
	for _, test := range []struct {
		loads []int
		want  []index.HostID
	}{
		{[]int{1, 3, 7, 5}, []index.HostID{3, 2, 0, 1}}, // 4 over 2 is 2; 12 over 2 × 4 is 1.5
		{[]int{1, 1, 7, 9}, []index.HostID{0, 1, 2, 3}}, // 1 against 2
		{[]int{0, 0, 0, 0}, []index.HostID{0, 1, 2, 3}}, // equal: by name
	} {
		for h, n := range test.loads {
			w.load(index.HostID(h), fleet.Load{InFlight: n})
		}
		got := w.pick(p, routing.Facts{})
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("loads %v: %v, want %v", test.loads, got, test.want)
				break
			}
		}
	}
	w.put(fleet.Spec{Host: 4, Labels: map[string]string{"device": "gpu"}})
	for h, n := range []int{1, 2, 4, 4, 4} { // 3 over 2 is 1.5; 12 over 3 × 4 is 1
		w.load(index.HostID(h), fleet.Load{InFlight: n})
	}
	if got := w.pick(p, routing.Facts{})[0]; got != 2 {
		t.Errorf("a larger class: %d", got)
	}
	same := newWorld(t, 4)
	draw := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		for h := range index.HostID(4) {
			same.load(h, fleet.Load{InFlight: draw.IntN(5), Waiting: draw.IntN(5), Preempting: draw.IntN(2)})
		}
		a := same.pick(same.preset("least-load"), routing.Facts{})
		b := same.pick(same.preset("device-aware"), routing.Facts{})
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("one class: least-load %v, device-aware %v", a, b)
			}
		}
	}
}

// DYN-15: a class is as loaded as what waits at it makes it, and all devices but cpus are one class.
func TestDeviceAwareCountsWhatWaits(t *testing.T) {
	w := newWorld(t, 0)
	for h, device := range []string{"cpu", "cuda", "rocm", ""} {
		w.put(fleet.Spec{Host: index.HostID(h), Labels: map[string]string{"device": device}})
	}
	for _, test := range []struct {
		waiting [4]int // beside 9 in flight at the cpu and 64 at each other
		want    index.HostID
	}{
		{[4]int{0, 0, 0, 0}, 1},  // 192 over 3 × 8 is 8, against 9
		{[4]int{0, 9, 9, 9}, 0},  // 219 over 24 is 9.1: full, and with a queue
		{[4]int{2, 9, 0, 9}, 2},  // 210 over 24 is 8.8, against 11; the shortest queue of the class
		{[4]int{0, 0, 0, 27}, 0}, // one class: what waits at one counts for all, 219 over 24
	} {
		for h, n := range test.waiting {
			w.load(index.HostID(h), fleet.Load{InFlight: []int{9, 64, 64, 64}[h], Waiting: n})
		}
		if got := w.pick(w.preset("device-aware"), routing.Facts{})[0]; got != test.want {
			t.Errorf("waiting %v: %d, want %d", test.waiting, got, test.want)
		}
	}
}

// DYN-17: requests that never end fill both classes in proportion to what they do.
func TestDeviceAwareDoesNotStarveTheSlowerClass(t *testing.T) {
	w := newWorld(t, 0)
	for h, device := range []string{"cpu", "cpu", "gpu", "gpu"} {
		w.put(fleet.Spec{Host: index.HostID(h), Labels: map[string]string{"device": device}})
	}
	p := w.preset("device-aware")
	got := map[bool]int{}
	for range 900 {
		h := w.pick(p, routing.Facts{})[0]
		w.replica(h).Begin()
		got[h < 2]++
	}
	if ratio := float64(got[false]) / float64(got[true]); math.Abs(ratio-8) > 0.5 {
		t.Errorf("the gpus get %g times what the cpus get, want 8", ratio)
	}
}
