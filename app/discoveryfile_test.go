package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/engine/emulator"
)

// found is a world whose one specialist has replicas that are found alone.
const found = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 2s, ttft_timeout: 3s, drain: 5s}
fleet: {probe_interval: 50ms, discovery: {settle: 10ms, keep: 1m}}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    sleep: {hold: 0s}
    discover: {file: '%s', template: {blocks: 512, engine: vllm}}
`

// engine is an emulated one of the specialist debug.
func debugEngine(name string) emulator.Config {
	c := smallEngines()[0]
	c.Name = name
	return c
}

// listAt writes what a file of replicas says, whole or not at all.
func listAt(t testing.TB, path string, lines ...string) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// A replica in the watched file serves before the first request; one that joins the list is asked; one that leaves it
// gets no new requests and keeps its slot; and a list at fault changes nothing.
func TestReplicasOfAWatchedFileComeAndGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replicas.yaml")
	w := newWorld(t, fmt.Sprintf(found, path), nil)
	if resp, text := w.Post("/v1/chat/completions", simple); resp.StatusCode != 503 ||
		!strings.Contains(string(text), "no_healthy_replica") {
		t.Fatalf("without a replica: %d: %s", resp.StatusCode, text)
	}
	a, b := w.Start(debugEngine("a")), w.Start(debugEngine("b"))
	listAt(t, path, "- {name: a, url: "+a.URL+"}")
	eventually(t, "a serves", func() bool { return w.Replicas()["a"] != nil })
	if resp, text := w.Post("/v1/chat/completions", simple); resp.StatusCode != 200 {
		t.Fatalf("%d: %s", resp.StatusCode, text)
	}
	was := w.Replica("a")
	listAt(t, path, "- {name: b, url: "+b.URL+"}", "- {name: a, url: "+a.URL+"}")
	eventually(t, "b serves", func() bool { return w.Replicas()["b"] != nil })
	if now := w.Replica("a"); now.Host != was.Host || now.Fleet != was.Fleet || now.Gate != was.Gate {
		t.Error("a is another replica after b has joined")
	}
	listAt(t, path, "- {name: b, url: "+b.URL+"}")
	eventually(t, "a takes no requests", func() bool { return w.Replica("a").Fleet.Withdrawn() })
	listAt(t, path, "- {name: b, url: "+b.URL+", blocks: many}")
	listAt(t, path, "- {name: b, url: "+b.URL+"}", "- {name: a, url: "+a.URL+"}")
	eventually(t, "a is back", func() bool { return !w.Replica("a").Fleet.Withdrawn() })
	if now := w.Replica("a"); now.Host != was.Host || now.Fleet != was.Fleet || now.Gate != was.Gate {
		t.Error("a has lost what was known of it")
	}
}

const simple = `{"model":"debug","messages":[{"role":"user","content":"hello"}],"max_tokens":4}`
