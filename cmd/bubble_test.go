package cmd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"octet/config"
	"octet/engine/emulator"
	"octet/routing/events"
	"octet/routing/plugins"
)

// bubble is a whole gateway before emulated engines inside a synctest bubble: real HTTP over connections that are
// memory, in a time that passes only when nobody has anything to do. No machine is too slow for it, and a minute takes
// a few seconds.
type bubble struct {
	t       testing.TB
	house   *house
	data    *memory
	admin   *memory
	engines map[string]*inBubble // by replica name, which is also its host
	local   *events.Local        // brings the cache events
	term    func()               // begins the drain
	client  *http.Client         // dials the gateway as "data" and "admin", and engines by their names
}

// inBubble is one engine.
type inBubble struct {
	*emulator.Emulator
	listener *memory
	asked    atomic.Int64 // for answers
}

// newBubble starts engines, and no gateway yet. All ends with the test.
func newBubble(t testing.TB, engines []emulator.Config) *bubble {
	b := &bubble{t: t, data: newMemory(), admin: newMemory(), engines: map[string]*inBubble{},
		local: events.NewLocal(1 << 12)}
	transport := &http.Transport{MaxIdleConnsPerHost: 1 << 12,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return b.dial(ctx, "http://"+strings.TrimSuffix(addr, ":80"))
		}}
	b.client = &http.Client{Transport: transport}
	for _, c := range engines {
		b.start(c)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return b
}

func (b *bubble) start(c emulator.Config) {
	c.Publisher = b.local
	e, err := emulator.New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	one := &inBubble{Emulator: e, listener: newMemory()}
	b.engines[c.Name] = one
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: one.boasting()}
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = server.Serve(one.listener) })
	b.t.Cleanup(func() {
		_ = server.Close()
		cancel()
		running.Wait()
	})
}

// boasting has an engine say what only a gateway may, and counts what it is asked.
func (e *inBubble) boasting() http.Handler {
	engine := e.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") && r.Method == http.MethodPost {
			e.asked.Add(1)
		}
		for _, name := range []string{"X-Specialist", "X-Receipt-Id", "X-Slo-Ttft-Ms", "X-Shadow", "X-Confidence",
			"X-Served-By", "Server"} {
			w.Header().Set(name, "the engine")
		}
		engine.ServeHTTP(w, r)
	})
}

// dial connects to who listens at a URL of the bubble.
func (b *bubble) dial(ctx context.Context, url string) (net.Conn, error) {
	switch host := strings.TrimPrefix(url, "http://"); host {
	case "data":
		return b.data.dial(ctx)
	case "admin":
		return b.admin.dial(ctx)
	default:
		if e := b.engines[host]; e != nil {
			return e.listener.dial(ctx)
		}
		return nil, fmt.Errorf("nobody listens at %s", url)
	}
}

// serve runs the gateway as the command does, but for the transports: cache events come by the in-process source.
func (b *bubble) serve(yaml string) {
	cfg, err := config.Parse("bubble.yaml", []byte(yaml),
		config.Options{Presets: plugins.Presets(),
			Sets: []string{"events.nats.url=nats://127.0.0.1:1", "shadow.stream=", "admin.hosts[0]=admin"}})
	if err != nil {
		b.t.Fatal(err)
	}
	if b.house, err = newHouse(cfg, testLog(b.t)); err != nil {
		b.t.Fatal(err)
	}
	b.house.dial = b.dial
	if err := b.house.apply(b.t.Context(), cfg); err != nil {
		b.t.Fatal(err)
	}
	consuming := *cfg
	consuming.Events = config.Events{}
	stop, err := b.house.background(&consuming, source{})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = b.local.Consume(ctx, b.house.feed) })
	term, sigterm := context.WithCancel(context.Background())
	b.term = sigterm
	ended := make(chan error, 1)
	go func() { ended <- b.house.server.Run(term, b.data, b.admin) }()
	b.t.Cleanup(func() {
		sigterm()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
		stop()
		cancel()
		running.Wait()
	})
}

// ask sends a body; header pairs follow it.
func (b *bubble) ask(ctx context.Context, method, url, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return b.client.Do(req)
}

// read is what stands at a URL.
func (b *bubble) read(url string) string {
	b.t.Helper()
	resp, err := b.ask(context.Background(), http.MethodGet, url, "")
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// metric is the sum of a metric's samples at a URL over all labels that hold what is said, each as name="value".
func (b *bubble) metric(url, name string, labels ...string) (sum float64) {
	b.t.Helper()
sample:
	for line := range strings.Lines(b.read(url + "/metrics")) {
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
			b.t.Fatal(err)
		}
		sum += v
	}
	return sum
}

// quiet reports whether nobody holds or waits for anything.
func (b *bubble) quiet() bool {
	for _, rep := range b.house.server.Runtime().Replicas {
		if rep == nil {
			continue
		}
		if s := rep.Gate.Stats(); s.Used+s.Waiting+s.Running+s.Preempting != 0 || rep.Gate.Check() != nil {
			return false
		}
	}
	for _, e := range b.engines {
		if s := e.Stats(); s.Used+s.Reserved+s.Waiting+s.Running != 0 {
			return false
		}
	}
	return true
}
