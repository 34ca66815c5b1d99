// Package apptest runs whole gateways in tests: a World on real sockets, a Bubble in memory and virtual time, each
// before emulated engines.
package apptest

import (
	"context"
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

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/gateway/ensemble"
	"octet/routing/events"
	"octet/routing/plugins"
)

// World is a gateway on real sockets before emulated engines on real sockets, all in this process.
type World struct {
	T       testing.TB
	App     *app.App
	Data    string             // base URL
	Admin   string             // likewise
	Engines map[string]*Engine // by replica name
	Local   *events.Local      // brings the cache events, unless the world is wired
	Stop    context.CancelFunc // as SIGTERM does
	Ended   chan error         // what Serve has returned
	Key     string             // of the tenant whose requests Ask sends; empty means none
	wired   bool               // cache events come by the configured sources
	close   sync.Once
}

// Engine is one engine of a World.
type Engine struct {
	*emulator.Emulator
	URL   string
	Kill  func()                       // ends it as a crash does: it announces nothing
	Conns *atomic.Int32                // accepted so far
	Heard *atomic.Pointer[http.Header] // of the last request for an answer
}

// Small is the configuration of a small World; %s is a replica's URL, by position.
const Small = `
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

// SmallEngines returns the engines of Small.
func SmallEngines() []emulator.Config {
	one := func(name, model string) emulator.Config {
		return emulator.Config{Name: name, Model: model, Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000,
			Adapters: []string{"gdb-v2"}}
	}
	return []emulator.Config{one("debug-0", "debug"), one("debug-1", "debug"), one("systems-0", "systems")}
}

// New starts engines and a gateway; all end with the test. Sets override keys of the configuration.
func New(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *World {
	t.Helper()
	return open(t, false, yaml, engines, sets...)
}

// NewWired is New with cache events as the configuration says; engines publish to the Publisher of their Config.
func NewWired(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *World {
	t.Helper()
	return open(t, true, yaml, engines, sets...)
}

func open(t testing.TB, wired bool, yaml string, engines []emulator.Config, sets ...string) *World {
	t.Helper()
	w := &World{T: t, wired: wired, Engines: map[string]*Engine{}, Local: events.NewLocal(1 << 12),
		Ended: make(chan error, 1)}
	urls, telling := make([]any, len(engines)), 0
	for i, c := range engines {
		if c.Publisher == nil && !wired {
			c.Publisher = w.Local
			telling++
		}
		e := w.Start(c)
		w.Engines[e.State().Name], urls[i] = e, e.URL
	}
	cfg, err := config.Parse("world.yaml", []byte(fmt.Sprintf(yaml, urls...)),
		config.Options{Presets: plugins.Presets(),
			Sets: append(w.Sets(), sets...)})
	if err != nil {
		t.Fatal(err)
	}
	if wired {
		w.serve(cfg, app.Options{})
		return w
	}
	first := newOpenings(w.Local, telling)
	w.serve(cfg, app.Options{Events: first})
	if !first.wait() {
		t.Fatal("an engine's first cache event has not come")
	}
	return w
}

// Sets returns the keys that every world has. One that is not wired has a source of events in name.
func (w *World) Sets() []string {
	// engines are asked by requests alone: what is counted is a test's own
	all := []string{"listen.data=127.0.0.1:0", "listen.admin=127.0.0.1:0", "fleet.examine=false"}
	if !w.wired {
		all = append(all, "events.nats.url=nats://127.0.0.1:1")
	}
	if front := os.Getenv("OCTET_TEST_FRONT"); front != "" {
		// octet or nethttp: every test of the package, with that one
		all = append(all, "front="+front)
	}
	return all
}

// Start starts one more engine, that no configuration knows yet.
func (w *World) Start(c emulator.Config) *Engine {
	var dead atomic.Bool
	if c.Publisher != nil {
		c.Publisher = mortal{c.Publisher, &dead}
	}
	e, err := emulator.New(c)
	if err != nil {
		w.T.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.T.Fatal(err)
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
		dead.Store(true)
		_ = server.Close()
		cancel()
		running.Wait()
	}
	w.T.Cleanup(kill)
	return &Engine{e, "http://" + l.Addr().String(), kill, conns, heard}
}

// serve runs the gateway as the command does, but for the cache events of a world that is not wired.
func (w *World) serve(cfg *config.Config, o app.Options) {
	if o.Log == nil {
		o.Log = Log(w.T)
	}
	if !w.wired && o.Events == nil {
		o.Events = w.Local
	}
	data, admin, err := app.Listen(cfg)
	if err != nil {
		w.T.Fatal(err)
	}
	if w.App, err = app.New(w.T.Context(), cfg, o); err != nil {
		w.T.Fatal(err)
	}
	if err := w.App.Start(); err != nil {
		w.T.Fatal(err)
	}
	term, sigterm := context.WithCancel(context.Background())
	go func() { w.Ended <- w.App.Serve(term, data, admin) }()
	w.Stop = sigterm
	w.Data, w.Admin = "http://"+data.Addr().String(), "http://"+admin.Addr().String()
	w.T.Cleanup(func() {
		sigterm()
		<-w.Ended //nolint:errcheck // the test has asked for it, where it wanted it
		w.Close()
	})
}

// Another starts one more gateway before the same engines.
func (w *World) Another(cfg *config.Config) *World { return w.With(cfg, app.Options{}) }

// With starts one more gateway before the same engines, with options of its own.
func (w *World) With(cfg *config.Config, o app.Options) *World {
	other := &World{T: w.T, wired: w.wired, Engines: w.Engines, Local: w.Local, Ended: make(chan error, 1)}
	other.serve(cfg, o)
	return other
}

// Metrics returns the metrics page.
func (w *World) Metrics() string {
	w.T.Helper()
	resp, err := http.Get(w.Admin + "/metrics")
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return string(text)
}

// Close ends the gateway's App, once.
func (w *World) Close() {
	w.close.Do(func() {
		if err := w.App.Close(); err != nil {
			w.T.Log(err)
		}
	})
}

// Replica returns a replica in force; without it the test ends.
func (w *World) Replica(name string) *ensemble.Replica {
	w.T.Helper()
	r := w.Replicas()[name]
	if r == nil {
		w.T.Fatalf("there is no replica %s", name)
	}
	return r
}

// Replicas returns the replicas in force, by name.
func (w *World) Replicas() map[string]*ensemble.Replica {
	all := map[string]*ensemble.Replica{}
	for _, r := range w.App.Server().Runtime().Replicas {
		if r != nil {
			all[r.Name] = r
		}
	}
	return all
}

// Log returns a logger that writes to the test's output.
func Log(t testing.TB) *slog.Logger {
	level := slog.LevelError
	if testing.Verbose() {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level}))
}
