package app_test

import (
	"bytes"
	"strings"
	"testing"
)

// MEGA-60, MEGA-68: a request with an adapter is answered by a stand-in that has it, and with it. It is refused where
// none has: an adapter is never dropped in silence.
func TestAStandInHasTheAdapter(t *testing.T) {
	const adapters = "    adapters: [{name: gdb-v2}]\n"
	for name, tt := range map[string]struct {
		systems string
		status  int
	}{"a stand-in that has it": {adapters, 200}, "one that has not": {"", 503}} {
		t.Run(name, func(t *testing.T) {
			engines := judgedEngines()
			for i := range engines {
				engines[i].Adapters = []string{"gdb-v2"}
			}
			yaml := strings.Replace(judgedWorld, "    fallback: systems\n", "    fallback: systems\n"+adapters, 1)
			yaml = strings.Replace(yaml, "  - name: systems\n", "  - name: systems\n"+tt.systems, 1)
			w := newWorld(t, yaml, engines, keyed()...)
			w.Key = key
			w.demote("debug")
			resp, answer := w.Post("/v1/chat/completions",
				`{"model":"debug:gdb-v2","max_tokens":2,"messages":[{"role":"user","content":"x"}]}`)
			if resp.StatusCode != tt.status {
				t.Fatalf("status %d: %s", resp.StatusCode, answer)
			}
			if by, with := resp.Header.Get("X-Specialist"), resp.Header.Get("X-Adapter"); tt.status == 200 &&
				(by != "systems" || with != "gdb-v2") {
				t.Errorf("answered by %q with %q", by, with)
			}
			if tt.status == 503 && !bytes.Contains(answer, []byte(`"breaker_open"`)) {
				t.Errorf("refused with %s", answer)
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}
