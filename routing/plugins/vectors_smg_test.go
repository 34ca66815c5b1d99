package plugins_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/internal/vectors"
	"octet/routing"
	"octet/routing/belief"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
)

// The cases of the SGLang gateway's policies with their own numbers.
func TestPresetsPlaySMGsCases(t *testing.T) {
	vectors.Run(t, "sglang_smg_policies.json", vectors.Plays{
		"same_prefix_same_worker_when_balanced":  playSamePrefix,
		"imbalance_overrides_affinity":           playImbalance,
		"overlap_best_match_wins":                playBestMatch,
		"short_or_unknown_prompt_has_no_overlap": playShort,
		"bounded_load_factor":                    playBound,
		"prefix_hash_uses_only_first_n_tokens":   playPrefixHash,
	})
}

// The case of devices that the source documents name.
func TestDeviceAwarePlaysTheDocumentsCase(t *testing.T) {
	vectors.Run(t, "seeds.json", vectors.Plays{"device_aware_normalised_load": playDevices})
}

// textual is a world without cache events, in blocks of one byte: what was routed where is all that is known.
type textual struct {
	*world
	routed func(text []byte, to index.HostID)
	now    time.Time
}

func newTextual(t *testing.T, replicas int) textual {
	w := textual{world: newWorld(t, 0), now: time.Unix(100, 0)}
	for h := range replicas {
		w.put(fleet.Spec{Host: index.HostID(h), BlockSize: 1})
	}
	x, err := runs.New(index.Config{Hosts: replicas})
	if err != nil {
		t.Fatal(err)
	}
	known := belief.New(belief.Config{Index: x, Guesses: guesses(t), TTL: time.Minute})
	for h := range index.HostID(replicas) {
		if err := x.Admit(h); err != nil {
			t.Fatal(err)
		}
		known.Begin(h, time.Minute, 1000)
	}
	w.deps.Index, w.deps.Tiers = known, known
	w.routed = func(text []byte, to index.HostID) {
		known.Routed(to, w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), text, 1), w.now)
	}
	return w
}

// by returns a preset in which a token is a byte.
func (w textual) by(preset string) *routing.Profile {
	spec := mustPreset(w.t.(*testing.T), preset)
	for i, p := range spec.Prepare {
		if p.Name == "block-hashes" {
			spec.Prepare[i].Params = map[string]any{"bytes_per_token": 1}
		}
	}
	return w.build(spec)
}

// route picks a replica for a text, and notes that it went there.
func (w textual) route(p *routing.Profile, text string) index.HostID {
	f := prompt(text)
	f.Now = w.now
	to := w.pick(p, f)[0]
	w.routed([]byte(text), to)
	return to
}

// The first request goes to the second replica because the first is busy then; those after it have no other reason.
func playSamePrefix(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Workers  int
		Requests []string
	}
	c.Given(&given)
	same := true
	for _, preset := range []string{"default", "cache-aware", "dynamo-kv", "conductor", "lmetric"} {
		w := newTextual(t, given.Workers)
		p := w.by(preset)
		busy := w.replica(0).Route(fleet.Demand{Prompt: 10_000, Uncached: 10_000})
		home := w.route(p, given.Requests[0])
		busy.Land()
		for _, text := range given.Requests[1:] {
			if to := w.route(p, text); to != home || home == 0 {
				t.Errorf("%s: %q goes to %d, the first went to %d", preset, text, to, home)
				same = false
			}
		}
	}
	return vectors.Got{"rule": vectors.Rule(same)}
}

// The busy replica has the whole prompt, and as many requests before it as the case says, each as long as this one.
func playImbalance(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Absolute float64 `json:"abs_threshold"`
		Relative float64 `json:"rel_threshold"`
		Loads    []int
	}
	c.Given(&given)
	n := c.Numbers(1)
	w := newTextual(t, len(given.Loads))
	p := w.by("default")
	text := strings.Repeat("a question ", 10)
	route := func() int {
		f := prompt(text)
		f.Now = w.now
		return int(w.pick(p, f)[0])
	}
	w.routed([]byte(text), 0)
	if to := route(); to != 0 {
		t.Errorf("an idle holder is passed over for %d", to)
	}
	for h, load := range given.Loads {
		for range load {
			f := w.replica(index.HostID(h)).Route(fleet.Demand{Prompt: len(text), Uncached: len(text)})
			t.Cleanup(f.Land)
		}
	}
	picked := []int{}
	for range int(n[0]) {
		picked = append(picked, route())
	}
	c.Differs("rule", "there are no thresholds to set: what waits at a replica and what it has cached are weighed in "+
		"seconds, so a prompt leaves the holder once waiting there takes longer than computing it elsewhere")
	return vectors.Got{"picked": picked, "rule": vectors.Rule(false)}
}

func playBestMatch(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Block  int
		W1     int `json:"w1_blocks"`
		W2     int `json:"w2_blocks"`
		Tokens int `json:"query_tokens"`
	}
	c.Given(&given)
	w := newWorld(t, 0)
	for h := range index.HostID(2) {
		w.put(fleet.Spec{Host: h, HasEvents: true, BlockSize: given.Block})
	}
	text := strings.Repeat("abcd", given.Tokens) // four bytes stand for a token
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 4*given.Block)
	w.holds[0], w.holds[1] = chain[:given.W2], chain[:given.W1] // the first would win a tie
	return vectors.Got{"picked": []string{"w2", "w1"}[w.pick(w.preset("cache-aware"), prompt(text))[0]]}
}

func playShort(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Block, Tokens int }
	c.Given(&given)
	w := newWorld(t, 0)
	for h := range index.HostID(3) {
		w.put(fleet.Spec{Host: h, HasEvents: true, BlockSize: given.Block})
	}
	long := strings.Repeat("abcd", 8*given.Tokens)
	w.holds[2] = w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(long), 4*given.Block)
	short := prompt(long[:4*given.Tokens])
	got := vectors.Got{"picked": nil}
	scores := w.scores("cache-affinity", nil, short, "tokenize", "block-hashes", "prefix-depths")
	if slices.Max(scores) > 0 {
		got["picked"] = scores
	}
	for h, n := range []int{2, 0, 1} {
		w.load(index.HostID(h), fleet.Load{InFlight: n})
	}
	unknown := prompt(strings.Repeat("wxyz", 8*given.Tokens))
	p := w.preset("cache-aware")
	got["fallback"] = vectors.Rule(w.pick(p, short)[0] == 1 && w.pick(p, unknown)[0] == 1)
	return got
}

func playBound(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Factor  float64
		Total   int `json:"total_load"`
		Workers int
	}
	c.Given(&given)
	w := newWorld(t, given.Workers)
	spec := mustPreset(t, "consistent-hash")
	spec.Pick.Params = map[string]any{"load_factor": given.Factor}
	p := w.build(spec)
	ranked := w.pick(p, sessionOf(1))
	home := ranked[0]
	stays := func(load, total int) bool {
		rest := total - load
		for i, h := range ranked[1:] {
			share := rest / (given.Workers - 1 - i)
			w.load(h, fleet.Load{InFlight: share})
			rest -= share
		}
		w.load(home, fleet.Load{InFlight: load})
		return w.pick(p, sessionOf(1))[0] == home
	}
	most := 0
	for most < given.Total && stays(most+1, given.Total) {
		most++
	}
	n := c.Numbers(2)
	return vectors.Got{
		"30": stays(int(n[0]), given.Total), "35": stays(int(n[1]), given.Total), "zero_total": stays(0, 0),
		"threshold": vectors.Splits{float64(most), float64(most + 1)},
	}
}

// tokenIDs is a prompt that comes as token ids.
type tokenIDs []uint32

func (tokenIDs) Prompts() int { return 1 }
func (p tokenIDs) PromptTokens(_ int, dst []uint32) ([]uint32, bool) {
	return append(dst, p...), true
}
func (tokenIDs) PromptPieces(int) [][]byte { return nil }

func playPrefixHash(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		N    int
		A, B []uint32
	}
	c.Given(&given)
	w := newWorld(t, 0)
	for h := range index.HostID(16) {
		w.put(fleet.Spec{Host: h, BlockSize: 1})
	}
	p := w.build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "consistent-hash"},
		Prepare: []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"},
			{Name: "consistent-hash-key", Params: map[string]any{"by": "prefix", "prefix_blocks": given.N}}}})
	keyOf := func(tokens []uint32) uint64 {
		ctx := w.request(routing.Facts{Prompts: tokenIDs(tokens)})
		if _, err := p.Select(context.Background(), ctx); err != nil {
			t.Fatal(err)
		}
		return plugins.HashKey.Get(ctx.View())
	}
	to := func(tokens []uint32) index.HostID { return w.pick(p, routing.Facts{Prompts: tokenIDs(tokens)})[0] }
	for i := range given.N {
		other := slices.Clone(given.A)
		if other[i]++; keyOf(other) == keyOf(given.A) {
			t.Errorf("token %d does not count", i)
		}
	}
	return vectors.Got{"same_worker": to(given.A) == to(given.B) && keyOf(given.A) == keyOf(given.B)}
}

func playDevices(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		InFlight  map[string]int
		Count     map[string]int
		GPUWeight float64 `json:"gpu_weight"`
	}
	c.Given(&given)
	w := newWorld(t, 0)
	var replicas []*fleet.Replica
	for _, device := range []string{"cpu", "gpu"} {
		for i := range given.Count[device] {
			h := index.HostID(len(replicas))
			replicas = append(replicas, w.put(fleet.Spec{Host: h, Labels: map[string]string{"device": device}}))
			if i == 0 {
				w.load(h, fleet.Load{InFlight: given.InFlight[device]})
			}
		}
	}
	var loads func([]*fleet.Replica) map[string]float64
	reg := plugins.Registry(w.deps)
	reg["device-aware"] = func(p *routing.Params) (made routing.Plugin) {
		made, loads = plugins.DeviceLoads(p)
		return made
	}
	spec := mustPreset(t, "device-aware")
	spec.Score[0].Params = map[string]any{"cpu_ratio": given.GPUWeight}
	p, err := routing.Build(plugins.Complete(spec, false), reg)
	if err != nil {
		t.Fatal(err)
	}
	by := loads(replicas)
	picked := replicas[w.pick(p, routing.Facts{})[0]].Spec().Labels["device"]
	return vectors.Got{"cpu": by["cpu"], "gpu": by["other"], "group": picked}
}
