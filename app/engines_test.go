package app_test

import (
	"strings"
	"testing"
)

// An adapter is asked for by the name that its kind of engine has for it.
func TestAnAdapterIsAskedForInItsEnginesWords(t *testing.T) {
	for kind, want := range map[string]string{"vllm": `"model":"gdb-v2"`, "sglang": `"model":"debug:gdb-v2"`,
		"openai": `"model":"gdb-v2"`} {
		w := newWorld(t, smallWorld, smallEngines(), "specialists[0].replicas[0].engine="+kind,
			"specialists[0].replicas[1].engine="+kind)
		resp, answer := w.Post("/v1/chat/completions", hello, "X-Adapter", "gdb-v2")
		if resp.StatusCode != 200 || resp.Header.Get("X-Adapter") != "gdb-v2" ||
			!strings.Contains(string(answer), want) {
			t.Errorf("%s: status %d, no %s in %s", kind, resp.StatusCode, want, answer)
		}
	}
}
