package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/config"
	"octet/engine/emulator"
	"octet/routing/events"
	"octet/routing/plugins"
)

// world is a gateway on real sockets before emulated engines on real sockets, all in this process. Cache events come by
// the in-process source.
type world struct {
	t       testing.TB
	house   *house
	data    string // base URL
	admin   string
	engines map[string]*emulated // by replica name
	local   *events.Local
	stop    context.CancelFunc // as SIGTERM
	ended   chan error
	wired   bool   // events come by the configured sources
	key     string // of the tenant that asks; "" is none
}

// emulated is one engine of a world.
type emulated struct {
	*emulator.Emulator
	url   string
	kill  func()
	conns *atomic.Int32                // accepted so far
	heard *atomic.Pointer[http.Header] // of the last request for an answer
}

// worldConfig is the YAML of a world; %s is a replica's URL, by position.
const smallWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 2s, ttft_timeout: 3s, drain: 5s}
fleet: {probe_interval: 50ms, breaker: {failures: 3, open_for: 300ms}}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    adapters: [{name: gdb-v2}]
    replicas:
      - {url: "%s", blocks: 512, forward_priority: true}
      - {url: "%s", blocks: 512, forward_priority: true}
  - name: systems
    tokenizer: builtin
    replicas:
      - {url: "%s", blocks: 512}
`

// smallEngines are the engines of smallWorld.
func smallEngines() []emulator.Config {
	one := func(name, model string) emulator.Config {
		return emulator.Config{Name: name, Model: model, Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000,
			Adapters: []string{"gdb-v2"}}
	}
	return []emulator.Config{one("debug-0", "debug"), one("debug-1", "debug"), one("systems-0", "systems")}
}

// newWorld starts engines and a gateway; all end with the test. Sets override keys of the configuration.
func newWorld(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	return openWorld(t, false, yaml, engines, sets...)
}

// newWiredWorld is newWorld with the events coming as the configuration says; engines publish by what they were given.
func newWiredWorld(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	return openWorld(t, true, yaml, engines, sets...)
}

func openWorld(t testing.TB, wired bool, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	w := &world{t: t, wired: wired, engines: map[string]*emulated{}, local: events.NewLocal(1 << 12),
		ended: make(chan error, 1)}
	urls := make([]any, len(engines))
	for i, c := range engines {
		if c.Publisher == nil && !wired {
			c.Publisher = w.local
		}
		e := w.engine(c)
		w.engines[e.State().Name], urls[i] = e, e.url
	}
	cfg, err := config.Parse("world.yaml", []byte(fmt.Sprintf(yaml, urls...)),
		config.Options{Presets: plugins.Presets(),
			Sets: append(w.sets(), sets...)})
	if err != nil {
		t.Fatal(err)
	}
	w.serve(cfg)
	return w
}

// sets are the keys that every world has. One that is not wired has a source of events in name.
func (w *world) sets() []string {
	all := []string{"listen.data=127.0.0.1:0", "listen.admin=127.0.0.1:0"}
	if !w.wired {
		all = append(all, "events.nats.url=nats://127.0.0.1:1")
	}
	if front := os.Getenv("OCTET_TEST_FRONT"); front != "" {
		// octet or nethttp: every test of this package, with that one
		all = append(all, "front="+front)
	}
	return all
}

func (w *world) engine(c emulator.Config) *emulated {
	e, err := emulator.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	conns := new(atomic.Int32)
	heard := new(atomic.Pointer[http.Header])
	handler := e.Handler()
	listener := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/") {
			heard.Store(&r.Header)
		}
		handler.ServeHTTP(rw, r)
	})
	server := &http.Server{Handler: listener, ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}}
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = server.Serve(l) })
	kill := func() {
		_ = server.Close()
		cancel()
		running.Wait()
	}
	w.t.Cleanup(kill)
	return &emulated{e, "http://" + l.Addr().String(), kill, conns, heard}
}

// serve runs the gateway the way serve does, but for the transports: events come by the in-process source.
func (w *world) serve(cfg *config.Config) {
	h, err := newHouse(cfg, testLog(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	data, admin, err := listen(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := h.apply(w.t.Context(), cfg); err != nil {
		w.t.Fatal(err)
	}
	consuming := *cfg
	if !w.wired {
		consuming.Events = config.Events{}
	}
	stop, err := h.background(&consuming, source{})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.local.Consume(ctx, h.feed) })
	term, sigterm := context.WithCancel(context.Background())
	go func() { w.ended <- h.server.Run(term, data, admin) }()
	w.house, w.stop = h, sigterm
	w.data, w.admin = "http://"+data.Addr().String(), "http://"+admin.Addr().String()
	w.t.Cleanup(func() {
		sigterm()
		<-w.ended
		stop()
		cancel()
		running.Wait()
	})
}

func testLog(t testing.TB) *slog.Logger {
	level := slog.LevelError
	if testing.Verbose() {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level}))
}

// ask sends a request; header pairs follow the body.
func (w *world) ask(ctx context.Context, path, body string, headers ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", w.data+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	w.authorize(req)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// keyed are the settings under which a request with key is the tenant judge's, whose verdicts count.
func keyed(sets ...string) []string {
	return append([]string{"auth.tenants[0].name=judge", "auth.tenants[0].key_sha256=" + keySHA}, sets...)
}

// authorize has the world's tenant ask.
func (w *world) authorize(r *http.Request) {
	if w.key != "" {
		r.Header.Set("Authorization", "Bearer "+w.key)
	}
}

// post is ask with the whole answer read.
func (w *world) post(path, body string, headers ...string) (*http.Response, []byte) {
	w.t.Helper()
	resp := w.ask(w.t.Context(), path, body, headers...)
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Logf("reading %s: %v", path, err)
	}
	return resp, answer
}

// get reads a path of a listener as JSON into v.
func (w *world) get(url string, v any) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.authorize(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if v != nil {
		if err := json.Unmarshal(answer, v); err != nil {
			w.t.Fatalf("%s: %v in %s", url, err, answer)
		}
	}
	return resp.StatusCode
}

// fault arms a fault at an engine.
func (w *world) fault(replica, fault string) {
	w.t.Helper()
	resp, err := http.Post(w.engines[replica].url+"/admin/faults", "application/json", strings.NewReader(fault))
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		w.t.Fatalf("fault %s: status %d", fault, resp.StatusCode)
	}
}

// errorBody is the contract's error object.
type errorBody struct {
	Error struct {
		Message, Type, Code string
		Param               *string
	}
	RequestID string `json:"request_id"`
}

// stream is a streamed answer as a client sees it.
type stream struct {
	text   string
	done   bool
	failed *errorBody // the error event
	clean  bool       // the connection ended properly
	events int
}

func readStream(body io.Reader) (s stream) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if payload, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && err == nil {
			s.take(payload)
		}
		if err != nil {
			s.clean = err == io.EOF
			return s
		}
	}
}

func (s *stream) take(payload []byte) {
	s.events++
	if string(payload) == "[DONE]" {
		s.done = true
		return
	}
	var e errorBody
	if json.Unmarshal(payload, &e) == nil && e.Error.Code != "" {
		s.failed = &e
		return
	}
	var chunk struct {
		Choices []struct {
			Delta struct{ Content string }
			Text  string
		}
	}
	_ = json.Unmarshal(payload, &chunk)
	for _, c := range chunk.Choices {
		s.text += c.Delta.Content + c.Text
	}
}

// indexText is what an engine in index mode says in the first n tokens of a request.
func indexText(id string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "⟦%s:%d⟧", id, i)
	}
	return b.String()
}

// eventually fails the test when ok does not become true in time.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second) // of a machine that many share
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
		time.Sleep(5 * time.Millisecond) // real time: the gateway's own goroutines
	}
}

// quiet reports whether the ledgers of Gates, fleet and engines are back at their baseline: nothing held, nobody
// waiting.
func (w *world) quiet() bool {
	for _, rep := range w.house.server.Runtime().Replicas {
		if rep == nil {
			continue
		}
		if s := rep.Gate.Stats(); s.Used+s.Reserved+s.Waiting+s.Running+s.Preempting != 0 || s.Free != s.Total ||
			rep.Gate.Check() != nil {
			return false
		}
		if l := rep.Fleet.Load(); l.InFlight+l.Backlog+l.Tokens != 0 {
			return false
		}
	}
	for _, e := range w.engines {
		if s := e.Stats(); s.Used+s.Reserved+s.Waiting+s.Running != 0 {
			return false
		}
	}
	return true
}
