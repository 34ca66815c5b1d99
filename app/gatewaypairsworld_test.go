package app_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/routing/plugins"
)

// gatewayPairsWorld is before two gateways; TENANTS are of the cells.
const gatewayPairsWorld = `
auth:
  anonymous: false
  secret: a secret of twenty bytes
  tenants: [TENANTS]
limits: {max_queue_wait: 20s, idle_timeout: 20s, ttft_timeout: 20s, drain: 1ms}
fleet: {probe_interval: 50ms, scrape_interval: 100ms, breaker: {failures: 3, open_for: 100ms}, death_interval: 10ms}
router: {detectors: false, fallback: debug, stickiness: {margin: 0.1, per_1k_tokens: 0}}
intents: {review: {shadow_threshold: 0.85, divert_threshold: 0.40}}
shadow: {max_concurrent: 64, stream: ""}
specialists:
  - name: debug
    tokenizer: builtin
    fallback: systems
    adapters: [{name: gdb-v2}]
    replicas: [{name: d-0, url: "%s", blocks: 512, engine: vllm}, {name: d-1, url: "%s", blocks: 512, engine: vllm}]
  - {name: systems, tokenizer: builtin, replicas: [{name: s-0, url: "%s", blocks: 512, engine: vllm}]}
  - name: tight
    tokenizer: builtin
    scheduler: {max_running: 1, redo_share: 0}
    replicas: [{name: t-0, url: "%s", blocks: 512, engine: vllm, forward_priority: true}]
  - name: napping
    tokenizer: builtin
    sleep: {hold: 20s}
    replicas: [{name: n-0, url: "%s", blocks: 512, engine: vllm}]
  - name: halves
    tokenizer: builtin
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 48, min_uncached_tokens: 16}
    replicas:
      - {name: h-p, url: "%s", blocks: 512, role: prefill, engine: vllm}
      - {name: h-d, url: "%s", blocks: 512, role: decode, engine: vllm}
  - name: weighed
    tokenizer: builtin
    fallback: systems
    slo: {correctness: {floor: 0.9, min_samples: 10, recover_for: 50ms, probe_share: 1}}
    replicas: [{name: w-0, url: "%s", blocks: 512, engine: vllm}]
  - name: renewed
    tokenizer: builtin
    fallback: systems
    version: "0"
    replicas: [{name: r-0, url: "%s", blocks: 512, engine: vllm}]
`

// pairsReplicas are those of gatewayPairsWorld in its order, by specialist.
var pairsReplicas = []struct {
	specialist string
	replicas   []string
}{{"debug", []string{"d-0", "d-1"}}, {"systems", []string{"s-0"}}, {"tight", []string{"t-0"}},
	{"napping", []string{"n-0"}}, {"halves", []string{"h-p", "h-d"}}, {"weighed", []string{"w-0"}},
	{"renewed", []string{"r-0"}}}

func gatewayPairsEngines() (all []emulator.Config) {
	for _, sp := range pairsReplicas {
		for _, name := range sp.replicas {
			e := emulator.Config{Name: name, Model: sp.specialist, Blocks: 512, Step: 4 * time.Millisecond,
				PrefillTPS: 200000, LoadTime: 20 * time.Millisecond}
			if sp.specialist == "debug" {
				e.Adapters = []string{"gdb-v2"}
			}
			if sp.specialist == "tight" {
				e.MaxRunning = 1
			}
			all = append(all, e)
		}
	}
	return all
}

// pairsGroup is two gateways that all cells share.
type pairsGroup struct {
	*group
	at   [2]*world
	sets map[*world][]string // that reloads have brought, by gateway
}

// pairsTenant is the name of a cell's tenant at one of its gateways, and its key.
func pairsTenant(cell, side int) string { return fmt.Sprintf("c%d-%d", cell, side) }

func newPairsGroup(t *testing.T, store string, gone func(), cells []gatewayCell) *pairsGroup {
	var tenants []string
	for n, c := range cells {
		for side, f := range c.features {
			sum := sha256.Sum256([]byte(pairsTenant(n, side)))
			limits := f.tenant
			if !strings.Contains(limits, "budget") {
				limits += ", budget: {tokens_per_day: 1000000000}"
			}
			tenants = append(tenants, fmt.Sprintf("{name: %s, key_sha256: %s, priority_max: 100%s}",
				pairsTenant(n, side), hex.EncodeToString(sum[:]), limits))
		}
	}
	yaml := strings.Replace(gatewayPairsWorld, "TENANTS", strings.Join(tenants, ",\n    "), 1)
	g := &group{t: t, yaml: yaml, store: []string{store, "gateways.lease=4s", "gateways.timeout=4s"}, gone: gone}
	engines := gatewayPairsEngines()
	g.first = newWorld(t, yaml, engines, append(g.store, "gateways.name=gw-a")...)
	for _, e := range engines {
		g.urls = append(g.urls, g.first.Engines[e.Name].URL)
	}
	p := &pairsGroup{group: g, sets: map[*world][]string{}}
	p.at = [2]*world{g.first, g.another("gw-b")}
	for _, w := range p.at {
		unsureOf(t, w.App)
	}
	return p
}

// reload has a gateway's configuration have further keys.
func (p *pairsGroup) reload(w *world, name string, further ...string) {
	p.t.Helper()
	p.sets[w] = append(p.sets[w], further...)
	sets := append(append(append(w.Sets(), p.store...), "gateways.name="+name), p.sets[w]...)
	cfg, err := config.Parse("group.yaml", []byte(fmt.Sprintf(p.yaml, p.urls...)),
		config.Options{Presets: plugins.Presets(), Sets: sets})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := w.App.Apply(p.t.Context(), cfg); err != nil {
		p.t.Fatal(err)
	}
	unsureOf(p.t, w.App)
}

// unsureOf is doubting for all specialists.
func unsureOf(t *testing.T, a *app.App) {
	var all []string
	for _, sp := range pairsReplicas {
		all = append(all, sp.specialist)
	}
	doubtingAmong(t, a, all...)
}

// pairAnswer is a request and what has come of it.
type pairAnswer struct {
	at     *world
	tenant string
	id     string
	whole  string // what is to be said; "" where that is not known
	lost   bool   // its gateway died
	status int
	code   string // of the error that it ended in; "" for none
	stream stream
	head   http.Header
	ended  time.Time
	first  time.Time // of its first byte
}

// good returns true if the answer is whole.
func (a *pairAnswer) good() bool { return a.status == http.StatusOK && a.code == "" && a.stream.done }

// side is one of two features, at its gateway.
type side struct {
	*gatewayCellRun
	n           int // 0 or 1
	f           *gatewayFeature
	here, there *world
	name        string // of the gateway here
	tenant      string // its name and its key
	held        []*pairAnswer
	opening     *pairAnswer // of the conversation
	undo        []func()
	kill        func() // of its own gateway; nil if it has none
	killed      bool
}

// lead is the specialist that the side's requests are for.
func (s *side) lead() string {
	for _, f := range []*gatewayFeature{s.f, s.features[0], s.features[1]} {
		if f.lead != "" && (f == s.f || s.f.lead == "") {
			return f.lead
		}
	}
	return "debug"
}

// replica is the lead's that answers first.
func (s *side) replica() string {
	for _, sp := range pairsReplicas {
		if sp.specialist == s.lead() && sp.specialist != "halves" {
			return sp.replicas[0]
		}
	}
	return "h-d"
}

// chatOfPair is a streamed chat of so many tokens; its prompt is long enough to be prefilled apart.
func chatOfPair(model, id string, tokens int) string {
	body, _ := json.Marshal(map[string]any{"model": model, "max_tokens": tokens, "stream": true,
		"stream_options": map[string]bool{"include_usage": true},
		"messages": []map[string]string{{"role": "user",
			"content": id + strings.Repeat(" why does it crash", 16)}}})
	return string(body)
}

// ask has a request of the side's answered at a gateway.
func (s *side) ask(w *world, tokens int, headers ...string) *pairAnswer {
	id := s.newID()
	return s.send(w, id, chatOfPair(s.lead(), id, tokens), indexText(id, tokens), headers...)
}

// begin begins such a request and goes on.
func (s *side) begin(w *world, tokens int, headers ...string) *pairAnswer {
	id := s.newID()
	a := s.note(&pairAnswer{at: w, tenant: s.tenant, id: id, whole: indexText(id, tokens)})
	s.running.Go(func() { s.into(a, chatOfPair(s.lead(), id, tokens), headers...) })
	s.held = append(s.held, a)
	return a
}

// send sends a body, of which whole is the answer.
func (s *side) send(w *world, id, body, whole string, headers ...string) *pairAnswer {
	a := s.note(&pairAnswer{at: w, tenant: s.tenant, id: id, whole: whole})
	s.into(a, body, headers...)
	return a
}

// into reads the answer to a body.
func (s *side) into(a *pairAnswer, body string, headers ...string) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, a.at.Data+"/v1/chat/completions",
		strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return
	}
	headers = append(headers, "Content-Type", "application/json", "Authorization", "Bearer "+a.tenant,
		"X-Request-Id", a.id)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	var got pairAnswer
	if err == nil {
		defer resp.Body.Close()
		got = readPairAnswer(resp)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		a.code = "connection: " + err.Error()
	} else {
		a.status, a.code, a.stream, a.head, a.first = got.status, got.code, got.stream, got.head, got.first
	}
	a.ended = time.Now()
}

func readPairAnswer(resp *http.Response) (a pairAnswer) {
	a.status, a.head = resp.StatusCode, resp.Header
	if a.status != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		var e errorBody
		if json.Unmarshal(text, &e) != nil || e.Error.Code == "" {
			e.Error.Code = fmt.Sprintf("untyped: %.80q", text)
		}
		a.code = e.Error.Code
		return a
	}
	first := make([]byte, 1)
	n, err := io.ReadFull(resp.Body, first)
	a.first = time.Now()
	a.stream = readStream(io.MultiReader(bytes.NewReader(first[:n]), resp.Body))
	switch {
	case err != nil:
		a.code = "broken"
	case a.stream.failed != nil:
		a.code = a.stream.failed.Error.Code
	case !a.stream.done:
		a.code = "broken"
	}
	return a
}

// gatewayCellRun is a cell while it runs.
type gatewayCellRun struct {
	*pairsGroup
	t        *testing.T // of the cell
	number   int
	features [2]*gatewayFeature
	sides    [2]*side

	running sync.WaitGroup
	mu      sync.Mutex
	asked   []*pairAnswer // guarded by mu like all below
	ids     int
	shown   map[string]bool
}

func (c *gatewayCellRun) newID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids++
	return fmt.Sprintf("c%d-%d", c.number, c.ids)
}

func (c *gatewayCellRun) note(a *pairAnswer) *pairAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, a)
	return a
}

func (c *gatewayCellRun) show(feature string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown[feature] = true
}

// over returns true if a request has ended.
func (c *gatewayCellRun) over(a *pairAnswer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !a.ended.IsZero()
}

// control asks an operators' route of a gateway.
func (c *gatewayCellRun) control(w *world, method, path, body string) int {
	r, err := http.NewRequestWithContext(c.t.Context(), method, w.Admin+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// own asks a route of a tenant's own, and returns the status and the answer.
func (c *gatewayCellRun) own(w *world, tenant, method, path, body string, headers ...string) (int, []byte) {
	resp, text := askAs(c.t, tenant, method, w.Data+path, body, headers...)
	return resp.StatusCode, text
}

// judge gives a verdict at a gateway.
func (c *gatewayCellRun) judge(w *world, tenant, receipt, kind string, pass bool) (status int, counted bool) {
	status, text := c.own(w, tenant, http.MethodPost, "/v1/outcomes",
		fmt.Sprintf(`{"receipt":%q,"kind":%q,"pass":%v}`, receipt, kind, pass))
	var said struct{ Counted bool }
	_ = json.Unmarshal(text, &said)
	return status, said.Counted
}
