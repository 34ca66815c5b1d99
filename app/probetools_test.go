package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octet/slo"
)

// calling is an engine that writes code that does not compile beside a call, where it is offered tools; else as
// compiles.
func calling(t *testing.T, good *atomic.Bool) string {
	t.Helper()
	plain := compiles(t, good)
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"tools"`) {
			resp, err := http.Post(plain, "application/json", strings.NewReader(string(body))) //nolint:noctx // short
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			_, _ = io.Copy(w, resp.Body)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"%scpp\nint f( {\n%s",`+
			`"tool_calls":[{"id":"c","type":"function","function":{"name":"read_file","arguments":"{}"}}]},`+
			`"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":9}}`, "```", "```")
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// Issue 20: an answer that calls tools is a step: the verifier finds no answer worse for it, neither the client's nor a
// copy's. A demoted specialist is sent copies of requests with tools, and recovers by verdicts on them.
func TestToolCallsAreNotJudgedAsAnswers(t *testing.T) {
	var sound atomic.Bool
	sound.Store(true)
	w := newWorld(t, fmt.Sprintf(`
auth: {anonymous: true}
outcomes: {verifier: {sample: 1, workers: 2, command: [sh, -c, '! grep -q "f( {" $1', sh, '{}']}}
specialists:
  - name: debug
    fallback: systems
    slo: {correctness: {floor: 0.5, min_samples: 5, recover_for: 200ms, probe_share: 1}}
    replicas: [{url: '%s', engine: openai, blocks: 512}]
  - {name: systems, replicas: [{url: '%s', engine: openai, blocks: 512}]}
`, calling(t, &sound), calling(t, &sound)), nil, keyed()...)
	w.Key = key
	withTools := `{"tools":[` + readTool + `],` + hello[1:]
	settled := func() uint64 {
		s := w.App.Verifier().Stats()
		return s.Judged + s.Broken + s.Dropped
	}
	for range 8 {
		if _, resp := w.answered(withTools); resp.Header.Get("X-Specialist") != "debug" {
			t.Fatal("demoted for its tool calls")
		}
	}
	w.answered(hello) // what comes last is judged last
	breaker := w.App.Server().Runtime().Specialist("debug").Board.Breaker()
	eventually(t, "the verdict on a text", func() bool {
		return settled() > 0 && breaker.State(time.Now()).Samples > 0
	})
	if s := breaker.State(time.Now()); settled() != 1 || s.Samples != 1 || s.Passed != 1 {
		t.Errorf("%d verdicts, %+v", settled(), s)
	}

	for range 12 {
		w.App.Server().Runtime().Specialist("debug").Board.Outcome(slo.Verdict{Answered: time.Now()})
	}
	judged := settled()
	eventually(t, "debug to answer again, judged by the copies of requests with tools", func() bool {
		id, resp := w.answered(withTools)
		if resp.Header.Get("X-Shadow") == "debug" {
			if resp, said := w.Post("/v1/outcomes", fmt.Sprintf(
				`{"receipt":%q,"kind":"review","pass":true,"specialist":"debug"}`, id)); resp.StatusCode != 200 {
				t.Fatalf("the verdict on a copy: %d %s", resp.StatusCode, said)
			}
		} else if resp.Header.Get("X-Specialist") != "debug" {
			t.Fatalf("no copy: %v", resp.Header)
		}
		return resp.Header.Get("X-Specialist") == "debug"
	})
	if settled() != judged {
		t.Errorf("%d verdicts on tool calls", settled()-judged)
	}
}
