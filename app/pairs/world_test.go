package pairs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/classifier"
	"octet/engine/emulator"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/internal/apptest"
)

// world is the configuration of every cell.
const world = `
auth:
  anonymous: false
  secret: a secret of twenty bytes
  tenants:
    - {name: acme, key_sha256: ACME, priority_max: 5, specialists: [alpha, gamma], cache_salt: of acme,
       max_streams: 8, rate: {tokens_per_minute: 6000}}
    - {name: rival, key_sha256: RIVAL, priority_max: 10, weight: 2}
limits: {max_queue_wait: 4s, idle_timeout: 2s, ttft_timeout: 3s, answer_timeout: 8s, drain: 5s, queue_bytes: 65536}
fleet: {probe_interval: 1s, breaker: {failures: 3, open_for: 300ms}}
router: {detectors: false, fallback: alpha, classifier: {viable: 0.15}}
intents:
  review: {shadow_threshold: 0.85, divert_threshold: 0.40}
shadow: {max_concurrent: 16, timeout: 3s}
profiles: {shaded: {filter: [health, role, adapter, breaker], score: [{least-load: 1}], pick: max-score}}
specialists:
  - name: alpha
    tokenizer: builtin
    profile: cache-aware
    fallback: beta
    adapters: [{name: gdb-v2}]
    slo: {correctness: {min_samples: 500}}
    replicas:
      - {name: alpha-0, url: "http://alpha-0", engine: vllm, blocks: 512, forward_priority: true}
      - {name: alpha-1, url: "http://alpha-1", engine: vllm, blocks: 512, forward_priority: true}
  - name: beta
    tokenizer: builtin
    profile: cache-aware
    replicas:
      - {name: beta-0, url: "http://beta-0", engine: vllm, blocks: 512, forward_priority: true}
      - {name: beta-1, url: "http://beta-1", engine: vllm, blocks: 512, forward_priority: true}
  - name: gamma
    tokenizer: builtin
    fallback: beta
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 48, min_uncached_tokens: 16}
    adapters: [{name: gdb-v2}]
    replicas:
      - {name: gamma-p, url: "http://gamma-p", engine: vllm, blocks: 512, role: prefill, forward_priority: true}
      - {name: gamma-d, url: "http://gamma-d", engine: vllm, blocks: 512, role: decode, forward_priority: true}
`

// specialists are those of the world, with their replicas.
var specialists = map[string][]string{
	"alpha": {"alpha-0", "alpha-1"}, "beta": {"beta-0", "beta-1"}, "gamma": {"gamma-p", "gamma-d"},
	"delta": {"delta-0"}, // in the cells of a feature that brings it
}

// names are the specialists in the order of the configuration.
var names = []string{"alpha", "beta", "gamma"}

// ofReplica returns the specialist of a replica.
func ofReplica(replica string) string { return replica[:strings.IndexByte(replica, '-')] }

// permits is what the tenants may use.
func permits(tenant, specialist string) bool { return tenant != "acme" || specialist != "beta" }

// ceilings are the highest priorities of the tenants.
var ceilings = map[string]int{"acme": 5, "rival": 10}

const step = 10 * time.Millisecond // of a token

func engines(features []*feature) (all []emulator.Config) {
	present, doors := slices.Clone(names), doorsOf(features)
	for _, f := range features {
		if f.extra != "" {
			present = append(present, f.extra)
		}
	}
	for _, specialist := range present {
		for _, name := range specialists[specialist] {
			e := engineOf(name, specialist, doors, loadedOf(features))
			for _, f := range features {
				if isShort(name) && f.short > 0 {
					e.MaxModelLen = f.short
				}
			}
			all = append(all, e)
		}
	}
	return all
}

// engineOf is an engine of a specialist. One that sleeps does not tell that its cache is lost.
func engineOf(name, specialist string, doors, loaded []string) emulator.Config {
	return emulator.Config{Name: name, Model: specialist, Blocks: 512, Step: step, StepPerSeq: -1, PrefillTPS: 20000,
		AdapterSwap: -1, Adapters: loaded, AdapterLoad: 3 * step, Doors: doors, LoadTime: loading, SleepsSilently: true}
}

// doorsOf are the doors that engines serve.
func doorsOf(features []*feature) (all []string) {
	for _, f := range features {
		all = append(all, f.doors...)
	}
	return all
}

// told is a model that believes what a text says of itself: "[alpha 0.60 beta]" is alpha's with 0.60, and beta is next.
type told struct{}

// Classify implements classifier.Model.
func (told) Classify(text []byte, out []float64) (float64, error) {
	var first, second string
	var p float64
	at := bytes.IndexByte(text, '[')
	if at < 0 {
		return 0, classifier.ErrModel
	}
	line := strings.NewReplacer("]", " ").Replace(string(text[at+1 : min(len(text), at+40)]))
	if _, err := fmt.Sscan(line, &first, &p, &second); err != nil {
		return 0, classifier.ErrModel
	}
	rest := 1 - p
	for i, name := range names {
		switch name {
		case first:
			out[i] = p
		case second:
			out[i] = 0.8 * rest
		default:
			out[i] = 0.1 * rest
		}
	}
	return 0.1 * rest, nil
}

// outside is told out of process, which takes its time.
type outside struct{}

const away = 20 * time.Millisecond

// Ask implements classifier.Outside.
func (outside) Ask(ctx context.Context, text []byte, out []float64) (float64, error) {
	select {
	case <-time.After(away): // in a bubble
		return told{}.Classify(text, out)
	case <-ctx.Done():
		return 0, classifier.OutageAbandoned
	}
}

// cell is the world under two features, inside a synctest bubble.
type cell struct {
	*apptest.Bubble
	t        testing.TB
	features []*feature
	lead     string // the specialist that is asked
	sets     []string
	yaml     string

	mu      sync.Mutex // guards all below
	heard   []heard
	asked   []*answer
	early   []*answer // by other rules, see forgetHeard
	others  sync.WaitGroup
	round   atomic.Int32    // of the script
	turns   atomic.Int32    // of naming a replica
	losing  atomic.Bool     // cache events of the lead's engines
	shown   map[string]bool // features that could be seen to be there
	counter int
	openKey string               // of acme's first stream; "" without Idempotency-Key
	balance float64              // of acme's tokens at opened
	opened  time.Time            // when the balance was that
	updated time.Time            // when it was known that the lead's engines, or one, served other weights
	renewed map[string]time.Time // when engines were told to serve other weights
	spent   map[string]int64     // of budgets, by no request
}

// showed notes that a feature was seen to be there.
func (c *cell) showed(feature string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown[feature] = true
}

func keyOf(tenant string) string {
	sum := sha256.Sum256([]byte(tenant))
	return hex.EncodeToString(sum[:])
}

var yaml = strings.NewReplacer("ACME", keyOf("acme"), "RIVAL", keyOf("rival")).Replace(world)

// open starts the world with the features' configuration.
func open(t testing.TB, features ...*feature) *cell {
	c := &cell{Bubble: apptest.NewBubble(t, engines(features)), t: t, features: features, lead: "alpha",
		yaml: yaml, shown: map[string]bool{}, spent: map[string]int64{},
		renewed: map[string]time.Time{}}
	for _, f := range features {
		if f.lead != "" {
			c.lead = f.lead
		}
		if f.world != nil {
			c.yaml = f.world.Replace(c.yaml)
		}
	}
	keys := strings.NewReplacer("LEAD", fmt.Sprint("specialists[", c.at(), "]"), "NAME", c.lead)
	for _, f := range features {
		for _, set := range f.sets {
			c.sets = append(c.sets, keys.Replace(set))
		}
	}
	c.Hear = c.hear
	c.Lose(func(engine string) bool { return c.losing.Load() && ofReplica(engine) == c.lead })
	c.Serve(c.yaml, c.sets...)
	c.believe()
	c.startCharges()
	time.Sleep(100 * time.Millisecond) // in a bubble: engines have told what they hold
	return c
}

// has returns true if the cell is under a feature of that name.
func (c *cell) has(name string) bool {
	return slices.ContainsFunc(c.features, func(f *feature) bool { return f.name == name })
}

// at is the number of the lead in the configuration.
func (c *cell) at() int {
	for i, name := range names {
		if name == c.lead {
			return i
		}
	}
	panic("pairs: no specialist " + c.lead)
}

// believe gives what is served the model that believes the texts.
func (c *cell) believe() {
	cfg := classifier.Config{Fallback: "alpha", Viable: 0.15, Model: told{},
		Adapters: map[string][]string{}, Intents: map[string]classifier.IntentConfig{}}
	for _, sp := range c.App.Config().Specialists {
		cfg.Specialists = append(cfg.Specialists, sp.Name)
		for _, adapter := range sp.Adapters {
			cfg.Adapters[sp.Name] = append(cfg.Adapters[sp.Name], adapter.Name)
		}
	}
	if c.has("outside") {
		cfg.Outside = outside{}
	}
	for name, in := range c.App.Config().Intents {
		cfg.Intents[name] = classifier.IntentConfig{Specialist: in.Specialist, ShadowThreshold: in.ShadowThreshold,
			DivertThreshold: in.DivertThreshold, PriorityFloor: in.PriorityFloor}
	}
	cascade, err := classifier.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	rt := *c.App.Server().Runtime()
	rt.Cascade = cascade
	c.App.Server().Serve(&rt)
}

// reload puts the configuration in force again, with keys overridden.
func (c *cell) reload(sets ...string) {
	c.t.Helper()
	if err := c.App.Apply(context.Background(), c.Config(c.yaml, append(sets, c.sets...)...)); err != nil {
		c.t.Fatal(err)
	}
	c.believe()
}

// tenant returns a tenant in force.
func (c *cell) tenant(name string) *tenant.Tenant {
	c.t.Helper()
	known, err := c.App.Server().Runtime().Tenants.ByAuthorization(context.Background(), "Bearer "+name, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	return known
}

// replicas returns those in force.
func (c *cell) replicas() (all []*ensemble.Replica) {
	for _, rep := range c.App.Server().Runtime().Replicas {
		if rep != nil {
			all = append(all, rep)
		}
	}
	return all
}

// fault arms a fault at an engine.
func (c *cell) fault(engine, fault string) {
	c.control(http.MethodPost, "http://"+engine+"/admin/faults", fault)
}

// mend clears the faults of all engines.
func (c *cell) mend() {
	for name := range c.Engines {
		c.control(http.MethodDelete, "http://"+name+"/admin/faults", "")
	}
}

// control asks an operator's listener, and wants it done.
func (c *cell) control(method, url, body string) {
	c.t.Helper()
	resp, err := c.Ask(context.Background(), method, url, body)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		answer, _ := io.ReadAll(resp.Body)
		c.t.Fatalf("%s %s: status %d: %s", method, url, resp.StatusCode, answer)
	}
}
