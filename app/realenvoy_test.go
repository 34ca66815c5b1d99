package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"octet/engine/emulator"
)

// realEnvoy is Envoy itself, with the configuration of deploy/gateway-api, before the picker of a world.
type realEnvoy struct {
	t      testing.TB
	w      *world
	at     string // where clients ask
	admin  string // base URL
	picker string // where it asks
	end    func() // of the picker, as a crash does
}

// envoyBinary returns the path of Envoy; without one the test is skipped.
func envoyBinary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("OCTET_ENVOY")
	if path == "" {
		path, _ = exec.LookPath("envoy")
	}
	if path == "" {
		t.Skip("no Envoy: OCTET_ENVOY names none and none is on PATH; make envoy fetches one")
	}
	return path
}

// newRealEnvoy starts Envoy before a picker of w. Edits are pairs, as strings.NewReplacer's, each of which must apply
// to the configuration.
func newRealEnvoy(t testing.TB, w *world, edits ...string) *realEnvoy {
	t.Helper()
	binary := envoyBinary(t)
	l := listens(t, "127.0.0.1:0")
	e := &realEnvoy{t: t, w: w, picker: l.Addr().String()}
	e.end = pickerAt(t, w, l, false, nil)
	_, port, _ := net.SplitHostPort(e.picker)
	text, err := os.ReadFile(filepath.Join("..", "deploy", "gateway-api", "envoy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	edits = append([]string{"port_value: 8000", "port_value: 0", "port_value: 9901", "port_value: 0",
		"port_value: 9002", "port_value: " + port,
		// so that tests can offer endpoints
		"                          - remove: x-gateway-destination-endpoint-subset\n", ""}, edits...)
	for i := 0; i < len(edits); i += 2 {
		if !bytes.Contains(text, []byte(edits[i])) {
			t.Fatalf("the configuration has no %q", edits[i])
		}
	}
	dir := t.TempDir()
	path, address := filepath.Join(dir, "envoy.yaml"), filepath.Join(dir, "admin")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	e.run(exec.Command(binary, "-c", path, "--admin-address-path", address, "--concurrency", "1",
		"--disable-hot-restart", "-l", "warning"), address)
	return e
}

// run starts the process, which writes the address of its admin listener to a file, and waits until it listens.
func (e *realEnvoy) run(process *exec.Cmd, address string) {
	e.t.Helper()
	var said bytes.Buffer
	process.Stdout, process.Stderr = &said, &said
	if err := process.Start(); err != nil {
		e.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // it is killed
	}()
	e.t.Cleanup(func() {
		_ = process.Process.Kill()
		<-ended
		e.t.Log(said.String())
	})
	eventually(e.t, "Envoy listens", func() bool {
		select {
		case <-ended:
			e.t.Fatal("Envoy has ended")
		default:
		}
		at, err := os.ReadFile(address)
		if err != nil || len(at) == 0 {
			return false
		}
		e.admin = "http://" + string(at)
		e.at = e.listener()
		return e.at != ""
	})
}

// listener returns where clients ask; "" until it is known.
func (e *realEnvoy) listener() string {
	resp, err := http.Get(e.admin + "/listeners?format=json")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var all struct {
		Statuses []struct {
			At struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if json.NewDecoder(resp.Body).Decode(&all) != nil || len(all.Statuses) == 0 || all.Statuses[0].At.Socket.Port == 0 {
		return ""
	}
	s := all.Statuses[0].At.Socket
	return net.JoinHostPort(s.Address, strconv.Itoa(s.Port))
}

// clientsOf returns a client of each version of HTTP, by its name.
func clientsOf(t testing.TB) map[string]*http.Client {
	all := map[string]*http.Client{}
	for _, name := range []string{"HTTP/1.1", "HTTP/2"} {
		p := new(http.Protocols)
		p.SetHTTP1(name == "HTTP/1.1")
		p.SetUnencryptedHTTP2(name == "HTTP/2")
		transport := &http.Transport{Protocols: p, MaxIdleConnsPerHost: 100}
		t.Cleanup(transport.CloseIdleConnections)
		all[name] = &http.Client{Transport: transport}
	}
	return all
}

// ask sends a request for an answer; header pairs follow the body.
func (e *realEnvoy) ask(ctx context.Context, c *http.Client, body io.Reader, pairs ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+e.at+"/v1/chat/completions", body)
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == "Trailer" {
			r.Trailer = http.Header{pairs[i+1]: {"told"}}
			continue
		}
		r.Header.Set(pairs[i], pairs[i+1])
	}
	return c.Do(r)
}

// post is ask with the whole answer read.
func (e *realEnvoy) post(c *http.Client, body string, pairs ...string) (*http.Response, string, error) {
	e.t.Helper()
	resp, err := e.ask(e.t.Context(), c, strings.NewReader(body), pairs...)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

// back waits until no body is on its way and nothing is held.
func (e *realEnvoy) back(what string) {
	e.t.Helper()
	eventually(e.t, what+": it is over", func() bool { return e.w.App.Server().Inbound() == 0 })
	quiet(e.t, e.w)
}

// roomyWorld has engines for prompts of megabytes.
const roomyWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 20s, ttft_timeout: 60s, drain: 5s}
fleet: {probe_interval: 50ms, breaker: {failures: 3, open_for: 300ms}}
specialists:
  - name: debug
    tokenizer: builtin
    context: 2097152
    replicas:
      - {url: "%s", blocks: 131072}
      - {url: "%s", blocks: 131072}
`

func roomyEngines() (all []emulator.Config) {
	for _, c := range smallEngines()[:2] {
		c.Blocks, c.MaxModelLen, c.PrefillTPS, c.TokenBudget = 131072, 1<<21, 1e9, 1<<20
		all = append(all, c)
	}
	return all
}
