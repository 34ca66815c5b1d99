package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/apierr"
)

// pairs is halves with engines that meet for each request, as SGLang's do. Alone, neither of a pair can answer.
var pairs = strings.NewReplacer("role: prefill", "role: prefill, engine: sglang", "role: decode",
	"role: decode, engine: sglang",
	"min_prompt_tokens: 64, min_uncached_tokens: 32", "min_prompt_tokens: 0, min_uncached_tokens: 0").Replace(halves)

// newPairs starts a world of pairs; each engine that prefills is met where it listens.
func newPairs(t *testing.T) *world { return pairsOf(t, pairs) }

func pairsOf(t *testing.T, yaml string, sets ...string) *world {
	engines := halvesEngines()
	engines[0].Mode, engines[1].Mode, engines[2].Mode, engines[3].Mode = emulator.ModePrefill, emulator.ModePrefill,
		emulator.ModeDecode, emulator.ModeDecode
	w := newWorld(t, yaml, engines, append(sets, "limits.ttft_timeout=2s")...)
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil {
			w.meetAt(rep.Name)
		}
	}
	return w
}

// MOD3-19, MOD3-46: engines that find each other give the answer of one, too.
func TestAPairThatMeetsGivesTheAnswerOfOne(t *testing.T) {
	w := newPairs(t)
	for _, mode := range []string{"unary", "streamed"} {
		for _, salt := range []string{"", "long"} {
			body := func(model string) string {
				if salt == "" {
					return fmt.Sprintf(`{"model":%q,"max_tokens":9,"messages":[{"role":"user","content":%q}]}`, model,
						mode)
				}
				return long(model, mode, "")
			}
			want, _ := w.says(mode, body("alone"))
			got, resp := w.says(mode, body("debug"))
			if got != want {
				t.Errorf("%q by two, %q by one", got, want)
			}
			if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-0=ok" {
				t.Errorf("attempts %s", a)
			}
		}
	}
	w.baseline()
}

// MOD3-19, MOD3-46: each prompt of a list has a room of its own, and its answer is that of one.
func TestAPairMeetsForEachPromptOfAList(t *testing.T) {
	w := newPairs(t)
	body := func(model string) string {
		return fmt.Sprintf(`{"model":%q,"max_tokens":9,"prompt":["first %s","second","third"]}`, model,
			strings.Repeat("word ", 40))
	}
	said := func(model string) (string, *http.Response) {
		resp, answer := w.Post("/v1/completions", body(model))
		var a struct {
			Choices []struct {
				Index int    `json:"index"`
				Text  string `json:"text"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(answer, &a); err != nil || resp.StatusCode != 200 || len(a.Choices) != 3 {
			t.Fatalf("%v: status %d: %s", err, resp.StatusCode, answer)
		}
		return fmt.Sprint(a.Choices), resp
	}
	want, _ := said("alone")
	got, resp := said("debug")
	if got != want {
		t.Errorf("%s by two, %s by one", got, want)
	}
	if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-0=ok" {
		t.Errorf("attempts %s", a)
	}
	w.baseline()
}

// Either of a pair may fail before the client has seen anything: they meet again.
func TestAPairThatFailsMeetsAgain(t *testing.T) {
	for _, c := range []struct{ replica, fault, attempts string }{
		{"p-0", `{"kind":"die_after_headers"}`, "prefill:p-0=ok, decode:d-0=ok (again)"},
		{"p-0", `{"kind":"error_event"}`, "prefill:p-0=ok, decode:d-0=ok (again)"},
		{"d-0", `{"kind":"die_after_headers"}`, "prefill:p-0=ok, decode:d-0=upstream_reset, decode:d-1=ok"},
		{"d-0", `{"kind":"error_event"}`, "prefill:p-0=ok, decode:d-0=ok (again)"},
	} {
		for _, mode := range []string{"unary", "streamed"} {
			t.Run(c.replica+c.fault+mode, func(t *testing.T) {
				w := newPairs(t)
				want, _ := w.says(mode, long("alone", mode, ""))
				w.Fault(c.replica, c.fault)
				got, resp := w.says(mode, long("debug", mode, ""))
				if got != want {
					t.Errorf("%q under the fault, %q alone", got, want)
				}
				if a := attempts(w.receipt(resp)); a != c.attempts {
					t.Errorf("attempts %s, want %s", a, c.attempts)
				}
				w.baseline()
			})
		}
	}
}

func TestAPairOfWhichOneStaysAwayIsATypedError(t *testing.T) {
	w := newPairs(t)
	w.Engines["p-0"].Kill()
	w.Engines["p-1"].Kill()
	resp, answer := w.Post("/v1/chat/completions", long("debug", "away", ""))
	checkError(t, resp, answer, 503, apierr.NoHealthyReplica, "")
	w.baseline()
}

func TestAClientThatLeavesAPairFreesBoth(t *testing.T) {
	w := newPairs(t)
	for _, replica := range []string{"p-0", "d-0"} {
		w.Fault(replica, `{"kind":"hang"}`)
		w.leave(long("debug", replica, ""), replica)
		w.clearFaults(replica)
		w.baseline()
	}
}

// An engine that decodes only computes no prompt, however short it is and whatever of it is cached there.
func TestShortAndWarmPromptsMeetWhereTheOtherOnlyDecodes(t *testing.T) {
	w := pairsOf(t, strings.Replace(pairs, "min_prompt_tokens: 0, min_uncached_tokens: 0, ", "", 1))
	for _, body := range []string{
		`{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"short"}]}`,
		long("debug", strings.Repeat("long ", 512), ""), long("debug", strings.Repeat("long ", 512), ""),
	} {
		_, resp := w.says("unary", body)
		if a := attempts(w.receipt(resp)); a != "prefill:p-0=ok, decode:d-0=ok" {
			t.Errorf("attempts %s", a)
		}
		w.heard()
	}
	w.baseline()
}

// Where an engine does not come to meet those that decode, another one does, for the same request.
func TestAnotherMeetsWhereOneStaysAway(t *testing.T) {
	for _, mode := range []string{"unary", "streamed"} {
		w := newPairs(t)
		want, _ := w.says(mode, long("alone", mode, ""))
		w.Engines["p-0"].Kill()
		got, resp := w.says(mode, long("debug", mode, ""))
		if got != want {
			t.Errorf("%q by another, %q alone", got, want)
		}
		const tried = "prefill:p-0=upstream_reset, decode:d-0=not_tried (again), decode:d-1=not_tried, " +
			"prefill:p-1=ok, decode:d-0=ok"
		if a := attempts(w.receipt(resp)); a != tried {
			t.Errorf("attempts %s, want %s", a, tried)
		}
		w.baseline()
	}
}

// What either of a pair finds wrong with a request is told to the client, once each has said so, and held against
// neither.
func TestAPairThatRefusesTheRequestTellsSo(t *testing.T) {
	for refuses, want := range map[string]string{
		"p-": "prefill:p-0=invalid_request, decode:d-0=invalid_request",
		"d-": "prefill:p-0=ok, decode:d-0=invalid_request (again)",
	} {
		t.Run(refuses, func(t *testing.T) {
			w := pairsOf(t, strings.Replace(pairs, "failures: 100, open_for: 300ms", "failures: 1, open_for: 1h", 1))
			for _, n := range []string{"0", "1"} {
				w.Fault(refuses+n, `{"kind":"status","k":400,"times":9}`)
			}
			resp, answer := w.Post("/v1/chat/completions", long("debug", "refused", ""))
			checkError(t, resp, answer, 400, apierr.InvalidRequest, "")
			if a := attempts(w.receipt(resp)); a != want {
				t.Errorf("attempts %s, want %s", a, want)
			}
			for _, n := range []string{"p-0", "p-1", "d-0", "d-1"} {
				if s := w.Replica(n).Fleet.State(); s != "closed" {
					t.Errorf("the breaker of %s is %s", n, s)
				}
				w.clearFaults(n)
			}
			w.says("unary", long("debug", "next", ""))
			w.baseline()
		})
	}
}

// The decode dies after the prefill's breaker has opened for another request: two others meet.
func TestAPairThatBothFailIsFollowedByAnother(t *testing.T) {
	w := pairsOf(t, strings.Replace(pairs, "failures: 100, open_for: 300ms", "failures: 1, open_for: 1h", 1),
		"limits.answer_timeout=10s")
	w.Fault("d-0", `{"kind":"hang","times":1}`)
	ended := make(chan string)
	go func() {
		resp, _ := w.Post("/v1/chat/completions", long("debug", "dies", ""))
		ended <- fmt.Sprint(resp.StatusCode, " ", attempts(w.receipt(resp)))
	}()
	eventually(t, "it is at the decode", func() bool { return w.running("d-0") > 0 })
	time.Sleep(50 * time.Millisecond) // real time: until both are asked
	done, err := w.Replica("p-0").Fleet.Allow()
	if err != nil {
		t.Fatal(err)
	}
	done(false)
	w.Engines["d-0"].Kill()
	const want = "200 prefill:p-0=breaker_open, decode:d-0=upstream_reset, decode:d-1=not_tried (again), " +
		"prefill:p-1=ok, decode:d-1=ok"
	if got := <-ended; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A prefill that fails with every meeting is held against its replica, which gets no more requests: another one meets
// them. Its receipt says that it has failed.
func TestAPrefillThatFailsEveryMeetingOpensItsBreaker(t *testing.T) {
	for _, fault := range []string{`{"kind":"status","k":500,"times":99}`, `{"kind":"die_before_headers","times":99}`} {
		t.Run(fault, func(t *testing.T) {
			w := pairsOf(t, strings.Replace(pairs, "failures: 100, open_for: 300ms", "failures: 3, open_for: 1h", 1))
			w.Fault("p-0", fault)
			resp, _ := w.Post("/v1/chat/completions", long("debug", "first", ""))
			const failed = "prefill:p-0=upstream_reset, decode:d-0=not_tried (again), decode:d-1=not_tried, " +
				"prefill:p-1=ok, decode:d-0=ok"
			if a := attempts(w.receipt(resp)); a != failed {
				t.Errorf("attempts %s, want %s", a, failed)
			}
			for i := range 3 {
				w.Post("/v1/chat/completions", long("debug", fmt.Sprint("next", i), ""))
			}
			_, resp = w.says("unary", long("debug", "last", ""))
			if a := attempts(w.receipt(resp)); a != "prefill:p-1=ok, decode:d-0=ok" {
				t.Errorf("attempts %s", a)
			}
			w.baseline()
		})
	}
}

// A meeting that the decode ends says nothing of the prefill's replica, whose breaker may be asking for a proof.
func TestAPrefillThatIsNotNeededAnyMoreProvesNothing(t *testing.T) {
	w := pairsOf(t, strings.Replace(pairs, "failures: 100", "failures: 1", 1))
	w.Fault("p-0", `{"kind":"status","k":500,"times":2}`)
	w.says("unary", long("debug", "opens", ""))
	state := func() string { return w.Replica("p-0").Fleet.State() }
	if s := state(); s != "open" {
		t.Fatalf("the breaker is %s", s)
	}
	eventually(t, "it wants a proof", func() bool { return w.Replica("p-0").Fleet.Admits() })
	for _, replica := range []string{"p-0", "d-0"} {
		w.Fault(replica, `{"kind":"hang"}`)
	}
	w.leave(long("debug", "leaves", ""), "d-0")
	if s := state(); s != "half-open" {
		t.Errorf("the breaker is %s after a client has left", s)
	}
	w.clearFaults("p-0")
	w.clearFaults("d-0")
	w.baseline()
	w.says("unary", long("debug", "proves", ""))
	if s := state(); s != "closed" {
		t.Errorf("the breaker is %s after an answer", s)
	}
}
