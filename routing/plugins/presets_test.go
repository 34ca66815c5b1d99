package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

func TestEveryPresetIsBuiltAndRuns(t *testing.T) {
	for _, name := range plugins.Presets() {
		for _, admission := range []bool{false, true} {
			for n := 1; n <= 2; n++ {
				w := newWorld(t, n)
				spec, ok := plugins.Preset(name)
				if !ok {
					t.Fatalf("%s is listed and unknown", name)
				}
				p, err := routing.Build(plugins.Complete(spec, admission), plugins.Registry(w.deps))
				if err != nil {
					t.Fatalf("%s:\n%v", name, err)
				}
				asked := prompt(strings.Repeat("x", 100))
				if name == "direct" {
					asked.Replica = "debug-0"
				}
				c := w.request(asked)
				d, err := p.Select(t.Context(), c)
				if err != nil || len(d.Ranked) != n && name != "direct" {
					t.Errorf("%s: %+v, %v", name, d, err)
				}
				if admission && (len(plugins.BlockHashes.Get(c.View())) != 6 ||
					plugins.PromptTokens.Get(c.View()) != 25) {
					t.Errorf("%s with %d replicas: admission gets %d blocks, %d tokens", name, n,
						len(plugins.BlockHashes.Get(c.View())), plugins.PromptTokens.Get(c.View()))
				}
				if !admission && n == 1 && plugins.BlockHashes.Has(c.View()) {
					t.Errorf("%s hashes for a single replica that nobody admits to by blocks", name)
				}
			}
		}
	}
	if _, ok := plugins.Preset("fastest"); ok {
		t.Error("there is a preset called fastest")
	}
}

func TestCompletePutsMissingPreparersWhereTheyBelong(t *testing.T) {
	for name, test := range map[string]struct {
		prepare []string
		want    string
	}{
		"none":            {nil, "tokenize block-hashes"},
		"only tokenize":   {[]string{"session", "tokenize", "other"}, "session tokenize block-hashes other"},
		"all":             {[]string{"tokenize", "block-hashes"}, "tokenize block-hashes"},
		"others":          {[]string{"session"}, "tokenize block-hashes session"},
		"hashes, no more": {[]string{"block-hashes"}, "block-hashes"}, // for Build to refuse
	} {
		var spec routing.ProfileSpec
		for _, p := range test.prepare {
			spec.Prepare = append(spec.Prepare, routing.PluginSpec{Name: p})
		}
		before := len(spec.Prepare)
		var got []string
		for _, p := range plugins.Complete(spec, true).Prepare {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != test.want || len(spec.Prepare) != before {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEveryRegistryNameMakesAPlugin(t *testing.T) {
	w := newWorld(t, 1)
	for name, factory := range plugins.Registry(w.deps) {
		p := factory(&routing.Params{})
		if _, ok := plugins.Registry(w.deps)[p.Name()]; !ok {
			t.Errorf("%s makes %q, which is no name of the registry", name, p.Name())
		}
	}
}

func TestWrongParametersAreFaults(t *testing.T) {
	_, err := routing.Build(routing.ProfileSpec{Name: "p",
		Filter: []routing.PluginSpec{{Name: "concurrency", Params: map[string]any{"max": 0}},
			{Name: "health", Params: map[string]any{"strict": true}}},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "least-load",
			Params: map[string]any{"preempting_penalty": -1}}, Weight: 1}},
		Pick:  routing.PluginSpec{Name: "random", Params: map[string]any{"keep": 1.5, "seed": -1}},
		Given: []routing.AnySlot{plugins.Fleet},
	}, plugins.Registry(plugins.Deps{}))
	var faults routing.Faults
	if !errors.As(err, &faults) || len(faults) != 5 {
		t.Errorf("got\n%v", err)
	}
	_, err = routing.Build(plugins.Complete(mustPreset(t, "default"), false),
		plugins.Registry(plugins.Deps{Tiers: noTiers{}}))
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != routing.CodeMissingDependency {
		t.Errorf("without an index:\n%v", err)
	}
}

func mustPreset(t *testing.T, name string) routing.ProfileSpec {
	t.Helper()
	spec, ok := plugins.Preset(name)
	if !ok {
		t.Fatalf("no preset %q", name)
	}
	return spec
}

// MOD3-22: of 400 turns, the busier a replica the fewer it gets; with equal queues the rotation is plain.
func TestRoundRobinWithLeastLoadLeansTowardsEmptierQueues(t *testing.T) {
	w := newWorld(t, 4)
	p := w.preset("round-robin-least-load")
	turns := func() (n [4]int) {
		for range 400 {
			n[w.pick(p, prompt("x"))[0]]++
		}
		return n
	}
	if got := turns(); got != [4]int{100, 100, 100, 100} {
		t.Errorf("idle: %v", got)
	}
	for h, waiting := range []int{0, 3, 4, 10} {
		w.load(index.HostID(h), fleet.Load{Waiting: waiting})
	}
	if got := turns(); !(got[0] > got[1] && got[1] >= got[2] && got[2] > got[3]) || got[1] == 0 {
		t.Errorf("waiting 0, 3, 4, 10: %v", got)
	}
}

// MOD3-24, MOD3-10: two preparers (and the index look-up), two scorers; the weights trade reuse against hot-spotting.
func TestTheWeightsTradeReuseAgainstHotSpotting(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 8)
	for _, test := range []struct {
		affinity, load float64
		want           index.HostID
	}{{3, 1, 1}, {1, 3, 0}} {
		w := newWorld(t, 2)
		w.holds[1] = w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)[:6]
		w.load(1, fleet.Load{InFlight: 10})
		spec := mustPreset(t, "cache-aware")
		spec.Score[0].Weight, spec.Score[1].Weight = test.affinity, test.load
		if got := w.pick(w.build(spec), prompt(text)); got[0] != test.want {
			t.Errorf("affinity %g, load %g: %v", test.affinity, test.load, got)
		}
	}
}

// MEGA-20, DYN-14
func TestLeastLoadedTakesTheShortestQueueThatIsNotPreempting(t *testing.T) {
	w := newWorld(t, 4)
	for h, l := range []fleet.Load{{InFlight: 3}, {InFlight: 1, Waiting: 1, Preempting: 1}, {InFlight: 2},
		{Waiting: 2}} {
		w.load(index.HostID(h), l)
	}
	if got := fmt.Sprint(w.pick(w.preset("least-load"), prompt("x"))); got != "[2 3 1 0]" {
		t.Errorf("ranked %s", got)
	}
}

// Equal inputs give equal decisions, whatever ran before on the pooled Context.
func TestDecisionsAreDeterministic(t *testing.T) {
	run := func() (decisions []string) {
		w := newWorld(t, 16)
		p := w.preset("default")
		for i := range 200 {
			text := strings.Repeat(fmt.Sprintf("%016d", i%7), 1+i%5)
			chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
			c := routing.Acquire(routing.Facts{Specialist: "debug", Pieces: prompt(text).Pieces})
			s := w.fleet.Snapshot("debug")
			plugins.Fleet.Put(c, s)
			c.Candidates(s.Hosts)
			d, err := p.Select(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			decisions = append(decisions, fmt.Sprint(d.Ranked))
			w.holds[d.Ranked[0].Host] = chain
			w.load(d.Ranked[0].Host, fleet.Load{InFlight: (i * 7) % 5, Waiting: i % 3})
			c.Release()
		}
		return decisions
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Error(diff)
	}
}

func ExampleComplete() {
	replicas := fleet.New()
	for h := range index.HostID(3) {
		r, err := replicas.Put(fleet.Spec{Name: fmt.Sprintf("debug-%d", h), Specialist: "debug", Host: h,
			BlockSize: 16})
		if err != nil {
			panic(err)
		}
		r.LoadFrom(func() fleet.Load { return fleet.Load{Waiting: int(3 - h)} })
	}
	replicas.Snapshot("debug").Replica(2).SetDraining(true)

	spec, _ := plugins.Preset("least-load")
	profile, err := routing.Build(plugins.Complete(spec, false), plugins.Registry(plugins.Deps{}))
	if err != nil {
		panic(err)
	}

	c := routing.Acquire(routing.Facts{Specialist: "debug"})
	defer c.Release()
	c.EnableTrace(func() time.Duration { return 0 })
	snapshot := replicas.Snapshot("debug")
	plugins.Fleet.Put(c, snapshot)
	c.Candidates(snapshot.Hosts)
	plan, err := routing.Single(profile).Plan(context.Background(), c)
	if err != nil {
		panic(err)
	}
	fmt.Println("best:", snapshot.Replica(plan.Steps[0].Ranked[0].Host).Spec().Name)
	for _, candidate := range c.Trace().Candidates {
		fmt.Printf("%d removed by %q, total %.2f\n", candidate.Host, candidate.RemovedBy, candidate.Total)
	}
	// Output:
	// best: debug-1
	// 0 removed by "", total 0.00
	// 1 removed by "", total 0.33
	// 2 removed by "health", total 0.00
}
