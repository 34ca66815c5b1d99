package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What a client says beside its body ends at the gateway, but for the trace that the request belongs to and the headers
// that the configuration names, whichever server reads them.
func TestEnginesAreSentTheHeadersThatAreNamed(t *testing.T) {
	for _, server := range []string{"octet", "nethttp"} {
		w, engines := kindsWorld(t, "front="+server)
		for _, c := range []struct{ ask, want []string }{
			{nil, nil},
			{[]string{"X-Other", "a", "Authorization-Too", "b"}, nil},
			{[]string{"X-Team", "a b", "x-session-id", "s", "openai-project", "p"},
				[]string{"X-Team", "a b", "X-Session-Id", "s", "Openai-Project", "p"}},
			{[]string{"traceparent", "00-1-2-01", "TraceState", "v=1"},
				[]string{"Traceparent", "00-1-2-01", "Tracestate", "v=1"}},
			{[]string{"tracestate", "v=1"}, nil},
			{[]string{"X-Team", "a", "Connection", "x-team"}, nil},
			{[]string{"X_Team", "a"}, nil},
		} {
			resp, text := w.Post("/v1/chat/completions", toVLLM, c.ask...)
			if resp.StatusCode != 200 {
				t.Fatalf("%q: %d %s", c.ask, resp.StatusCode, text)
			}
			got := *engines["vllm"].head.Load()
			for _, name := range []string{"X-Team", "X-Session-Id", "Openai-Project", "Traceparent", "Tracestate",
				"X-Other", "Authorization-Too", "X_team"} {
				var want []string
				if i := slices.Index(c.want, name); i >= 0 {
					want = []string{c.want[i+1]}
				}
				if !slices.Equal(got.Values(name), want) {
					t.Errorf("%s, %q: %s is %q, want %q", server, c.ask, name, got.Values(name), want)
				}
			}
		}
	}
}

const toVLLM = `{"model":"vllm","messages":[{"role":"user","content":"x"}]}`

// Of two parents none is the trace's; of other headers every value goes on.
func TestATraceHasOneParent(t *testing.T) {
	w, engines := kindsWorld(t)
	q, err := http.NewRequest("POST", w.Data+"/v1/chat/completions", strings.NewReader(toVLLM))
	if err != nil {
		t.Fatal(err)
	}
	q.Header = http.Header{"Content-Type": {"application/json"}, "Traceparent": {"00-1-2-01", "00-3-4-01"},
		"Tracestate": {"v=1"}, "X-Team": {"a", "b"}}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	got := *engines["vllm"].head.Load()
	if len(got.Values("Traceparent"))+len(got.Values("Tracestate")) > 0 ||
		!slices.Equal(got.Values("X-Team"), []string{"a", "b"}) {
		t.Errorf("%v", got)
	}
}
