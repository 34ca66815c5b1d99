package app_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
)

// saying are answers by what they are made of, as the emulated engine is told in the user's message.
var saying = []struct {
	name, user string
	tools      bool
	format     bool
}{
	{name: "text", user: "go [[text=9]]"},
	{name: "text with tools", user: "go [[text=9 calls=0]]", tools: true},
	{name: "reasoning, text", user: "go [[reasoning=7 text=6]]"},
	{name: "text, call", user: "go [[text=5 calls=1 args=3]]", tools: true},
	{name: "reasoning, text, calls", user: "go [[reasoning=4 text=3 calls=2 args=2]]", tools: true},
	{name: "JSON", user: "go [[args=4]]", format: true},
	{name: "reasoning, JSON", user: "go [[reasoning=5 args=3]]", format: true},
}

const (
	pathSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],` +
		`"additionalProperties":false}`
	chatPath, messagesPath, responsesPath = "/v1/chat/completions", "/v1/messages", "/v1/responses"
)

// toldAt returns a request for the i-th answer at a door.
func toldAt(path, model string, i int) string {
	s := saying[i]
	body := fmt.Sprintf(`{"model":%q,"stream":true`, model)
	switch path {
	case messagesPath:
		body += fmt.Sprintf(`,"max_tokens":900,"messages":[{"role":"user","content":%q}]`, s.user)
		if s.tools {
			body += `,"tools":[{"name":"open","input_schema":` + pathSchema + `}]`
		}
		if s.format {
			body += `,"output_config":{"format":{"type":"json_schema","schema":` + pathSchema + `}}`
		}
	case responsesPath:
		body += fmt.Sprintf(`,"input":%q`, s.user)
		if s.tools {
			body += `,"tools":[{"type":"function","name":"open","strict":false,"parameters":` + pathSchema + `}]`
		}
		if s.format {
			body += `,"text":{"format":{"type":"json_schema","name":"n","schema":` + pathSchema + `}}`
		}
	default:
		body += fmt.Sprintf(`,"max_tokens":900,"messages":[{"role":"user","content":%q}]`, s.user)
		body += `,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`
		if s.tools {
			body += `,"tools":[{"type":"function","function":{"name":"open","parameters":` + pathSchema + `}}]`
		}
		if s.format {
			body += `,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + pathSchema + `}}`
		}
	}
	return body + "}"
}

// beyond returns how many tokens the client of a chat has when its answer can no longer be continued, and how many it
// has in the end.
func beyond(t *testing.T, whole string, format bool) (first, all int) {
	t.Helper()
	for _, chunk := range chunksOf(t, whole) {
		all = int(chunk["usage"].(map[string]any)["completion_tokens"].(float64))
		for _, c := range chunk["choices"].([]any) {
			delta := c.(map[string]any)["delta"].(map[string]any)
			bound := delta["tool_calls"] != nil || format && delta["content"] != nil && delta["content"] != ""
			if bound && first == 0 {
				first = all
			}
		}
	}
	if first == 0 {
		first = all
	}
	return first, all
}

// toolEngines are smallEngines that call tools, with steps of that length.
func toolEngines(step time.Duration) []emulator.Config {
	engines := speaking(emulator.TextTools)
	for i := range engines {
		engines[i].Step = step
	}
	return engines
}

// passing is what may differ between two streams of one request: times, and what was cached.
var passing = regexp.MustCompile(
	`"(created|created_at|completed_at|cached_tokens|cache_read_input_tokens|cache_creation_input_tokens)":\d+(\.\d+)?`)

// sameAnswer compares two streams of a door to the byte, but for what may differ.
func sameAnswer(t *testing.T, what, want, got string) {
	t.Helper()
	a, b := passing.ReplaceAllString(want, "-"), passing.ReplaceAllString(got, "-")
	a, b = inputs.ReplaceAllString(a, "-"), inputs.ReplaceAllString(b, "-")
	if a != b {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		t.Errorf("%s: differs at %d: …%.200q\nalone …%.200q", what, at, b[max(at-80, 0):], a[max(at-80, 0):])
	}
}

// inputs are the tokens of a prompt that were not cached, as Messages tells them.
var inputs = regexp.MustCompile(`"input_tokens":\d+`)

// Issue 20, point 3: an answer of reasoning and text goes on at another replica token for token, wherever its engine
// died. From the first piece of a call on, and of JSON that keeps to a grammar, it ends in one typed error.
func TestAnAnswerWithReasoningAndToolsGoesOnElsewhere(t *testing.T) {
	for _, path := range []string{chatPath, messagesPath, responsesPath} {
		for i, s := range saying {
			t.Run(strings.TrimPrefix(path, "/v1/")+" "+s.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, smallWorld, toolEngines(100*time.Microsecond), "limits.idle_timeout=5s",
					"limits.retry_budget=1", "fleet.breaker.failures=1000")
				chat := toldAt(chatPath, "debug", i)
				_, whole := w.Post(chatPath, chat)
				first, all := beyond(t, string(whole), s.format)
				_, want := w.Post(path, toldAt(path, "debug", i), "X-Request-Id", "cut")
				step := 1
				if path != chatPath {
					step = 4
				}
				for k := 0; k < all; k += step {
					w.diesOnce(chat, emulator.DieAfterTokens, k)
					resp, got := w.Post(path, toldAt(path, "debug", i), "X-Request-Id", "cut")
					what := fmt.Sprintf("after %d of %d, %d can be continued", k, all, first)
					r := w.receiptOf(resp.Header)
					if k < first {
						sameAnswer(t, what, string(want), string(got))
						if len(r.Attempts) != 2 || !r.Result.Done || k > 0 && r.Result.Continued > 1 {
							t.Errorf("%s: %+v, attempts %+v", what, r.Result, r.Attempts)
						}
						continue
					}
					brokeOff(t, what, string(want), string(got))
					if r.Result.Done || r.Result.Continued != 0 || r.Result.CompletionTokens > k {
						t.Errorf("%s: %+v", what, r.Result)
					}
				}
				eventually(t, "ledgers at their baseline", w.Quiet)
				seen := w.Replica("debug-0").Reasoning.Load() | w.Replica("debug-1").Reasoning.Load()
				if reasons := strings.Contains(s.user, "reasoning="); (seen == ensemble.ReasoningShown) != reasons {
					t.Errorf("of reasoning that goes on is known %d", seen)
				}
			})
		}
	}
}

// Where an event brings several tokens, an answer goes on as the one that it was, or ends in the typed error.
func TestReasoningInEventsOfSeveralTokensGoesOnElsewhere(t *testing.T) {
	engines := toolEngines(100 * time.Microsecond)
	for i := range engines {
		engines[i].StreamInterval = 3
	}
	w := newWorld(t, smallWorld, engines, "limits.retry_budget=1", "fleet.breaker.failures=1000")
	const i = 4
	body := toldAt(chatPath, "debug", i)
	_, whole := w.Post(chatPath, body)
	first, all := beyond(t, string(whole), false)
	for k := 1; k < all; k++ {
		w.diesOnce(body, emulator.DieAfterTokens, k)
		_, got := w.Post(chatPath, body)
		if a, b := saidIn(t, string(whole)), saidIn(t, string(got)); k < first && a != b || !strings.HasPrefix(a, b) {
			t.Errorf("after %d of %d, %d can be continued: %s\nalone %s", k, all, first, b, a)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// saidIn puts what a chat's stream said together.
func saidIn(t *testing.T, stream string) string {
	t.Helper()
	var said [3]string
	for _, chunk := range chunksOf(t, stream) {
		choices, _ := chunk["choices"].([]any)
		for _, c := range choices {
			delta := c.(map[string]any)["delta"].(map[string]any)
			for i, name := range []string{"reasoning_content", "content"} {
				text, _ := delta[name].(string)
				said[i] += text
			}
			calls, _ := delta["tool_calls"].([]any)
			for _, call := range calls {
				function := call.(map[string]any)["function"].(map[string]any)
				name, _ := function["name"].(string)
				said[2] += name + function["arguments"].(string)
			}
		}
	}
	return strings.Join(said[:], "|")
}

// An answer that has begun as a chat's, with nothing but its role, goes on as one, though the other replica's engine
// serves the door.
func TestAnAnswerThatHasBegunAsAChatGoesOnAsOne(t *testing.T) {
	engines := toolEngines(100 * time.Microsecond)
	engines[1].Doors = []string{emulator.DoorMessages, emulator.DoorResponses}
	w := newWorld(t, smallWorld, engines, "limits.retry_budget=1", "fleet.breaker.failures=1000")
	asked := 0
	body := func() string { // each of another conversation: no replica has its beginning
		asked++
		return strings.Replace(toldAt(messagesPath, "debug", 2), "go ", fmt.Sprintf("%d go ", asked), 1)
	}
	eventually(t, "an answer of the one that serves the door", func() bool {
		resp, _ := w.Post(messagesPath, body())
		return resp.Header.Get("X-Door") == "native"
	})
	w.Fault("debug-0", `{"kind":"die_after_tokens","k":2,"times":1}`)
	for range 50 {
		resp, got := w.Post(messagesPath, body())
		if r := w.receiptOf(resp.Header); len(r.Attempts) < 2 {
			continue // of the other one
		}
		if strings.Count(string(got), "event: message_start") != 1 ||
			strings.Count(string(got), "event: message_stop") != 1 {
			t.Errorf("%s", got)
		}
		return
	}
	t.Error("no answer began at the first replica")
}

// brokeOff checks that got is the beginning of want, and one typed error.
func brokeOff(t *testing.T, what, want, got string) {
	t.Helper()
	at := strings.LastIndex(got[:strings.LastIndex(got, string(apierr.UpstreamReset))+1], "\n\n")
	if at < 0 || strings.Count(got, string(apierr.UpstreamReset)) != 1 {
		t.Errorf("%s: no typed error in …%.300q", what, got[max(len(got)-300, 0):])
		return
	}
	sameAnswer(t, what, want[:min(len(want), at)], got[:at])
}

// The same for an answer whose place is taken by a more urgent one, which then waits for no call to end.
func TestAnAnswerWithReasoningAndToolsIsPreempted(t *testing.T) {
	for i, s := range saying {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, smallWorld, toolEngines(20*time.Millisecond), "specialists[1].scheduler.max_running=1",
				"limits.max_queue_wait=60s") // 900 tokens may be all that it waits for
			body := toldAt(chatPath, "systems", i)
			w.Replica("systems-0").Reasoning.Store(ensemble.ReasoningShown)
			_, whole := w.Post(chatPath, body, "X-Request-Id", "low")
			first, all := beyond(t, string(whole), s.format)
			for _, k := range []int{2, first - 2, first, first + 2} {
				if k < 1 || k > all-4 {
					continue
				}
				before := w.gate("systems-0").Stats().Preemptions
				resp := w.Ask(t.Context(), chatPath, body, "X-Priority", "-5", "X-Request-Id", "low")
				got := until(t, resp.Body, fmt.Sprintf(`"completion_tokens":%d`, told(t, string(whole), k)))
				high, _ := w.Post(chatPath, toldAt(chatPath, "systems", 0), "X-Priority", "5")
				rest, err := io.ReadAll(resp.Body)
				if err != nil || high.StatusCode != 200 {
					t.Fatalf("%v, status %d", err, high.StatusCode)
				}
				sameAnswer(t, fmt.Sprintf("at %d, %d can be preempted", k, first), string(whole), got+string(rest))
				want := 0
				if k < first {
					want = 1
				}
				if n := w.gate("systems-0").Stats().Preemptions - before; int(n) != want && k != first-2 {
					t.Errorf("at %d of %d, %d can be preempted: %d preemptions", k, all, first, n)
				}
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// A place is not given up within reasoning until an engine was seen to go on from some: its template might hide it, and
// the stream would break.
func TestReasoningIsNotPreemptedUntilItWasSeenToGoOn(t *testing.T) {
	const low = `{"model":"systems","stream":true,"temperature":0,"max_tokens":60,"stream_options":` +
		`{"include_usage":true,"continuous_usage_stats":true},` +
		`"messages":[{"role":"user","content":"[[reasoning=30 text=30]]"}]}`
	w := newWorld(t, smallWorld, toolEngines(20*time.Millisecond), "specialists[1].scheduler.max_running=1",
		"limits.max_queue_wait=20s")
	for _, known := range []uint32{ensemble.ReasoningUntried, ensemble.ReasoningShown} {
		w.Replica("systems-0").Reasoning.Store(known)
		before := w.gate("systems-0").Stats().Preemptions
		resp := w.Ask(t.Context(), chatPath, low, "X-Priority", "-5", "X-Request-Id", "low")
		got := until(t, resp.Body, `"completion_tokens":5`)
		high, _ := w.Post(chatPath, toldAt(chatPath, "systems", 0), "X-Priority", "5")
		rest, err := io.ReadAll(resp.Body)
		if err != nil || high.StatusCode != 200 || !readStream(strings.NewReader(got+string(rest))).done {
			t.Fatalf("%v, status %d: %s", err, high.StatusCode, rest)
		}
		if n := w.gate("systems-0").Stats().Preemptions - before; int(n) != int(known) {
			t.Errorf("known %d: %d preemptions", known, n)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// told returns the first count of tokens, from k on, that an event of a stream told.
func told(t *testing.T, whole string, k int) int {
	t.Helper()
	for _, chunk := range chunksOf(t, whole) {
		if n := int(chunk["usage"].(map[string]any)["completion_tokens"].(float64)); n >= k {
			return n
		}
	}
	t.Fatalf("no event tells of %d tokens", k)
	return 0
}
