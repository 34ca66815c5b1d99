package app_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"octet/engine/emulator"
)

// usageOf is the last usage in a stream.
func usageOf(t *testing.T, stream string) (prompt, completion, total, cached int) {
	t.Helper()
	for _, chunk := range chunksOf(t, stream) {
		raw, _ := json.Marshal(chunk["usage"])
		var u *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Total      int `json:"total_tokens"`
			Details    struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		if err := json.Unmarshal(raw, &u); err != nil {
			t.Fatal(err)
		}
		if u != nil {
			prompt, completion, total, cached = u.Prompt, u.Completion, u.Total, u.Details.Cached
		}
	}
	return prompt, completion, total, cached
}

// Engines that send several tokens an event, or hold back what is no whole character: an answer that goes on elsewhere
// has no token more or less than was asked for, and its usage is that of an engine that lived.
func TestAContinuedStreamIsCountedInTokens(t *testing.T) {
	for name, set := range map[string]func(*emulator.Config){
		"one token an event": func(*emulator.Config) {},
		"four an event":      func(c *emulator.Config) { c.StreamInterval = 4 },
		"held back":          func(c *emulator.Config) { c.SplitCharacters = true },
	} {
		for path, body := range continuable {
			t.Run(name+path, func(t *testing.T) {
				engines := smallEngines()
				for i := range engines {
					set(&engines[i])
				}
				w := newWorld(t, smallWorld, engines, "limits.retry_budget=1", "fleet.breaker.failures=100")
				_, alone := w.Post(path, body, "X-Request-Id", "alone")
				prompt, _, _, _ := usageOf(t, string(alone))
				for _, k := range []int{1, 2, 3, 7, 13, 38} {
					w.diesOnce(body, emulator.DieAfterTokens, k)
					resp, got := w.Post(path, body, "X-Request-Id", "cut")
					s := readStream(strings.NewReader(string(got)))
					if !s.done || !s.clean || s.text != indexText("cut", 40) {
						t.Fatalf("after %d: %+v", k, s)
					}
					if p, c, n, cached := usageOf(t, string(got)); p != prompt || c != 40 || n != p+c || cached > p {
						t.Errorf("after %d: %d prompt tokens, alone %d; %d generated, %d in all, %d cached", k, p,
							prompt, c, n, cached)
					}
					if r := w.receiptOf(resp.Header); r.Result.CompletionTokens != 40 ||
						r.Result.PromptTokens != prompt || r.Result.Continued != 1 {
						t.Errorf("after %d: %+v", k, r.Result)
					}
				}
				eventually(t, "ledgers at their baseline", w.Quiet)
			})
		}
	}
}

// Where an event ends within a character, the engine has counted a token whose text it still held: that is said again,
// and what was asked for is not exceeded.
func TestACountAheadOfItsTextExceedsNothing(t *testing.T) {
	engines := smallEngines()
	for i := range engines {
		engines[i].StreamInterval, engines[i].SplitCharacters = 4, true
	}
	w := newWorld(t, smallWorld, engines, "limits.retry_budget=1", "fleet.breaker.failures=100")
	body := continuable["/v1/completions"]
	for _, k := range []int{1, 2, 5, 6, 9, 10, 22, 38} {
		w.diesOnce(body, emulator.DieAfterTokens, k)
		_, got := w.Post("/v1/completions", body, "X-Request-Id", "cut")
		s := readStream(strings.NewReader(string(got)))
		said := strings.Count(s.text, "⟦")
		if !s.done || !s.clean || s.text != indexText("cut", said) || said > 40 || said < 39 {
			t.Errorf("after %d: %d tokens: %+v", k, said, s)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// A stream whose place is taken by another keeps its count over several tokens an event.
func TestAPreemptedStreamIsCountedInTokens(t *testing.T) {
	engines := slowEngines()
	for i := range engines {
		engines[i].StreamInterval = 3
	}
	w := newWorld(t, smallWorld, engines, "specialists[1].scheduler.max_running=1")
	w.Fault("systems-0", `{"kind":"slow","times":1}`) // until it gives way
	body := resumable["/v1/chat/completions"]
	resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Priority", "-5", "X-Request-Id", "low")
	got := until(t, resp.Body, "⟦low:9⟧")
	w.Post("/v1/chat/completions", streamed(systems), "X-Priority", "5", "X-Request-Id", "high")
	rest, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got += string(rest)
	if s := readStream(strings.NewReader(got)); s.text != indexText("low", 60) || !s.done {
		t.Errorf("%q", s.text)
	}
	if _, c, _, _ := usageOf(t, got); c != 60 || w.gate("systems-0").Stats().Preemptions != 1 {
		t.Errorf("%d tokens after %d preemptions", c, w.gate("systems-0").Stats().Preemptions)
	}
}

// What clients see of the counting: what they asked for.
func TestAStreamSaysTheUsageThatItsClientAskedFor(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	for options, want := range map[string]int{ // chunks with a usage, of a role, 12 tokens and one at the end
		``: 0,
		`"stream_options":{"include_usage":true},`:                               1,
		`"stream_options":{"include_usage":true,"continuous_usage_stats":true},`: 14,
		`"stream_options":{"include_usage":false},`:                              0,
	} {
		_, got := w.Post("/v1/chat/completions", strings.Replace(streamed(systems), "{", "{"+options, 1))
		usages := 0
		for _, chunk := range chunksOf(t, string(got)) {
			if chunk["usage"] != nil {
				usages++
			}
		}
		if usages != want {
			t.Errorf("%s: %d chunks with a usage, want %d", options, usages, want)
		}
	}
}

// An answer of several choices that goes beyond what was asked for is cut at each.
func TestEveryChoiceOfAnOverrunIsCut(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.Fault("systems-0", `{"kind":"overrun","k":30,"times":1}`)
	body := strings.Replace(streamed(systems), "{", `{"n":2,"stream_options":{"include_usage":true},`, 1)
	_, got := w.Post("/v1/chat/completions", body, "X-Request-Id", "two")
	texts, ends := map[int]string{}, 0
	for _, chunk := range chunksOf(t, string(got)) {
		for _, c := range chunk["choices"].([]any) {
			c := c.(map[string]any)
			content, _ := c["delta"].(map[string]any)["content"].(string)
			texts[int(c["index"].(float64))] += content
			if c["finish_reason"] == "length" {
				ends++
			}
		}
	}
	if want := indexText("two", 12); texts[0] != want || texts[1] != want || ends != 2 {
		t.Errorf("%d ends of %v", ends, texts)
	}
	if _, c, _, _ := usageOf(t, string(got)); c != 24 {
		t.Errorf("usage of %d tokens", c)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}
