package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
	"octet/gateway/doors/doorstest"
	"octet/gateway/receipt"
	"octet/routing"
)

// The doors that have no streams of their own shape, where refusals name the specialist too.
var (
	completions = surface{name: "completions", path: "/v1/completions", spell: asCompletion, stream: doorstest.Chat,
		whole: doorstest.WholeChat}
	counts = surface{name: "count_tokens", path: "/v1/messages/count_tokens", mode: "translated", spell: asCounted,
		stream: doorstest.Messages, whole: doorstest.WholeMessages}
)

func asCompletion(c *conversation) object {
	return object{"model": c.model, "prompt": c.turns[0].text, "max_tokens": c.most, "stream": c.stream}
}

func asCounted(c *conversation) object {
	body := asMessages(c)
	delete(body, "stream")
	return body
}

// request is what a provocation asks at a surface.
func (p *provocation) request(s *surface, stream bool) (body, model string) {
	c := ask("systems", "x", 9, stream)
	if p.ask != nil {
		c = p.ask(stream)
	}
	body = s.body(c, p.more...)
	if p.change != nil {
		body = p.change(body)
	}
	return body, c.model
}

// names holds a refusal to name the specialist that was chosen, in the header as in the receipt, and none before one
// was.
func (w *world) names(p provocation, s *surface, h *heardOf, model string) {
	w.T.Helper()
	want, _, _ := strings.Cut(model, ":")
	if p.before {
		want = ""
	}
	if got := h.head.Values("X-Specialist"); strings.Join(got, ",") != want {
		w.T.Errorf("%s at %s: X-Specialist is %q, want %q: %d %s", p.code, s.name, got, want, h.code, h.raw)
	}
	id := h.head.Get("X-Receipt-Id")
	if id == "" {
		return
	}
	var r receipt.Receipt
	if w.Get(w.Admin+"/admin/receipts/"+id, &r) != http.StatusOK || p.before || r.Decision.Specialist != want {
		w.T.Errorf("%s at %s: the receipt says %q, want %q", p.code, s.name, r.Decision.Specialist, want)
	}
}

// provokeBeside asks at the doors that have no shape of their own. Counting runs nothing: it is refused for what is met
// up to the choice, and of what comes then its answer, of whatever code, names the specialist all the same.
func (w *world) provokeBeside(p provocation) {
	w.T.Helper()
	for _, stream := range []bool{false, true} {
		body, model := p.request(&completions, stream)
		if p.code == apierr.UnsupportedContent || p.code == apierr.UnsupportedParameter && p.before {
			break // completions have text alone, and no member that the gateway itself refuses
		}
		h := w.askAt(&completions, body, stream, p.headers...)
		if h.Code != string(p.code) {
			w.T.Errorf("%s at completions: %d %s", p.code, h.code, h.raw)
		}
		w.names(p, &completions, h, model)
	}
	if p.chat || p.code == apierr.IdempotencyConflict { // of which nothing runs that could run twice
		return
	}
	body, model := p.request(&counts, false)
	resp, answer := w.Post(counts.path, body, p.headers...)
	h := &heardOf{head: resp.Header, code: resp.StatusCode, raw: string(answer)}
	refused := strings.Contains(h.raw, `"`+string(p.code)+`"`)
	if p.before && !refused && p.code != apierr.QuotaExceeded { // counting is of no budget
		w.T.Errorf("%s at count_tokens: %d %s", p.code, h.code, h.raw)
	}
	p.before = p.before && refused
	w.names(p, &counts, h, model)
}

// panicking is a Workflow with a bug.
type panicking struct{}

func (panicking) Plan(context.Context, *routing.Context) (routing.Plan, error) { panic("a bug") }

// provokeChosen asks for what has the same code before a specialist is chosen as afterwards, and for the gateway's own
// faults.
func provokeChosen(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	w := newWorld(t, smallWorld, smallEngines(), impatient()...)
	adapter := func(model string) func(bool) *conversation {
		return func(stream bool) *conversation { return ask(model, "x", 4, stream) }
	}
	for _, model := range []string{"debug", "debug:gdb-v2"} { // none such, and another than the model's
		w.provoke(rows, provocation{code: apierr.ModelNotFound, params: []string{"X-Adapter"}, ask: adapter(model),
			headers: []string{"X-Adapter", "none"}})
	}
	w.provoke(rows, provocation{code: apierr.ModelNotFound, before: true, params: []string{"model"},
		ask: adapter("debug:none")})
	w.provoke(rows, provocation{code: apierr.UnsupportedParameter, chat: true, params: []string{"mcp_servers"},
		more: []string{"mcp_servers", "[]"}}) // no engine knows it
	for status, code := range map[int]apierr.Code{400: apierr.InvalidRequest, 413: apierr.PayloadTooLarge,
		500: apierr.UpstreamReset} {
		w.provoke(rows, provocation{code: code, fault: fmt.Sprintf(`"status","k":%d`, status)})
	}
	w.App.Server().Runtime().Specialist("systems").Workflow = panicking{}
	w.provoke(rows, provocation{code: apierr.Internal})
	provokeBudget(t, rows)
	provokeReplica(t, rows)
	provokeCut(t, rows)
}

// provokeBudget asks for more than a budget has left, which is known once the prompt is counted, and with one that is
// used up, where the body is not even read.
func provokeBudget(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	auth := []string{"Authorization", "Bearer " + key}
	w := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].budget.tokens_per_day=1000")...)
	w.provoke(rows, provocation{code: apierr.QuotaExceeded, ask: wordy("systems", "word", 3000), headers: auth})
	w = newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].budget.tokens_per_day=20")...)
	w.Post("/v1/chat/completions", surfaces[0].body(ask("systems", "x", 40, false)), auth...)
	w.provoke(rows, provocation{code: apierr.QuotaExceeded, before: true, headers: auth})
	w = newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].rate.requests_per_second=0.001")...)
	w.Post("/v1/chat/completions", hello, auth...)
	w.provoke(rows, provocation{code: apierr.QuotaExceeded, before: true, headers: auth})
}

// provokeReplica asks for replicas by name.
func provokeReplica(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	w := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].may_direct=true")...)
	direct := func(to string) []string {
		return []string{"Authorization", "Bearer " + key, "X-Octet-Replica", to}
	}
	params := []string{"X-Octet-Replica"}
	w.provoke(rows, provocation{code: apierr.ModelNotFound, params: params, headers: direct("debug-0")})
	w.provoke(rows, provocation{code: apierr.ModelNotFound, params: params, headers: direct("none"), before: true})
	w.do("POST", w.Admin+"/admin/drain/systems-0")
	w.provoke(rows, provocation{code: apierr.NoHealthyReplica, headers: direct("systems-0")})
	full := newWorld(t, smallWorld, smallEngines(), "limits.max_streams=1", "limits.idle_timeout=1m")
	full.Fault("systems-0", `{"kind":"hang_after_tokens","k":1}`)
	full.Ask(t.Context(), "/v1/chat/completions", streamed(strings.Replace(hello, "debug", "systems", 1)))
	full.provoke(rows, provocation{code: apierr.Overloaded, before: true})
}

// provokeCut has requests at every door as the gateway ends, each of them at an engine that says nothing.
func provokeCut(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	w := newWorld(t, smallWorld, smallEngines(), "limits.drain=100ms", "limits.ttft_timeout=1m",
		"limits.answer_timeout=1m", "fleet.probe_interval=1h")
	w.Fault("systems-0", `{"kind":"hang","times":0}`)
	type cut struct {
		s      *surface
		stream bool
		h      *heardOf
	}
	answers, p := make(chan cut), provocation{code: apierr.Draining}
	doors := []*surface{&completions}
	for i := range surfaces {
		doors = append(doors, &surfaces[i])
	}
	for _, s := range doors {
		for _, stream := range []bool{false, true} {
			body, _ := p.request(s, stream)
			go func() { answers <- cut{s, stream, w.askAt(s, body, stream, "X-Request-Id", "r1")} }()
		}
	}
	gate := w.App.Server().Runtime().Replicas[w.Replica("systems-0").Host].Gate
	eventually(t, "all are at the engine", func() bool { return gate.Stats().Running == 2*len(doors) })
	w.Stop()
	for range 2 * len(doors) {
		a := <-answers
		a.h.failsWith(t, p.code, "", "r1")
		if got := a.h.head.Get("X-Specialist"); got != "systems" {
			t.Errorf("cut at %s: X-Specialist is %q", a.s.name, got)
		}
		if row := rows[p.code]; a.s != &completions && a.h.Code == string(p.code) {
			row.seenAt[fmt.Sprint(a.s.name, a.stream)] = true
		}
	}
}

// without takes members out of a body.
func without(body string, names ...string) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &members)
	for _, name := range names {
		delete(members, name)
	}
	less, _ := json.Marshal(members)
	return string(less)
}
