package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// MEGA-54, MEGA-59: a demoted specialist is demoted after a restart.
func TestVerdictsOutliveTheGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verdicts.json")
	sets := []string{"outcomes.file=" + file, "outcomes.interval=100ms"}
	first := newJudgedWorld(t, sets...)
	first.demote("debug")
	before := first.App.Server().Runtime().Specialist("debug").Board.Report().Correctness
	eventually(t, "the file", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && bytes.Contains(text, []byte("shadow-only"))
	})
	second := newJudgedWorld(t, sets...)
	if _, resp := second.answered(hello); resp.Header.Get("X-Specialist") != "systems" {
		t.Error("the demotion is forgotten")
	}
	after := second.App.Server().Runtime().Specialist("debug").Board.Report().Correctness
	if after.Samples != before.Samples || *after.Rate != *before.Rate || after.Standing != "shadow-only" {
		t.Errorf("%+v, was %+v", after, before)
	}
}

// coder is an engine that answers every other request with code that does not compile.
//
//nolint:lll // raw text that cannot be broken
func coder(t *testing.T) string {
	t.Helper()
	var asked atomic.Int32
	answers := []string{"Here:\n```cpp\nint f() { return 1; }\n```\n", "Here:\n```cpp\nint f( { return 1; }\n```\n"}
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte("messages")) {
			return
		}
		text, _ := json.Marshal(answers[int(asked.Add(1)-1)/2%2])
		if bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
			fmt.Fprint(
				w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(
			w,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":9}}`, text)
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// MEGA-54: the gateway's own judge compiles what clients were told, streamed and whole, and counts for the specialist
// that answered.
func TestTheVerifierJudgesWhatClientsWereTold(t *testing.T) {
	yaml :=
		"auth: {anonymous: true}\noutcomes: {verifier: {sample: 1, command: [sh, -c, '! grep -q \"f( {\" $1', sh, " +
			"'{}']}}\n" +
			"specialists: [{name: debug, replicas: [{url: '" + coder(t) + "', engine: openai, blocks: 512}]}]\n"
	w := newWorld(t, yaml, nil)
	for range 2 {
		w.answered(hello)
		w.answered(streamed(hello))
	}
	eventually(t, "verdicts", func() bool {
		return w.App.Server().Runtime().Specialist("debug").Board.Report().Correctness.Samples == 4
	})
	if s := w.App.Verifier().Stats(); s.Judged != 4 || s.Passed != 2 {
		t.Errorf("%+v", s)
	}
}
