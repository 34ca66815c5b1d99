package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/api"
	"octet/gateway/receipt"
)

const hello = `{"model":"debug","max_tokens":12,"messages":[{"role":"user","content":"why does it crash"}]}`

func streamed(body string) string { return strings.Replace(body, "{", `{"stream":true,`, 1) }

// MEGA-73, MOD3-01, MOD3-18
func TestAnAnswerComesWholeAndSaysWhoGaveIt(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	for _, mode := range []struct{ name, body string }{{"unary", hello}, {"streamed", streamed(hello)}} {
		t.Run(mode.name, func(t *testing.T) {
			id := "whole-" + mode.name
			resp, answer := w.Post("/v1/chat/completions", mode.body, "X-Request-Id", id)
			if resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, answer)
			}
			if got, want := contentOf(mode.name, answer), indexText(id, 12); got != want {
				t.Errorf("text %q, want %q", got, want)
			}
			for name, want := range map[string]string{
				"X-Request-Id": id, "X-Specialist": "debug", "X-Routed-By": "model", "X-Attempts": "1",
				"X-Queue-Ms": "0", "X-Cached-Tokens": "*", "X-Replica": "*", "X-Receipt-Id": "*",
				"X-SLO-Window": "*",
			} {
				if got := resp.Header.Get(name); got != want && (want != "*" || got == "") {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

func contentOf(mode string, answer []byte) string {
	if mode == "streamed" {
		s := readStream(bytes.NewReader(answer))
		if !s.done || s.failed != nil {
			return fmt.Sprintf("done %v, failed %v", s.done, s.failed)
		}
		return s.text
	}
	var unary struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(answer, &unary); err != nil || len(unary.Choices) != 1 {
		return string(answer)
	}
	return unary.Choices[0].Message.Content
}

func TestCompletionsTakeTextAndTokenIds(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	for _, prompt := range []string{`"int main() {"`, `[1,2,3,4,5]`, `["int main() {"]`} {
		resp, answer := w.Post("/v1/completions",
			`{"model":"systems","max_tokens":3,"stream":true,"prompt":`+prompt+`}`, "X-Request-Id", "c1")
		if s := readStream(bytes.NewReader(answer)); resp.StatusCode != 200 || !s.done || s.text != indexText("c1", 3) {
			t.Errorf("prompt %s: status %d, %s", prompt, resp.StatusCode, answer)
		}
	}
}

// MEGA-07, MEGA-08, MEGA-09
//
//nolint:lll // raw text that cannot be broken
func TestRulesDecideInTheirOrder(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	trace :=
		`==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014\n    #0 0x4f8b1a in Node::next() list.cpp:42:10\n    #1 0x4f8b1b in main list.cpp:50:3`
	chat := func(model, text string) string {
		return fmt.Sprintf(`{"model":%q,"max_tokens":2,"messages":[{"role":"user","content":"%s"}]}`, model, text)
	}
	for _, c := range []struct{ name, body, intent, specialist, by string }{
		{"model beats intent and text", chat("systems", trace), "debug", "systems", "model"},
		{"intent beats text", chat("octet", "hello"), "debug", "debug", "intent"},
		{"text", chat("octet", trace), "", "debug", "detector"},
		{"nothing says: fallback", chat("", "hello"), "", "debug", "fallback"},
	} {
		var headers []string
		if c.intent != "" {
			headers = []string{"X-Intent", c.intent}
		}
		resp, answer := w.Post("/v1/chat/completions", c.body, headers...)
		if by, who := resp.Header.Get("X-Routed-By"), resp.Header.Get("X-Specialist"); by != c.by ||
			who != c.specialist {
			t.Errorf("%s: %s by %s, want %s by %s: %s", c.name, who, by, c.specialist, c.by, answer)
		}
	}
}

// MOD3-21, MOD3-24, GAIE-20, GAIE-24
func TestAFollowUpGoesWhereItsPrefixIs(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	body := chatOf(strings.Repeat("a shared and rather long preamble of a conversation; ", 20))
	first, _ := w.Post("/v1/chat/completions", body)
	w.heard()
	for range 4 {
		again, answer := w.Post("/v1/chat/completions", body)
		if again.Header.Get("X-Replica") != first.Header.Get("X-Replica") {
			t.Errorf("went to %s, the prefix is at %s", again.Header.Get("X-Replica"), first.Header.Get("X-Replica"))
		}
		if again.Header.Get("X-Cached-Tokens") == "0" || !bytes.Contains(answer, []byte(`"cached_tokens":`)) {
			t.Errorf("predicted %s cached tokens; answer %s", again.Header.Get("X-Cached-Tokens"), answer)
		}
		var usage struct {
			Usage struct {
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		_ = json.Unmarshal(answer, &usage)
		if want := again.Header.Get("X-Cached-Tokens"); fmt.Sprint(usage.Usage.Details.Cached) != want {
			t.Errorf("the engine delivered %d cached tokens, predicted were %s", usage.Usage.Details.Cached, want)
		}
	}
}

// chatOf is a chat of one user turn; parts says whether its content comes in parts.
//
//nolint:lll // raw text that cannot be broken
func chatOf(text string) string {
	return fmt.Sprintf(
		`{"model":"debug","max_tokens":4,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":%q}]}`, text)
}

// MEGA-35: the same prompt under another adapter, or content in parts, must meet the engine's own blocks or none.
func TestPredictionsEqualDeliveriesForEveryShapeOfPrompt(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	for name, body := range shapes(strings.Repeat("std::vector<int> v; ", 30)) {
		t.Run(name, func(t *testing.T) {
			path := "/v1/chat/completions"
			if strings.Contains(body, `"prompt"`) {
				path = "/v1/completions"
			}
			if resp, answer := w.Post(path, body); resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, answer)
			}
			w.heard()
			resp, answer := w.Post(path, body)
			delivered := between(string(answer), `"cached_tokens":`, "}")
			if predicted := resp.Header.Get("X-Cached-Tokens"); predicted != strings.TrimSpace(delivered) ||
				predicted == "0" {
				t.Errorf("predicted %s, delivered %s", predicted, delivered)
			}
		})
	}
}

// MEGA-35
func TestAdaptersDoNotShareAPrefix(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	body := chatOf(strings.Repeat("one prefix, two adapters; ", 40))
	w.Post("/v1/chat/completions", body)
	w.heard()
	resp, answer := w.Post("/v1/chat/completions", body, "X-Adapter", "gdb-v2")
	if resp.Header.Get("X-Adapter") != "gdb-v2" || resp.Header.Get("X-Cached-Tokens") != "0" ||
		between(string(answer), `"cached_tokens":`, "}") != "0" {
		t.Errorf("adapter %q, predicted %s cached tokens: %s", resp.Header.Get("X-Adapter"),
			resp.Header.Get("X-Cached-Tokens"), answer)
	}
}

// MEGA-11, MEGA-02
func TestRouteExplainsAndChangesNothing(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.exact() // what engines tell at their start is no change of the question's
	before := metricsOf(t, w)
	resp, answer := w.Post("/v1/route", hello, "X-Priority", "3")
	var e api.Explanation
	if err := json.Unmarshal(answer, &e); err != nil || resp.StatusCode != 200 {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, answer)
	}
	if e.Decision.Specialist != "debug" || e.Replica == "" || e.Admission == nil || e.Admission.Answer != "admitted" ||
		len(e.Routing.Trace.Candidates) != 2 {
		t.Errorf("explanation %s", answer)
	}
	if after := metricsOf(t, w); after != before {
		t.Errorf("metrics changed from\n%s\nto\n%s", before, after)
	}
	if n := w.Engines["debug-0"].Stats().Admitted + w.Engines["debug-1"].Stats().Admitted; n != 0 {
		t.Errorf("engines admitted %d requests", n)
	}
}

// metricsOf is the gateway's own counters.
func metricsOf(t *testing.T, w *world) string {
	resp, err := http.Get(w.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var buf bytes.Buffer
	_, _ = buf.ReadFrom(resp.Body)
	var kept []string
	for line := range strings.Lines(buf.String()) {
		// the connection by which it is asked is the test's own
		own := strings.HasPrefix(line, "octet_index_bytes") || strings.HasPrefix(line, "octet_connections")
		if strings.HasPrefix(line, "octet_") && !own {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func TestAReceiptTellsTheWholeStoryToItsOwnerOnly(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	resp, _ := w.Post("/v1/chat/completions", hello, "X-Explain", "1", "X-Intent", "debug")
	if resp.Header.Get("Server-Timing") == "" {
		t.Error("no Server-Timing though X-Explain asked for it")
	}
	id := resp.Header.Get("X-Receipt-Id")
	var r struct {
		Decision receipt.Decision
		Attempts []receipt.Attempt
		Result   receipt.Result
		Routing  []receipt.Routing
	}
	eventually(t, "the receipt", func() bool { return w.Get(w.Data+"/v1/receipts/"+id, &r) == 200 })
	if r.Decision.RoutedBy != "model" || len(r.Attempts) != 1 || r.Attempts[0].Outcome != "ok" || !r.Result.Done ||
		r.Result.CompletionTokens != 12 {
		t.Errorf("receipt %+v", r)
	}
	if len(r.Routing) != 1 || len(r.Routing[0].Trace.Candidates) != 2 || len(r.Routing[0].Trace.Stages) == 0 {
		t.Errorf("routing %+v", r.Routing)
	}
	if status := w.Get(w.Data+"/v1/receipts/none", nil); status != 404 {
		t.Errorf("an unknown receipt is status %d", status)
	}
}

func TestModelsListTheRouterTheSpecialistsAndTheirAdapters(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	var list struct{ Data []struct{ ID string } }
	w.Get(w.Data+"/v1/models", &list)
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	if got := strings.Join(ids, " "); got != "octet debug debug:gdb-v2 systems" {
		t.Errorf("models %q", got)
	}
	if status := w.Get(w.Data+"/v1/models/debug:gdb-v2", nil); status != 200 {
		t.Errorf("a listed model is status %d", status)
	}
}

// MEGA-51, MEGA-52, MEGA-53, MEGA-57
func TestSLOsAreAbsentUntilThereIsSomethingToSay(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "specialists[0].slo.min_samples=5")
	resp, _ := w.Post("/v1/chat/completions", streamed(hello))
	if got := resp.Header.Get("X-SLO-TTFT-Ms"); got != "" {
		t.Errorf("after one answer X-SLO-TTFT-Ms is %q", got)
	}
	for range 8 {
		w.Post("/v1/chat/completions", streamed(hello))
	}
	eventually(t, "SLO headers", func() bool {
		resp, _ = w.Post("/v1/chat/completions", streamed(hello))
		return resp.Header.Get("X-SLO-TTFT-Ms") != "" && resp.Header.Get("X-SLO-ITL-Ms") != "" &&
			resp.Header.Get("X-SLO-Admission-TTFT-P95-Ms") != ""
	})
	if status := w.Get(w.Data+"/v1/slo/debug", nil); status != 200 {
		t.Errorf("/v1/slo/debug is status %d", status)
	}
}

func TestAConnectionToAnEngineIsUsedAgain(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "fleet.probe_interval=1h")
	before := w.Engines["systems-0"].Conns.Load() // that it was asked on what it is
	for range 10 {
		for _, body := range []string{systems, streamed(systems)} {
			if resp, answer := w.Post("/v1/chat/completions", body); resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, answer)
			}
		}
	}
	if n := w.Engines["systems-0"].Conns.Load() - before; n > 2 {
		// the first probe may be under way beside the first request
		t.Errorf("20 requests, one after the other, took %d connections", n)
	}
}
