package lease_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"octet/internal/await"
	"octet/internal/natsserver"
	"octet/internal/redisclient"
	"octet/internal/redistest"
	"octet/routing/peers"
	"octet/routing/peers/lease"
	"octet/routing/peers/natslink"
	"octet/routing/peers/redislink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// link is what both links are.
type link interface {
	peers.Link
	Stats() lease.Stats
}

// rig is a real store of a test's own, behind a wire that can be cut.
type rig interface {
	link(t *testing.T, wire string, c lease.Config) link // wire is host:port
	address() string
	stop()
	start()
	shout(t *testing.T, to string, message []byte) // as a stranger that knows the names
	spoil(t *testing.T, name string)               // puts something else under a gateway's name, for ever
}

var rigs = map[string]func(t *testing.T) rig{
	"nats":  func(t *testing.T) rig { return startNATS(t) },
	"redis": func(t *testing.T) rig { return &redisRig{redistest.Start(t)} },
}

// overBoth runs a test over a real store of each kind.
func overBoth(t *testing.T, test func(t *testing.T, r rig)) {
	for name, start := range rigs {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

type redisRig struct{ *redistest.Server }

func (r *redisRig) address() string { return r.Addr }
func (r *redisRig) stop()           { r.Kill() }
func (r *redisRig) start()          { r.Restart(true) }

func (r *redisRig) link(t *testing.T, wire string, c lease.Config) link {
	t.Helper()
	l, err := redislink.New(redislink.Config{Addr: wire, Name: c.Name, Lease: c.Lease, Timeout: c.Timeout,
		MaxMessage: c.MaxMessage, Log: c.Log})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *redisRig) ask(t *testing.T, words ...any) {
	t.Helper()
	client := redisclient.New(redis.Options{Addr: r.Addr}, 0)
	defer client.Close()
	if err := client.Do(t.Context(), words...).Err(); err != nil {
		t.Fatal(err)
	}
}

func (r *redisRig) shout(t *testing.T, to string, message []byte) {
	t.Helper()
	r.ask(t, "PUBLISH", "octet:"+to, append(make([]byte, 16), message...))
}

func (r *redisRig) spoil(t *testing.T, name string) {
	t.Helper()
	r.ask(t, "RPUSH", "octet:gateway:"+name, "not", "a", "name")
}

type natsRig struct {
	t      *testing.T
	dir    string
	port   int
	server *server.Server
}

func startNATS(t *testing.T) *natsRig {
	r := &natsRig{t: t, dir: t.TempDir()}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *natsRig) start() {
	r.t.Helper()
	s, err := natsserver.Start(server.Options{Port: r.port, StoreDir: r.dir})
	if err != nil {
		r.t.Fatal(err)
	}
	r.server, r.port = s, s.Addr().(*net.TCPAddr).Port
}

func (r *natsRig) stop() {
	r.server.Shutdown()
	r.server.WaitForShutdown()
}

func (r *natsRig) address() string { return strings.TrimPrefix(r.server.ClientURL(), "nats://") }

func (r *natsRig) link(t *testing.T, wire string, c lease.Config) link {
	t.Helper()
	l, err := natslink.New(natslink.Config{URL: "nats://" + wire, Name: c.Name, Lease: c.Lease, Timeout: c.Timeout,
		MaxMessage: c.MaxMessage, Log: c.Log})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *natsRig) dial(t *testing.T) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(r.server.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func (r *natsRig) shout(t *testing.T, to string, message []byte) {
	t.Helper()
	conn := r.dial(t)
	if err := errors.Join(conn.Publish("octet."+strings.ReplaceAll(to, ":", "."), message), conn.Flush()); err != nil {
		t.Fatal(err)
	}
}

// bucket makes the bucket before any gateway does.
func (r *natsRig) bucket(t *testing.T, life time.Duration) jetstream.KeyValue {
	t.Helper()
	js, err := jetstream.New(r.dial(t))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: natslink.DefaultBucket, TTL: life})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

func (r *natsRig) spoil(t *testing.T, name string) {
	t.Helper()
	if _, err := r.bucket(t, 0).PutString(t.Context(), "gateways."+name, "not a name"); err != nil {
		t.Fatal(err)
	}
}

// gateway is a link that runs, and what it has told.
type gateway struct {
	link
	mu    sync.Mutex
	heard []string
	told  []error
	end   func() // ends Run and waits for it
}

// run runs a link until the test ends, or end is called.
func run(t *testing.T, l link) *gateway {
	t.Helper()
	g := &gateway{link: l}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx, peers.Events{Message: func(m []byte, _ time.Time) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.heard = append(g.heard, string(m))
		}, Away: func(why error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.told = append(g.told, why)
		}})
	}()
	g.end = func() { cancel(); <-done }
	t.Cleanup(g.end)
	return g
}

// claimed claims a link's name and runs it until it can send.
func claimed(t *testing.T, l link) *gateway {
	t.Helper()
	if err := l.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := run(t, l)
	g.flows(t)
	return g
}

// flows waits until the gateway can send. Its message is for a name that nothing has.
func (g *gateway) flows(t *testing.T) {
	t.Helper()
	await.True(t, "a message is handed over", func() bool { return g.Send("nothing", nil) == nil })
}

func (g *gateway) all() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.heard)
}

func (g *gateway) hears(t *testing.T, message string) {
	t.Helper()
	await.True(t, "heard: "+message, func() bool { return slices.Contains(g.all(), message) })
}

// tells waits until as many things were told, and compares them; nil stands for Away(nil).
func (g *gateway) tells(t *testing.T, want ...error) {
	t.Helper()
	var told []error
	await.True(t, "it is told", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		told = slices.Clone(g.told)
		return len(told) >= len(want)
	})
	if !slices.EqualFunc(told, want, errors.Is) {
		t.Errorf("told %v, want %v", told, want)
	}
}
