package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// Contract §12: X-Specialist is on every refusal after the choice of the specialist, whatever refuses, streamed or not.
//
//nolint:lll // bodies that cannot be broken
func TestEveryRefusalAfterTheChoiceNamesTheSpecialist(t *testing.T) {
	const (
		ask   = `{"model":"debug","messages":[{"role":"user","content":"p"}],"max_tokens":4`
		image = `{"model":"debug","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b.png"}}]}]`
	)
	w := newWorld(t, smallWorld, smallEngines(), "limits.ttft_timeout=300ms", "limits.retry_burst=1000",
		"fleet.breaker.failures=1000", "fleet.breaker.ratio=1")
	operate := func(method, path, body string) func() {
		return func() {
			req, err := http.NewRequestWithContext(t.Context(), method, w.Admin+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s %s: %v, %v", method, path, resp, err)
			}
			resp.Body.Close()
		}
	}
	fault := func(kind string) func() {
		return func() {
			for _, replica := range []string{"debug-0", "debug-1"} {
				w.Fault(replica, `{"kind":"`+kind+`","times":4}`)
			}
		}
	}
	for _, c := range []struct {
		code    apierr.Code
		before  []func()
		body    string
		headers []string
		after   []func()
	}{
		{apierr.ContextLength, nil, `{"model":"debug","messages":[{"role":"user","content":"p"}],"max_tokens":4096`, nil, nil},
		{apierr.ExceedsPool, nil, `{"model":"systems","messages":[{"role":"user","content":"p"}],"max_tokens":9000`, nil, nil},
		{apierr.UnsupportedContent, nil, image, nil, nil},
		{apierr.PriorityFloor, []func(){operate("PUT", "/admin/knobs/priority_floor.codegen", `{"value":50}`)}, ask,
			[]string{"X-Intent", "codegen"}, []func(){operate("DELETE", "/admin/knobs/priority_floor.codegen", "")}},
		{apierr.NoHealthyReplica, []func(){operate("POST", "/admin/drain/debug-0", ""), operate("POST", "/admin/drain/debug-1", "")}, ask, nil,
			[]func(){operate("DELETE", "/admin/drain/debug-0", ""), operate("DELETE", "/admin/drain/debug-1", "")}},
		{apierr.UpstreamReset, []func(){fault("die_before_headers")}, ask, nil, nil},
		{apierr.UpstreamProtocolError, []func(){fault("garbage")}, ask, nil, nil},
		{apierr.UpstreamTimeout, []func(){fault("hang")}, ask, nil, nil},
		{apierr.DeadlineExceeded, []func(){fault("hang")}, ask, []string{"X-Deadline-Ms", "150"}, nil},
	} {
		for _, end := range []string{`}`, `,"stream":true}`} {
			if c.code == apierr.UpstreamTimeout && end == `}` {
				continue // an answer in one piece may take limits.answer_timeout
			}
			for _, f := range c.before {
				f()
			}
			resp, answer := w.Post("/v1/chat/completions", c.body+end, c.headers...)
			var said struct{ Error struct{ Code apierr.Code } }
			if err := json.Unmarshal(answer, &said); err != nil || said.Error.Code != c.code {
				t.Errorf("%s: status %d: %s", c.code, resp.StatusCode, answer)
			}
			if got := resp.Header.Get("X-Specialist"); got == "" || !strings.Contains(c.body, `"`+got+`"`) {
				t.Errorf("%s: X-Specialist is %q", c.code, got)
			}
			for _, f := range c.after {
				f()
			}
			for _, e := range w.Engines {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodDelete, e.URL+"/admin/faults", nil)
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
			}
		}
	}
	if resp, _ := w.Post("/v1/chat/completions", `{"model":"none","messages":[{"role":"user","content":"p"}]}`); resp.Header.Get("X-Specialist") != "" {
		t.Error("a refusal before the choice names a specialist")
	}
}
