package app_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// talk is a conversation's request: user and assistant turn by turn.
func talk(turns ...string) string {
	roles := []string{"user", "assistant"}
	messages := make([]map[string]string, len(turns))
	for i, text := range turns {
		messages[i] = map[string]string{"role": roles[i%2], "content": text}
	}
	body, _ := json.Marshal(map[string]any{"model": "octet", "max_tokens": 4, "messages": messages})
	return string(body)
}

// A conversation keeps its specialist while another is better by no more than the cache and the margin are worth; it is
// known by its session, and else by its beginning. What is declared wins.
func TestAConversationKeepsItsSpecialist(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.margin=0.1",
		"router.stickiness.per_1k_tokens=0")
	who := func(body string, headers ...string) string {
		t.Helper()
		resp, answer := w.Post("/v1/chat/completions", body, headers...)
		if resp.StatusCode != 200 {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		return resp.Header.Get("X-Specialist")
	}
	const far = "a question that is long enough to be read alone, whatever was said before it in here: unsure "
	for name, headers := range map[string][]string{"by its session": {"X-Session-Id", "s1"}, "by its beginning": nil} {
		if got := who(talk(far+"0.90"), headers...); got != "debug" {
			t.Fatalf("%s begins with %q", name, got)
		}
		next := talk(far+"0.90", "an answer", far+"0.46") // the other is surer by 0.026
		if got := who(next, headers...); got != "debug" {
			t.Errorf("%s: moved to %q for a trifle", name, got)
		}
		if got := who(talk(far+"0.90", "an answer", far+"0.20"), headers...); got != "systems" { // surer by 0.52
			t.Errorf("%s: stays with %q though the other is far better", name, got)
		}
		if got := who(next, append(headers, "X-Intent", "debug")...); got != "debug" {
			t.Errorf("%s: a declared intent went to %q", name, got)
		}
		if got := who(strings.Replace(next, `"octet"`, `"systems"`, 1), headers...); got != "systems" {
			t.Errorf("%s: a declared model went to %q", name, got)
		}
	}
	if got := who(talk(far+"0.91", "an answer", far+"0.46")); got != "systems" {
		t.Errorf("a conversation that nobody knows went to %q", got)
	}
	if got := who(talk(far+"0.46"), "X-Session-Id", "s2"); got != "systems" {
		t.Errorf("another session went to %q", got)
	}
}

// MEGA-16: a request never changes its specialist, however far its stream has come: what is asked meanwhile in the same
// conversation does not touch it.
//
//nolint:lll // raw text that cannot be broken
func TestAStreamEndsWhereItBegan(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.margin=0")
	resp := w.Ask(t.Context(), "/v1/chat/completions",
		`{"model":"octet","stream":true,"max_tokens":300,"messages":[{"role":"user","content":"unsure 0.90"}]}`,
		"X-Session-Id", "s")
	if by, _ := w.Post("/v1/chat/completions", talk("unsure 0.20"), "X-Session-Id", "s"); by.Header.Get("X-Specialist") != "systems" {
		t.Errorf("the later request went to %q", by.Header.Get("X-Specialist"))
	}
	var whole bytes.Buffer
	if _, err := whole.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	if s := readStream(bytes.NewReader(whole.Bytes())); !s.done || resp.Header.Get("X-Specialist") != "debug" ||
		bytes.Contains(whole.Bytes(), []byte(`"model":"systems"`)) {
		t.Errorf("%q: %+v", resp.Header.Get("X-Specialist"), s)
	}
}

// A completion keeps its specialist by the longest beginning that is an earlier prompt, at any byte, and not by what
// many share.
func TestACompletionKeepsItsSpecialistByItsBeginning(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.margin=0.1",
		"router.stickiness.per_1k_tokens=0")
	who := func(prompt string, headers ...string) string {
		t.Helper()
		body, _ := json.Marshal(map[string]any{"model": "octet", "max_tokens": 4, "prompt": prompt})
		resp, answer := w.Post("/v1/completions", string(body), headers...)
		if resp.StatusCode != 200 {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		return resp.Header.Get("X-Specialist")
	}
	// The model of these tests reads the first number alone: a preamble without one leaves it to what follows.
	const preamble = "You complete what is begun below, and say nothing else about it.\n"
	first, second := preamble+"unsure 0.90 is how it begins", preamble+"unsure 0.46 is how it begins"
	if got := who(first); got != "debug" {
		t.Fatalf("it begins with %q", got)
	}
	if got := who(second); got != "systems" {
		t.Fatalf("another with the same preamble went to %q", got)
	}
	if got := who(second + " and goes on"); got != "systems" {
		t.Errorf("the other one went on with %q", got)
	}
	if got := who(second+" and ends", "X-Intent", "debug"); got != "debug" {
		t.Errorf("a declared intent went to %q", got)
	}
}

// Told anew with every word, a completion stays where its first words went, though its text alone would belong to
// another replica.
func TestACompletionIsNotMovedByATrifle(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=0", "router.stickiness.margin=0.1",
		"router.stickiness.per_1k_tokens=0")
	prompt := "a text without a number is the first one's, by far."
	for i, more := range []string{"", " It goes on for a while.", " unsure 0.46 comes late", " and it ends."} {
		prompt += more
		body, _ := json.Marshal(map[string]any{"model": "octet", "max_tokens": 4, "prompt": prompt})
		if resp, answer := w.Post("/v1/completions", string(body)); resp.Header.Get("X-Specialist") != "debug" {
			t.Errorf("prompt %d went to %q: %s", i, resp.Header.Get("X-Specialist"), answer)
		}
	}
	body, _ := json.Marshal(map[string]any{"model": "octet", "max_tokens": 4, "prompt": "Another " + prompt})
	if resp, _ := w.Post("/v1/completions", string(body)); resp.Header.Get("X-Specialist") != "systems" {
		t.Errorf("a text that nobody knows went to %q", resp.Header.Get("X-Specialist"))
	}
}
