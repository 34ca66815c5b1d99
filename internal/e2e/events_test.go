package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"octet/internal/await"
	"octet/internal/redistest"
)

// port returns a port that is free now.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, p, _ := net.SplitHostPort(l.Addr().String())
	return p
}

// known is what GET /admin/index says of a replica.
type known struct {
	Trust  string
	Blocks int
	Stale  bool
	Epoch  uint64
}

func fetch(t *testing.T, url string, v any) bool {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		return false // not up yet, or down
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == 200 && json.Unmarshal(body, v) == nil
}

func look(t *testing.T, admin, replica string) known {
	t.Helper()
	var all struct{ Replicas map[string]known }
	fetch(t, admin+"/admin/index", &all)
	return all.Replicas[replica]
}

// cached is how many blocks an engine has in its cache.
func cached(t *testing.T, url string) int {
	t.Helper()
	var s struct{ Cached int }
	fetch(t, url+"/admin/state", &s)
	return s.Cached
}

// Two engines, one read directly and one over a bridge and Redis; an engine and the gateway are killed on the way.
// DYN-10
func TestTheIndexFollowsEnginesThroughRestarts(t *testing.T) {
	server := redistest.Start(t)
	type ports struct{ http, live, replay string }
	at := [2]ports{{port(t), port(t), port(t)}, {port(t), port(t), port(t)}}
	run := func(i int) *running {
		return start(t, "engine", "--listen", "127.0.0.1:"+at[i].http, "--name", fmt.Sprint("debug-", i), "--model",
			"debug", "--step", "1ms",
			"--zmq", "tcp://127.0.0.1:"+at[i].live, "--zmq-replay", "tcp://127.0.0.1:"+at[i].replay)
	}
	engines := [2]*running{run(0), run(1)}
	start(t, "bridge", "--replica", "debug-1", "--zmq", "tcp://127.0.0.1:"+at[1].live, "--zmq-replay",
		"tcp://127.0.0.1:"+at[1].replay, "--redis", server.Addr)
	yaml := fmt.Sprintf(`
listen: {data: 127.0.0.1:0, admin: 127.0.0.1:0}
specialists:
  - name: debug
    tokenizer: builtin
    replicas:
      - {url: "http://127.0.0.1:%s", name: debug-0, events: {zmq: "tcp://127.0.0.1:%s", replay: "tcp://127.0.0.1:%s"}}
      - {url: "http://127.0.0.1:%s", name: debug-1}
events: {redis: {addr: %q}, snapshot: {file: %q}}
`, at[0].http, at[0].live, at[0].replay, at[1].http, server.Addr, filepath.Join(t.TempDir(), "index"))
	gw, data, admin, _ := gateway(t, yaml)
	agree := func(what string) {
		t.Helper()
		for i := range engines {
			await.True(t, fmt.Sprint(what, ": debug-", i), func() bool {
				k := look(t, admin, fmt.Sprint("debug-", i))
				return k.Trust == "exact" && !k.Stale && k.Blocks == cached(t, "http://127.0.0.1:"+at[i].http)
			})
		}
	}
	chat := func(n int) {
		t.Helper()
		for i := range n {
			body := `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"` +
				strings.Repeat(fmt.Sprint("case ", i, " "), 100) + `"}]}`
			await.True(t, "an answer",
				func() bool { code, _ := post(t, data+"/v1/chat/completions", body); return code == 200 })
		}
	}
	chat(6)
	agree("at first")
	for i := range engines {
		engines[i].stop(syscall.SIGKILL)
		engines[i] = run(i)
	}
	agree("after the engines' crash")
	chat(6)
	agree("filled again")
	gw.stop(syscall.SIGTERM)
	_, data, admin, _ = gateway(t, yaml)
	agree("after the gateway's restart")
	chat(2)
	agree("in the end")
}
