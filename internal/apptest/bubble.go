package apptest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/gateway/ensemble"
	"octet/routing/events"
	"octet/routing/plugins"
)

// Bubble is a whole gateway before emulated engines inside a synctest bubble: real HTTP over connections that are
// memory, in a time that passes only when nothing can run. No machine is too slow for it, and a minute takes a few
// seconds.
type Bubble struct {
	T       testing.TB
	App     *app.App
	Data    *Memory
	Admin   *Memory
	Engines map[string]*BubbleEngine // by replica name, which is also its host
	Local   *events.Local            // brings the cache events
	Term    func()                   // begins the drain
	Client  *http.Client             // dials the gateway as "data" and "admin", and engines by their names
	// Hear is told of every request for an answer that an engine is sent, by many goroutines; nil hears nothing.
	Hear func(engine string, head http.Header, body []byte)

	// RunProgram runs the programs that wake replicas; nil runs them.
	RunProgram func(ctx context.Context, specialist string, argv []string) error

	loses   atomic.Pointer[func(engine string) bool] // see Lose; nil loses none
	numbers map[string]string                        // names of engines, by the addresses that they tell each other
}

// BubbleEngine is one engine of a Bubble.
type BubbleEngine struct {
	*emulator.Emulator
	Listener *Memory
	Asked    atomic.Int64 // for answers
	Woken    atomic.Int64 // asked to wake up
}

// NewBubble starts engines, and no gateway yet. All ends with the test.
func NewBubble(t testing.TB, engines []emulator.Config) *Bubble {
	b := &Bubble{T: t, Data: NewMemory(), Admin: NewMemory(), Engines: map[string]*BubbleEngine{},
		Local: events.NewLocal(1 << 12), numbers: map[string]string{}}
	transport := &http.Transport{MaxIdleConnsPerHost: 1 << 12,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			host := strings.TrimSuffix(addr, ":80")
			return b.Dial(ctx, "http://"+cmp.Or(b.numbers[host], host))
		}}
	b.Client = &http.Client{Transport: transport}
	for _, c := range engines {
		b.Start(c)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return b
}

// Start starts one more engine, that no configuration knows yet.
func (b *Bubble) Start(c emulator.Config) {
	c.Publisher, c.Client = publisher{b, c.Name}, b.Client
	e, err := emulator.New(c)
	if err != nil {
		b.T.Fatal(err)
	}
	at := &net.TCPAddr{IP: net.IPv4(10, 0, 0, byte(len(b.Engines))), Port: 80}
	one := &BubbleEngine{Emulator: e, Listener: newMemoryAt(at)}
	b.Engines[c.Name], b.numbers[at.IP.String()] = one, c.Name
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: b.listening(c.Name, one.boasting())}
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = server.Serve(one.Listener) })
	b.T.Cleanup(func() {
		_ = server.Close()
		cancel()
		running.Wait()
	})
}

// Lose has the batches of engines that which returns true of be lost, from now on.
func (b *Bubble) Lose(which func(engine string) bool) { b.loses.Store(&which) }

// publisher is an engine's side of Local.
type publisher struct {
	bubble *Bubble
	engine string
}

// Publish implements events.Publisher.
func (p publisher) Publish(ctx context.Context, batch events.Batch) error {
	if lose := p.bubble.loses.Load(); lose != nil && (*lose)(p.engine) {
		return nil
	}
	return p.bubble.Local.Publish(ctx, batch)
}

// Close implements events.Publisher.
func (p publisher) Close() error { return nil }

// boasting has an engine send headers that only a gateway may, and counts the requests for answers.
func (e *BubbleEngine) boasting() http.Handler {
	engine := e.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") && r.Method == http.MethodPost {
			e.Asked.Add(1)
		}
		if r.URL.Path == "/wake_up" {
			e.Woken.Add(1)
		}
		for _, name := range []string{"X-Specialist", "X-Receipt-Id", "X-Slo-Ttft-Ms", "X-Shadow", "X-Confidence",
			"X-Served-By", "Server"} {
			w.Header().Set(name, "the engine")
		}
		engine.ServeHTTP(w, r)
	})
}

// listening tells Hear what an engine is asked.
func (b *Bubble) listening(name string, engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.Hear != nil && strings.HasPrefix(r.URL.Path, "/v1/") && r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the gateway has left
			}
			b.Hear(name, r.Header, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		engine.ServeHTTP(w, r)
	})
}

// Dial connects to the listener at a URL of the bubble.
func (b *Bubble) Dial(ctx context.Context, url string) (net.Conn, error) {
	switch host := strings.TrimPrefix(url, "http://"); host {
	case "data":
		return b.Data.Dial(ctx)
	case "admin":
		return b.Admin.Dial(ctx)
	default:
		if e := b.Engines[host]; e != nil {
			return e.Listener.Dial(ctx)
		}
		return nil, fmt.Errorf("nothing listens at %s", url)
	}
}

// Config returns a configuration with keys overridden, and with what every bubble has.
func (b *Bubble) Config(yaml string, sets ...string) *config.Config {
	b.T.Helper()
	cfg, err := config.Parse("bubble.yaml", []byte(yaml), config.Options{Presets: plugins.Presets(),
		Sets: append([]string{"events.nats.url=nats://127.0.0.1:1", "shadow.stream=", "admin.hosts[0]=admin",
			"fleet.examine=false"},
			sets...)})
	if err != nil {
		b.T.Fatal(err)
	}
	return cfg
}

// Serve runs the gateway as the command does, but for the transports: cache events come by Local.
func (b *Bubble) Serve(yaml string, sets ...string) {
	b.T.Helper()
	var err error
	b.App, err = app.New(b.T.Context(), b.Config(yaml, sets...),
		app.Options{Log: Log(b.T), Dial: b.Dial, Events: b.Local, RunProgram: b.RunProgram})
	if err != nil {
		b.T.Fatal(err)
	}
	if err := b.App.Start(); err != nil {
		b.T.Fatal(err)
	}
	term, sigterm := context.WithCancel(context.Background())
	b.Term = sigterm
	ended := make(chan error, 1)
	go func() { ended <- b.App.Serve(term, b.Data, b.Admin) }()
	b.T.Cleanup(func() {
		sigterm()
		if err := errors.Join(<-ended, b.App.Close()); err != nil {
			b.T.Error(err)
		}
	})
}

// Replica returns a replica in force; without it the test ends.
func (b *Bubble) Replica(name string) *ensemble.Replica {
	b.T.Helper()
	for _, r := range b.App.Server().Runtime().Replicas {
		if r != nil && r.Name == name {
			return r
		}
	}
	b.T.Fatalf("there is no replica %s", name)
	return nil
}

// Ask sends a body; header pairs follow it.
func (b *Bubble) Ask(ctx context.Context, method, url, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return b.Client.Do(req)
}

// Read returns the answer to a GET.
func (b *Bubble) Read(url string) string {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodGet, url, "")
	if err != nil {
		b.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.T.Fatal(err)
	}
	return string(text)
}

// Metric returns the sum of a metric's samples at a URL that have all of the labels, each as name="value".
func (b *Bubble) Metric(url, name string, labels ...string) (sum float64) {
	b.T.Helper()
sample:
	for line := range strings.Lines(b.Read(url + "/metrics")) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue sample
			}
		}
		var v float64
		if _, err := fmt.Sscan(rest[strings.LastIndexByte(rest, ' '):], &v); err != nil {
			b.T.Fatal(err)
		}
		sum += v
	}
	return sum
}

// Quiet returns true if nothing is held and nothing waits.
func (b *Bubble) Quiet() bool {
	for _, rep := range b.App.Server().Runtime().Replicas {
		if rep == nil {
			continue
		}
		if s := rep.Gate.Stats(); s.Used+s.Waiting+s.Running+s.Preempting != 0 || rep.Gate.Check() != nil {
			return false
		}
	}
	for _, e := range b.Engines {
		if s := e.Stats(); s.Used+s.Reserved+s.Waiting+s.Running != 0 {
			return false
		}
	}
	return true
}
