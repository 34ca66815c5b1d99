package cmd

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octet/gateway"
)

// B4: an engine publishes a salt with every block, and no event may have a long one.
func TestALongSaltOrAdapterIsRefusedAtTheDoor(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	chat := func(more string) string {
		return `{"model":"debug","max_tokens":2,"messages":[{"role":"user","content":"hello"}]` + more + `}`
	}
	salted := func(salt string) string { return chat(`,"cache_salt":"` + salt + `"`) }
	for name, row := range map[string]struct {
		body, param string
		headers     []string
	}{
		"257 bytes":          {salted(strings.Repeat("s", 257)), "cache_salt", nil},
		"129 letters of two": {salted(strings.Repeat("é", 129)), "cache_salt", nil},
		"escapes":            {salted(strings.Repeat(`\u00e9`, 129)), "cache_salt", nil},
		"an adapter":         {chat(""), "X-Adapter", []string{"X-Adapter", strings.Repeat("a", 257)}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, answer := w.post("/v1/chat/completions", row.body, append(row.headers, "X-Request-Id", "salt")...)
			checkError(t, resp, answer, http.StatusBadRequest, gateway.CodeInvalidValue, row.param)
		})
	}
	for _, salt := range []string{strings.Repeat("s", 256), strings.Repeat(`\u0073`, 256)} {
		if resp, answer := w.post("/v1/chat/completions", salted(salt)); resp.StatusCode != http.StatusOK {
			t.Errorf("%d %s", resp.StatusCode, answer)
		}
	}
}

// A client that reaches the engine past the gateway is not bound by the gateway's door.
func TestALongSaltAtTheEngineCostsItsOwnBlocksAlone(t *testing.T) {
	a, keysA := zmqEngine(t)
	b, keysB := zmqEngine(t)
	w := newWiredWorld(t, fmt.Sprintf(pair, keysA, keysB), pairOf(a, b))
	w.exact()
	salted := strings.Replace(lengthy("a salted prompt"), "{", `{"cache_salt":"`+strings.Repeat("s", 300)+`",`, 1)
	resp, err := http.Post(w.engines["debug-0"].url+"/v1/chat/completions", "application/json", strings.NewReader(salted))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	w.post("/v1/chat/completions", lengthy("a plain prompt"))
	var seen struct {
		Replicas map[string]struct {
			Stale         bool
			Gaps, Blocks  int
			RefusedEvents int `json:"refused_events"`
		}
	}
	eventually(t, "the half that is not under the long salt is known", func() bool {
		w.get(w.admin+"/admin/index", &seen)
		known := seen.Replicas["debug-0"].Blocks + seen.Replicas["debug-1"].Blocks
		cached := w.engines["debug-0"].State().Cached + w.engines["debug-1"].State().Cached
		return known > 0 && 2*known == cached && seen.Replicas["debug-0"].RefusedEvents > 0
	})
	if r := seen.Replicas["debug-0"]; r.Stale || r.Gaps > 0 {
		t.Errorf("%+v", r)
	}
}
