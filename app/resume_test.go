package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/scheduler/gate"
)

// slowEngines are those of smallWorld, slow enough that a stream can be caught in the middle.
func slowEngines() []emulator.Config {
	engines := smallEngines()
	for i := range engines {
		engines[i].Step = 4 * time.Millisecond
	}
	return engines
}

func (w *world) gate(replica string) *gate.Gate {
	return w.App.Server().Runtime().Replicas[w.Replica(replica).Host].Gate
}

// until reads body up to text and returns what it read.
func until(t *testing.T, body io.Reader, text string) string {
	t.Helper()
	var read strings.Builder
	buf := make([]byte, 512)
	for !strings.Contains(read.String(), text) {
		n, err := body.Read(buf)
		if read.Write(buf[:n]); err != nil {
			t.Fatalf("%v after %s", err, read.String())
		}
	}
	return read.String()
}

//nolint:lll // raw text that cannot be broken
var resumable = map[string]string{
	"/v1/chat/completions": `{"model":"systems","stream":true,"stream_options":{"include_usage":true},"max_tokens":60,"messages":[{"role":"user","content":"x"}]}`,
	"/v1/completions":      `{"model":"systems","stream":true,"stream_options":{"include_usage":true},"max_tokens":60,"prompt":"an \"x\""}`,
}

// MEGA-25, MEGA-46: a request that is preempted after its first token goes on where it was: one stream, no token lost,
// repeated or another's, one head, one identity, one account.
func TestAPreemptedStreamGoesOnWhereItWas(t *testing.T) {
	for path, body := range resumable {
		t.Run(path, func(t *testing.T) {
			w := newWorld(t, smallWorld, slowEngines(), "specialists[1].scheduler.max_running=1")
			alone, whole := w.Post(path, body, "X-Request-Id", "low")
			w.Fault("systems-0", `{"kind":"slow","times":1}`) // until it gives way
			resp := w.Ask(t.Context(), path, body, "X-Priority", "-5", "X-Request-Id", "low")
			got := until(t, resp.Body, "⟦low:9⟧")
			high, answer := w.Post("/v1/chat/completions", streamed(systems), "X-Priority", "5", "X-Request-Id", "high")
			if s := readStream(strings.NewReader(string(answer))); high.StatusCode != 200 ||
				s.text != indexText("high", 12) {
				t.Errorf("the urgent one: status %d: %s", high.StatusCode, answer)
			}
			rest, err := io.ReadAll(resp.Body)
			got += string(rest)
			if s := readStream(strings.NewReader(got)); err != nil || s.text != indexText("low", 60) || !s.done {
				t.Errorf("the one that gave way: %v: %q", err, s.text)
			}
			if n := w.gate("systems-0").Stats().Preemptions; n != 1 || alone.StatusCode != 200 {
				t.Errorf("%d preemptions", n)
			}
			sameStream(t, string(whole), got)
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// sameStream compares all that two streams of one request say, but for the time and what was cached.
func sameStream(t *testing.T, want, got string) {
	t.Helper()
	a, b := chunksOf(t, want), chunksOf(t, got)
	if len(a) != len(b) {
		t.Fatalf("%d chunks, alone %d", len(b), len(a))
	}
	born := b[0]["created"]
	for i := range a {
		if b[i]["created"] != born {
			t.Errorf("chunk %d is of another time", i)
		}
		for _, chunk := range []map[string]any{a[i], b[i]} {
			delete(chunk, "created")
			if u, ok := chunk["usage"].(map[string]any); ok {
				delete(u, "prompt_tokens_details")
			}
		}
		if x, y := fmt.Sprint(a[i]), fmt.Sprint(b[i]); x != y {
			t.Errorf("chunk %d is\n%s, alone\n%s", i, y, x)
		}
	}
}

func chunksOf(t *testing.T, stream string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(stream) {
		if payload, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && payload != "[DONE]" {
			var chunk map[string]any
			if err := json.Unmarshal([]byte(payload), &chunk); err != nil {
				t.Fatal(err, payload)
			}
			list = append(list, chunk)
		}
	}
	return list
}

// After four times a request keeps its place to the end.
func TestNobodyGivesWayMoreThanFourTimes(t *testing.T) {
	w := newWorld(t, smallWorld, slowEngines(), "specialists[1].scheduler.max_running=1")
	body := strings.Replace(resumable["/v1/chat/completions"], "60", "400", 1)
	resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Priority", "-5", "X-Request-Id", "low")
	got := ""
	for i := range 5 { // at the fifth time it runs to its end before the urgent one starts
		got += until(t, resp.Body, fmt.Sprintf("⟦low:%d⟧", 10+20*i))
		w.Post("/v1/chat/completions", strings.Replace(streamed(systems), "12", "2", 1), "X-Priority", "5")
	}
	rest, _ := io.ReadAll(resp.Body)
	if s := readStream(strings.NewReader(got + string(rest))); s.text != indexText("low", 400) || !s.done {
		t.Errorf("%+v", s)
	}
	if n := w.gate("systems-0").Stats().Preemptions; n != 4 {
		t.Errorf("%d preemptions", n)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// What no engine could take up from its text is pinned from its first byte on.
func TestWhatTheTextDoesNotShowIsNotPreempted(t *testing.T) {
	for _, member := range []string{`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"`,
		`"response_format":{"type":"json_object"}`, `"seed":1`, `"n":2`} {
		w := newWorld(t, smallWorld, slowEngines(), "specialists[1].scheduler.max_running=1")
		body := strings.Replace(resumable["/v1/chat/completions"], "{", "{"+member+",", 1)
		resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Priority", "-5", "X-Request-Id", "low")
		got := until(t, resp.Body, "⟦low:3⟧")
		w.Post("/v1/chat/completions", streamed(systems), "X-Priority", "5", "X-Request-Id", "high")
		rest, _ := io.ReadAll(resp.Body)
		if s := readStream(strings.NewReader(got + string(rest))); !s.done ||
			!strings.Contains(s.text, "⟦low:59⟧") {
			t.Errorf("%s: %+v", member, s)
		}
		if n := w.gate("systems-0").Stats().Preemptions; n != 0 {
			t.Errorf("%s: %d preemptions", member, n)
		}
	}
}
