package app_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/cmd"
	"octet/config"
	"octet/engine/emulator"
	"octet/internal/redistest"
	"octet/routing/belief"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
	"octet/routing/index"
)

// pair is a specialist with two replicas; more of each by its last two words.
const pair = `
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    profile: cache-aware
    replicas:
      - {url: "%%s", blocks: 512%s}
      - {url: "%%s", blocks: 512%s}
`

func pairOf(publishers ...events.Publisher) []emulator.Config {
	all := make([]emulator.Config, 2)
	for i := range all {
		all[i] = emulator.Config{Name: fmt.Sprint("debug-", i), Model: "debug", Blocks: 512, Step: time.Millisecond,
			PrefillTPS: 200000}
		if i < len(publishers) {
			all[i].Publisher = publishers[i]
		}
	}
	return all
}

// lengthy is a chat of many blocks about a subject.
func lengthy(about string) string {
	return `{"model":"debug","max_tokens":8,"messages":[{"role":"user","content":"` +
		strings.Repeat(about+" and again ", 60) + `"}]}`
}

// exact waits until the index holds what each engine has cached, is not stale, and says so.
func (w *world) exact() {
	w.T.Helper()
	for name, e := range w.Engines {
		host := w.Replica(name).Host
		var state index.HostState
		asked := time.Now()
		eventually(w.T, name+" is known exactly", func() bool {
			state = w.App.Fabric().Index().Host(host)
			if state.Epoch == 0 && time.Since(asked) > 5*time.Second { // all that it has told was lost before the start
				asked = time.Now()
				w.wake(name)
			}
			s := e.State()
			return state.Blocks == s.Cached && state.LastSeq+1 >= s.Seq && state.Epoch != 0 && !state.Stale &&
				w.App.Fabric().Trust(host) == belief.Exact
		})
	}
}

// wake has an engine tell something: it is asked beside the gateway.
func (w *world) wake(name string) {
	resp, err := http.Post(w.Replica(name).Fleet.Spec().URL+"/v1/chat/completions", "application/json",
		strings.NewReader(lengthy("something else")))
	if err == nil {
		resp.Body.Close()
	}
}

// follows asks twice, and fails unless the second request goes where the first went and is predicted to find its prompt
// there.
func (w *world) follows(about string) {
	w.T.Helper()
	first, _ := w.Post("/v1/chat/completions", lengthy(about))
	w.exact()
	second, _ := w.Post("/v1/chat/completions", lengthy(about))
	if first.StatusCode != 200 || second.StatusCode != 200 {
		w.T.Fatalf("statuses %d and %d", first.StatusCode, second.StatusCode)
	}
	if a, b := first.Header.Get("X-Replica"), second.Header.Get("X-Replica"); a != b {
		w.T.Errorf("the prompt went to %s, and again to %s", a, b)
	}
	if got := second.Header.Get("X-Cached-Tokens"); got == "0" || got == "" {
		w.T.Errorf("%q cached tokens", got)
	}
}

func zmqEngine(t *testing.T) (p *zmqstream.Publisher, keys string) {
	t.Helper()
	p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:0",
		Replay: "tcp://127.0.0.1:0", Topic: "kv@127.0.0.1@debug"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, fmt.Sprintf(`, events: {zmq: "tcp://%s", replay: "tcp://%s"}`, p.Addr(), p.ReplayAddr())
}

// DYN-10, GAIE-24
func TestRoutingFollowsEnginesThatPublishOverZMQ(t *testing.T) {
	a, keysA := zmqEngine(t)
	b, keysB := zmqEngine(t)
	w := newWiredWorld(t, fmt.Sprintf(pair, keysA, keysB), pairOf(a, b))
	w.exact()
	w.follows("a segfault in the parser")
	w.follows("a race in the pool")
	var seen struct {
		Replicas map[string]struct {
			Trust  string
			Events bool
			Blocks int
		}
		Sources map[string]map[string]any
	}
	w.Get(w.Admin+"/admin/index", &seen)
	if r := seen.Replicas["debug-0"]; r.Trust != belief.Exact || !r.Events {
		t.Errorf("%+v", r)
	}
	if s := seen.Sources["zmq/debug-1"]; !isTrue(s["connected"]) {
		t.Errorf("%+v", seen.Sources)
	}
	if code := w.Get(w.Admin+"/metrics", nil); code != 200 {
		t.Errorf("metrics: %d", code)
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// MOD2-18, MOD2-21: gRPC, with a token for each replica.
func TestRoutingFollowsEnginesThatPublishOverGRPC(t *testing.T) {
	addr := freeAddr(t)
	var engines []events.Publisher
	for _, token := range []string{"one", "two"} {
		p, err := grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		engines = append(engines, p)
	}
	yaml := fmt.Sprintf(pair, ", events: {source: grpc}", ", events: {source: grpc}") + `
events: {grpc: {publishers: [{token: one, replicas: [debug-0]}, {token: two, replicas: [debug-1]}]}}
`
	w := newWiredWorld(t, yaml, pairOf(engines...), "events.grpc.listen="+addr)
	w.follows("a deadlock at shutdown")
	w.exact() // the events of its last answer are here, too
	thief, err := grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr, Token: "two"})
	if err != nil {
		t.Fatal(err)
	}
	defer thief.Close()
	before := w.App.Fabric().Index().Digest()
	if err := thief.Publish(t.Context(),
		events.Batch{Replica: "debug-0", Epoch: 1 << 62, Seq: 1,
			Events: []events.Event{{Kind: events.Cleared}}}); err == nil {
		t.Error("debug-1 spoke for debug-0")
	}
	w.App.Fabric().Feed().From("redis").Deliver(events.Batch{Replica: "debug-0", Epoch: 1 << 62, Seq: 1,
		Events: []events.Event{{Kind: events.Cleared}}})
	if w.App.Fabric().Index().Digest() != before || w.App.Fabric().Feed().Stats().Foreign != 1 {
		t.Error("somebody else was heard")
	}
}

func TestABridgeCarriesAnEnginesZMQIntoRedis(t *testing.T) {
	server := redistest.Start(t)
	a, _ := zmqEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	bridge := cmd.Root()
	bridge.SetArgs([]string{"bridge", "--replica", "debug-0", "--zmq", "tcp://" + a.Addr().String(),
		"--zmq-replay", "tcp://" + a.ReplayAddr().String(),
		"--redis", server.Addr, "--stream", "octet:kv", "--maxlen", "10000"})
	ended := make(chan error, 1)
	go func() { ended <- bridge.ExecuteContext(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	b := redisAs(t, redisstream.Config{Addr: server.Addr})
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(a, b), "events.redis.addr="+server.Addr)
	w.follows("a leak in the arena")
	server.Kill() // what was there is gone with it
	for i := range 12 {
		w.Post("/v1/chat/completions", lengthy(fmt.Sprint("while it is away ", i)))
	}
	server.Restart(true)
	host := w.Replica("debug-0").Host
	eventually(t, "what was told while it was away is in the index", func() bool {
		at := w.App.Fabric().Index().Host(host)
		return at.Blocks == w.Engines["debug-0"].State().Cached && !at.Stale
	})
}

// lossy loses some batches.
type lossy struct {
	events.Publisher
	mu   sync.Mutex
	lose int
}

func (l *lossy) Publish(ctx context.Context, b events.Batch) error {
	l.mu.Lock()
	lose := l.lose > 0
	if lose {
		l.lose--
	}
	l.mu.Unlock()
	if lose {
		return nil
	}
	return l.Publisher.Publish(ctx, b)
}

func (l *lossy) drop(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose = n
}

func TestAStaleReplicaIsAskedWhatItHolds(t *testing.T) {
	server := redistest.Start(t)
	p := redisAs(t, redisstream.Config{Addr: server.Addr})
	bad := []*lossy{{Publisher: p}, {Publisher: p}}
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(bad[0], bad[1]), "events.redis.addr="+server.Addr)
	w.follows("a torn read")
	for _, l := range bad {
		l.drop(1)
	}
	var resyncs uint64
	eventually(t, "a gap was repaired", func() bool {
		w.Post("/v1/chat/completions", lengthy(fmt.Sprint("something new ", time.Now().UnixNano())))
		for name := range w.Engines {
			resyncs += w.App.Fabric().Index().Host(w.Replica(name).Host).Resyncs
		}
		return resyncs > 0
	})
	w.exact()
}

func TestAnIndexOutlivesItsGateway(t *testing.T) {
	server := redistest.Start(t)
	p := redisAs(t, redisstream.Config{Addr: server.Addr})
	file := filepath.Join(t.TempDir(), "index.snapshot")
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(p, p), "events.redis.addr="+server.Addr,
		"events.snapshot.file="+file, "events.snapshot.interval=100ms",
		"admin.token=a sesame that opens")
	w.follows("an iterator that dangles")
	w.exact() // the events of its last answer are here, too
	if err := w.App.Fabric().SaveFile(file); err != nil {
		t.Fatal(err)
	}
	want := w.App.Fabric().Index().Digest()
	for name, from := range map[string]config.Snapshot{"the file": {File: file},
		"a peer": {Peer: w.Admin, PeerToken: "a sesame that opens"}} {
		a := newApp(t, w.App.Config())
		a.Fabric().Restore(t.Context(), from)
		if got := a.Fabric().Index().Digest(); got != want {
			t.Errorf("from %s the digest is %x, want %x", name, got, want)
		}
		_ = a.Close()
	}
	a := newApp(t, w.App.Config())
	defer a.Close()
	if _, err := a.Fabric().Fetch(t.Context(), config.Snapshot{Peer: w.Admin}); err == nil ||
		!strings.Contains(err.Error(), "401") {
		t.Errorf("without the token: %v", err)
	}
	if err := a.Fabric().SaveFile(filepath.Join(file, "nowhere")); err == nil {
		t.Error("saved into a file as if it were a directory")
	}
	eventually(t, "nothing is left behind", func() bool { // of a save by the gateway itself, neither, once it is done
		left, _ := filepath.Glob(file + ".*")
		return len(left) == 0
	})
}

// Engines without events: what was routed where is what they are taken to hold.
func TestEnginesWithoutEventsAreScoredByWhatWasRoutedThere(t *testing.T) {
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf())
	host := w.Replica("debug-0").Host
	if got := w.App.Fabric().Trust(host); got != belief.Load {
		t.Errorf("at first it is scored by %s", got)
	}
	first, _ := w.Post("/v1/chat/completions", lengthy("a template error"))
	for range 4 {
		again, _ := w.Post("/v1/chat/completions", lengthy("a template error"))
		if again.Header.Get("X-Replica") != first.Header.Get("X-Replica") ||
			again.Header.Get("X-Cached-Tokens") == "0" {
			t.Errorf("%v then %v", first.Header, again.Header)
		}
	}
	guessed := 0
	for _, r := range w.Replicas() {
		if w.App.Fabric().Trust(r.Host) == belief.Approximate {
			guessed++
		}
	}
	if guessed != 1 {
		t.Errorf("%d replicas are scored by guesses", guessed)
	}
}

func TestASourceThatIsGoneForLongIsNotTrusted(t *testing.T) {
	server := redistest.Start(t)
	p := redisAs(t, redisstream.Config{Addr: server.Addr})
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(p, p), "events.redis.addr="+server.Addr,
		"events.trust_for=1s")
	w.follows("a bad cast")
	host := w.Replica("debug-0").Host
	server.Kill()
	eventually(t, "it is not trusted", func() bool { return w.App.Fabric().Trust(host) != belief.Exact })
	server.Restart(true)
	eventually(t, "it is trusted again", func() bool { return w.App.Fabric().Trust(host) == belief.Exact })
}

func isTrue(v any) bool {
	b, is := v.(bool)
	return is && b
}
