package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/apierr"
	"octet/gateway/receipt"
)

// halves is a specialist whose replicas do one part each, beside one that does all with the same model. What was sent
// lately does not count: of equals the first one is taken each time.
const halves = `
profiles:
  unmoved:
    prepare: [tokenize, block-hashes, prefix-depths, tier-depths]
    filter: [health, role, breaker, adapter, concurrency]
    score: [{least-work: {recent_weight: 0}}]
    pick: max-score
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 500ms, ttft_timeout: 1s, answer_timeout: 3s, drain: 5s}
fleet: {probe_interval: 1h, breaker: {failures: 100, open_for: 300ms}}
specialists:
  - name: debug
    tokenizer: builtin
    workflow: disaggregated
    profile: unmoved
    disaggregation: {min_prompt_tokens: 64, min_uncached_tokens: 32, prefill: {attempts: 2}}
    replicas:
      - {url: "%s", name: p-0, blocks: 256, role: prefill}
      - {url: "%s", name: p-1, blocks: 256, role: prefill}
      - {url: "%s", name: d-0, blocks: 256, role: decode}
      - {url: "%s", name: d-1, blocks: 256, role: decode}
  - name: alone
    tokenizer: builtin
    replicas: [{url: "%s", name: alone-0, model: debug, blocks: 256}]
`

// halvesEngines think: what they say follows from every key and value before it.
func halvesEngines() (all []emulator.Config) {
	for _, name := range []string{"p-0", "p-1", "d-0", "d-1", "alone-0"} {
		all = append(all, emulator.Config{Name: name, Model: "debug", Blocks: 256, Step: time.Millisecond,
			PrefillTPS: 2e5, Text: emulator.TextTiny, KVTransferPerBlock: -1, KVLease: time.Second})
	}
	return all
}

// long is a chat of some 120 tokens, different from any other by its salt.
func long(model, salt string, extra string) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":24,%s"messages":[{"role":"user","content":%q}]}`, model, extra,
		salt+strings.Repeat(" why does it crash", 30))
}

// says asks for an answer and returns its text; the answer must be whole.
func (w *world) says(mode, body string, headers ...string) (string, *http.Response) {
	w.T.Helper()
	if mode == "streamed" {
		resp := w.Ask(w.T.Context(), "/v1/chat/completions", streamed(body), headers...)
		s := readStream(resp.Body)
		if resp.StatusCode != 200 || !s.done || !s.clean || s.failed != nil {
			w.T.Errorf("status %d, stream %+v", resp.StatusCode, s)
		}
		return s.text, resp
	}
	resp, answer := w.Post("/v1/chat/completions", body, headers...)
	if resp.StatusCode != 200 {
		w.T.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	return contentOf(mode, answer), resp
}

// receipt returns the receipt of an answer.
func (w *world) receipt(resp *http.Response) *receipt.Receipt {
	w.T.Helper()
	r := new(receipt.Receipt)
	if status := w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), r); status != 200 {
		w.T.Fatalf("receipt: status %d", status)
	}
	return r
}

// attempts is which replica was asked for what and what came of it, as step:replica=outcome.
func attempts(r *receipt.Receipt) string {
	var all []string
	for _, a := range r.Attempts {
		one := a.Step + ":" + a.Replica + "=" + a.Outcome
		if a.Fallback != "" {
			one += " (again)"
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// baseline waits until nothing is held anywhere: at Gates, in engines, and by one engine for another.
func (w *world) baseline() {
	w.T.Helper()
	eventually(w.T, "ledgers at their baseline", w.Quiet)
	eventually(w.T, "nothing kept for another engine", func() bool {
		for _, e := range w.Engines {
			if e.State().Exported != 0 {
				return false
			}
		}
		return true
	})
}

// MOD3-06, MOD3-19, MOD3-46, MOD3-48, GAIE-33: an answer of two replicas is the answer of one, token for token.
func TestADisaggregatedAnswerIsThatOfOneReplica(t *testing.T) {
	w := newWorld(t, halves, halvesEngines())
	for _, mode := range []string{"unary", "streamed"} {
		for i := range 3 {
			salt := fmt.Sprint(mode, i)
			want, _ := w.says(mode, long("alone", salt, ""))
			got, resp := w.says(mode, long("debug", salt, ""))
			if got != want || want == "" {
				t.Errorf("%q by two replicas, %q by one", got, want)
			}
			if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-0=ok" {
				t.Errorf("attempts %s", a)
			}
		}
	}
	w.baseline()
	if s := w.Engines["p-0"].Stats(); s.PromptTokens == 0 {
		t.Error("nobody prefilled")
	}
}

// MOD3-49, GAIE-35: long and cold goes to two, short or warm to one.
func TestShortAndWarmPromptsStayWithOneReplica(t *testing.T) {
	w := newWorld(t, halves, halvesEngines())
	_, resp := w.says("unary", `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"short"}]}`)
	r := w.receipt(resp)
	if a := attempts(r); a != "decode:d-0=ok" || !strings.HasPrefix(r.Routing[0].Skipped, "short: ") {
		t.Errorf("short: attempts %s, %+v", a, r.Routing[0])
	}
	_, resp = w.says("unary", long("debug", "again ", ""))
	first := attempts(w.receipt(resp))
	w.heard()
	_, resp = w.says("unary", long("debug", "again ", ""))
	r = w.receipt(resp)
	if a := attempts(r); first != "prefill:p-0=ok, decode:d-0=ok" || a != "decode:d-0=ok" ||
		!strings.HasPrefix(r.Routing[0].Skipped, "warm: ") {
		t.Errorf("warm: attempts %s, then %s, %+v", first, a, r.Routing[0].Skipped)
	}
	w.baseline()
}

// MOD3-20, MOD3-46, DYN-24: whatever goes wrong, wherever and whenever, the client gets the whole answer that one
// replica would have given, or, where an answer that it has begun to see may not go on elsewhere, a typed error. No
// place and no block stays taken.
func TestFaultsOfEitherReplicaAtEveryPhase(t *testing.T) {
	for _, c := range []struct {
		replica, fault string
		unary, stream  string // attempts
		broken         apierr.Code
	}{
		{"p-0", `{"kind":"die_before_headers","times":2}`, "prefill:p-0=upstream_reset, prefill:p-1=ok, decode:d-0=ok",
			"", ""},
		{"p-0", `{"kind":"die_after_headers"}`, "prefill:p-0=upstream_reset, prefill:p-1=ok, decode:d-0=ok", "", ""},
		{"p-0", `{"kind":"die_after_tokens"}`, "prefill:p-0=upstream_reset, prefill:p-1=ok, decode:d-0=ok", "", ""},
		{"p-0", `{"kind":"garbage"}`, "prefill:p-0=upstream_protocol_error, prefill:p-1=ok, decode:d-0=ok", "", ""},
		{"p-0", `{"kind":"error_event"}`, "prefill:p-0=upstream_reset, prefill:p-1=ok, decode:d-0=ok", "", ""},
		{"p-0", `{"kind":"hang"}`, "prefill:p-0=upstream_timeout, decode:d-0=ok", "", ""},
		{"d-0", `{"kind":"die_before_headers","times":2}`, "prefill:p-0=ok, decode:d-0=upstream_reset, decode:d-1=ok",
			"", ""},
		{"d-0", `{"kind":"die_after_headers"}`, "prefill:p-0=ok, decode:d-0=upstream_reset, decode:d-1=ok (again)", "",
			""},
		{"d-0", `{"kind":"error_event"}`, "prefill:p-0=ok, decode:d-0=ok (again)", "", ""},
		{"d-0", `{"kind":"garbage"}`, "prefill:p-0=ok, decode:d-0=upstream_protocol_error, decode:d-1=ok (again)", "",
			""},
		{"d-0", `{"kind":"die_after_tokens","k":3}`, "prefill:p-0=ok, decode:d-0=upstream_reset, decode:d-1=ok (again)",
			"prefill:p-0=ok, decode:d-0=upstream_reset", apierr.UpstreamReset},
		{"d-0", `{"kind":"hang_after_tokens","k":3}`, "", "prefill:p-0=ok, decode:d-0=upstream_timeout",
			apierr.UpstreamTimeout},
	} {
		t.Run(c.replica+" "+c.fault, func(t *testing.T) {
			sets := []string{"limits.idle_timeout=1h", "limits.ttft_timeout=1h", "limits.answer_timeout=1h"}
			if strings.Contains(c.fault, "hang") {
				sets = nil // only a silent engine is given up
			}
			w := newWorld(t, halves, halvesEngines(), sets...)
			if c.unary != "" {
				w.faulty("unary", c.replica, c.fault, c.unary)
			}
			if c.stream == "" {
				w.faulty("streamed", c.replica, c.fault, c.unary)
				return
			}
			w.faulty("streamed", c.replica, c.fault, c.stream+", decode:d-1=ok")
			w = newWorld(t, halves, halvesEngines(), append(sets, "limits.continuations=0")...)
			w.Fault(c.replica, c.fault)
			resp := w.Ask(t.Context(), "/v1/chat/completions", streamed(long("debug", "broken", "")))
			s := readStream(resp.Body)
			if s.failed == nil || s.failed.Error.Code != string(c.broken) || s.done || s.clean {
				t.Errorf("stream %+v", s)
			}
			if a := attempts(w.receipt(resp)); a != c.stream {
				t.Errorf("attempts %s, want %s", a, c.stream)
			}
			w.clearFaults(c.replica)
			w.baseline()
		})
	}
}

// faulty asks for one answer under a fault, and wants it whole.
func (w *world) faulty(mode, replica, fault, want string) {
	w.T.Helper()
	said, _ := w.says(mode, long("alone", mode, ""))
	w.Fault(replica, fault)
	got, resp := w.says(mode, long("debug", mode, ""))
	if got != said {
		w.T.Errorf("%s: %q under the fault, %q alone", mode, got, said)
	}
	if a := attempts(w.receipt(resp)); a != want {
		w.T.Errorf("%s: attempts %s, want %s", mode, a, want)
	}
	w.clearFaults(replica)
	w.baseline()
}
