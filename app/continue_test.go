package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/engine/emulator"
	"octet/gateway/apierr"
	"octet/gateway/receipt"
)

// continuable are a chat and a completion that any replica could go on with from their text; the chat's seed and
// penalties change nothing.
//
//nolint:lll // raw text that cannot be broken
var continuable = map[string]string{
	"/v1/chat/completions": `{"model":"debug","stream":true,"temperature":0,"seed":7,"presence_penalty":0,"frequency_penalty":0.0,"stream_options":{"include_usage":true},"max_tokens":40,"messages":[{"role":"user","content":"x"}]}`,
	"/v1/completions":      `{"model":"debug","stream":true,"temperature":0,"stream_options":{"include_usage":true},"max_tokens":40,"prompt":"an \"x\""}`,
}

// deaths are the ways in which an engine ends a stream that it has begun.
var deaths = []string{emulator.DieAfterTokens, emulator.HangAfterTokens, emulator.Garbage, emulator.ErrorEvent}

// speaking returns smallEngines in a mode of speech.
func speaking(text string) []emulator.Config {
	engines := smallEngines()
	for i := range engines {
		engines[i].Text = text
	}
	return engines
}

// receiptOf reads the receipt of an answer.
func (w *world) receiptOf(h http.Header) *receipt.Receipt {
	w.T.Helper()
	var raw json.RawMessage
	eventually(w.T, "the receipt",
		func() bool { return w.Get(w.Data+"/v1/receipts/"+h.Get("X-Receipt-Id"), &raw) == 200 })
	r := new(receipt.Receipt)
	if err := json.Unmarshal(raw, r); err != nil {
		w.T.Fatal(err)
	}
	return r
}

// Promise 1: a stream whose engine dies goes on at another replica, and is the stream of an engine that lived: one
// head, one identity, one account, no token lost, repeated or another's.
func TestAStreamWhoseEngineDiesGoesOnElsewhere(t *testing.T) {
	for _, text := range []string{emulator.TextIndex, emulator.TextTiny} {
		for path, body := range continuable {
			t.Run(text+path, func(t *testing.T) {
				w := newWorld(t, smallWorld, speaking(text), "limits.idle_timeout=300ms", "limits.retry_budget=1",
					"fleet.breaker.failures=100")
				_, whole := w.Post(path, body, "X-Request-Id", "alone")
				want := strings.ReplaceAll(string(whole), "alone", "cut")
				for _, death := range deaths {
					for _, k := range []int{0, 1, 3, 39} {
						if k == 0 && death == emulator.HangAfterTokens {
							continue // nothing was heard, and the time for it is up
						}
						w.diesOnce(body, death, k)
						resp, got := w.Post(path, body, "X-Request-Id", "cut")
						if s := readStream(strings.NewReader(string(got))); resp.StatusCode != 200 || !s.done ||
							!s.clean {
							t.Fatalf("%s after %d: status %d, %+v", death, k, resp.StatusCode, s)
						}
						sameStream(t, want, string(got))
						if r := w.receiptOf(resp.Header); k > 0 && r.Result.Continued != 1 || len(r.Attempts) != 2 {
							t.Errorf("%s after %d: %d continuations, attempts %+v", death, k, r.Result.Continued,
								r.Attempts)
						}
					}
				}
				eventually(t, "ledgers at their baseline", w.Quiet)
			})
		}
	}
}

// diesOnce has the replica that a request would be sent to now die after k tokens, and the next one live.
func (w *world) diesOnce(body, fault string, k int) {
	w.T.Helper()
	w.Fault(w.next(body), fmt.Sprintf(`{"kind":%q,"k":%d,"times":1}`, fault, k))
}

// next is the replica that a request would be sent to now, once all that the engines hold is known.
func (w *world) next(body string) string {
	w.T.Helper()
	w.heard()
	return w.routed(body).Replica
}

func TestTheReceiptTellsOfAnEngineThatDied(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.Fault("debug-0", `{"kind":"die_after_tokens","k":3,"times":1}`)
	resp, _ := w.Post("/v1/chat/completions", continuable["/v1/chat/completions"], "X-Request-Id", "cut")
	r := w.receiptOf(resp.Header)
	if n := len(r.Attempts); n != 2 || r.Attempts[0].Outcome != string(apierr.UpstreamReset) ||
		r.Attempts[1].Outcome != "ok" ||
		r.Attempts[0].Replica == r.Attempts[1].Replica {
		t.Fatalf("attempts %+v", r.Attempts)
	}
	if !r.Result.Done || r.Result.Continued != 1 || r.Result.CompletionTokens != 40 {
		t.Errorf("result %+v", r.Result)
	}
}

// Beyond limits.continuations, without retry budget, without another replica, or with an answer whose text does not say
// all, an engine's death is a typed error.
func TestAStreamThatCannotGoOnEndsInATypedError(t *testing.T) {
	chat := continuable["/v1/chat/completions"]
	with := func(member string) string { return strings.Replace(chat, "{", "{"+member+",", 1) }
	for name, c := range map[string]struct {
		body string
		sets []string
		said int
	}{
		"none allowed":    {chat, []string{"limits.continuations=0"}, 3},
		"no retry budget": {chat, []string{"limits.retry_budget=0"}, 3},
		"both engines":    {chat, nil, 6},
		"nobody else":     {strings.Replace(chat, "debug", "systems", 1), nil, 3},
		"seed":            {strings.Replace(chat, `"temperature":0`, `"temperature":0.7`, 1), nil, 3},
		"a call required": {with(`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"`),
			nil, 3},
		"a format": {with(`"response_format":{"type":"json_object"}`), nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, smallWorld, smallEngines(), c.sets...)
			for engine := range w.Engines {
				w.Fault(engine, `{"kind":"die_after_tokens","k":3}`)
			}
			resp := w.Ask(t.Context(), "/v1/chat/completions", c.body, "X-Request-Id", "cut")
			all, err := io.ReadAll(resp.Body)
			s := readStream(strings.NewReader(string(all)))
			if err == nil || s.done || s.failed == nil || s.failed.Error.Code != string(apierr.UpstreamReset) ||
				s.text != indexText("cut", c.said) {
				t.Errorf("%v: %+v", err, s)
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// Promise 6: a stream that could go on waits for a place no longer than an engine may take for a first token.
func TestAStreamDoesNotWaitForeverToGoOn(t *testing.T) {
	w := newWorld(t, smallWorld, slowEngines(), "specialists[0].scheduler.max_running=1", "limits.ttft_timeout=1s",
		"limits.idle_timeout=10s")
	body := strings.Replace(continuable["/v1/chat/completions"], "40", "400", 1)
	w.Fault("debug-0", `{"kind":"die_after_tokens","k":300}`)
	w.Fault("debug-1", `{"kind":"hang_after_tokens","k":1}`)
	cut := make(chan []byte, 1)
	go func() {
		_, answer := w.Post("/v1/chat/completions", body, "X-Request-Id", "cut")
		cut <- answer
	}()
	eventually(t, "the first one runs", func() bool { return w.gate("debug-0").Stats().Running == 1 })
	other := w.Ask(t.Context(), "/v1/chat/completions", body)
	s := readStream(bytes.NewReader(<-cut))
	if s.done || s.failed == nil || s.failed.Error.Code != string(apierr.UpstreamReset) ||
		s.text != indexText("cut", 300) {
		t.Errorf("%+v", s)
	}
	other.Body.Close()
	eventually(t, "ledgers at their baseline", w.Quiet)
	if all := metricsOf(t, w); !strings.Contains(all, `octet_continued_total{outcome="failed",specialist="debug"} 1`) {
		t.Errorf("no count of it in\n%s", all)
	}
}
