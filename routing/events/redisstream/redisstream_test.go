package redisstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"octet/internal/await"
	"octet/internal/redistest"
	"octet/internal/tlstest"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/index"
	"octet/routing/index/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	_ events.Publisher = (*Publisher)(nil)
	_ events.Consumer  = (*Consumer)(nil)
)

// gather is a sink that keeps the numbers of what it gets.
type gather struct {
	mu   sync.Mutex
	seqs []uint64
}

func (g *gather) Deliver(b events.Batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seqs = append(g.seqs, b.Seq)
}

func (g *gather) has(seq uint64) func() bool {
	return func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, s := range g.seqs {
			if s == seq {
				return true
			}
		}
		return false
	}
}

func publisher(t *testing.T, c Config) *Publisher {
	t.Helper()
	p, err := NewPublisher(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// consume runs a consumer until the test ends.
func consume(t *testing.T, c Config, sink events.Sink) *Consumer {
	t.Helper()
	consumer, err := NewConsumer(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Consume(ctx, sink) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Consume: %v", err)
		}
	})
	return consumer
}

func numbered(seq uint64) events.Batch { return events.Batch{Replica: "debug-0", Epoch: 1, Seq: seq} }

func publish(t *testing.T, p *Publisher, seqs ...uint64) {
	t.Helper()
	for _, seq := range seqs {
		await.True(t, fmt.Sprint("published ", seq),
			func() bool { return p.Publish(t.Context(), numbered(seq)) == nil })
	}
}

// raw returns a client that does as a foreign publisher would.
func raw(t *testing.T, s *redistest.Server) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	t.Cleanup(func() { c.Close() })
	return c
}

// MOD2-22
func TestEveryGatewayReadsTheWholeStream(t *testing.T) {
	c := Config{Addr: redistest.Start(t).Addr}
	p := publisher(t, c)
	publish(t, p, 1, 2)
	var one, two gather
	consumer := consume(t, c, &one)
	await.True(t, "the first has read 2", one.has(2))
	publish(t, p, 3)
	consume(t, c, &two)
	await.True(t, "the first has read 3", one.has(3))
	await.True(t, "the second has read 3", two.has(3))
	if len(one.seqs) != 3 || len(two.seqs) != 3 {
		t.Errorf("%v and %v", one.seqs, two.seqs)
	}
	if st := consumer.Stats(); !st.Connected || st.Messages != 3 || st.Bad+st.Failures+st.Reconnects+st.Rewinds > 0 {
		t.Errorf("%+v", st)
	}
}

func TestForeignEntriesAreReadOrSkipped(t *testing.T) {
	s := redistest.Start(t)
	client := raw(t, s)
	for _, fields := range []map[string]any{
		{"json": ` {"replica":"debug-0","epoch":"1","seq":"1"}`},
		{"batch": `{"replica":"debug-0","epoch":"1","seq":"2"}`},
		{"batch": "\xff\xff"},
		{"something": "else"},
		{"json": "[]"},
		{"json": `{"replica":"debug-0","epoch":"1","seq":"3"}`},
	} {
		if err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: DefaultStream, Values: fields}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var g gather
	consumer := consume(t, Config{Addr: s.Addr}, &g)
	await.True(t, "3 is read", g.has(3))
	if st := consumer.Stats(); st.Messages != 3 || st.Bad != 3 {
		t.Errorf("%+v", st)
	}
}

func TestAServerThatIsKilledIsFoundAgain(t *testing.T) {
	s := redistest.Start(t)
	c := Config{Addr: s.Addr}
	p := publisher(t, c)
	var g gather
	consumer := consume(t, c, &g)
	publish(t, p, 1)
	await.True(t, "1 is read", g.has(1))
	s.Restart(false)
	publish(t, p, 2)
	await.True(t, "2 is read", g.has(2))
	s.Kill()
	if err := p.Publish(t.Context(), numbered(9)); err == nil {
		t.Error("published to a dead server")
	}
	await.True(t, "the loss is seen", func() bool { return !consumer.Stats().Connected })
	s.Restart(true)
	publish(t, p, 3)
	await.True(t, "3 is read", g.has(3))
	if st := consumer.Stats(); st.Reconnects < 2 || st.Failures < 2 {
		t.Errorf("%+v", st)
	}
}

// Ids are the server's clock; one that went back, or a publisher that chooses them, would leave a stream behind the
// cursor.
func TestAStreamThatBeganAnewIsReadFromItsStart(t *testing.T) {
	for name, restart := range map[string]func(*redistest.Server){
		"server came back empty": func(s *redistest.Server) { s.Restart(true) },
		"key was deleted":        func(s *redistest.Server) { _, _ = s.Do("DEL", DefaultStream) },
	} {
		t.Run(name, func(t *testing.T) {
			s := redistest.Start(t)
			client := raw(t, s)
			add := func(id string, seq uint64) {
				message, _ := events.Marshal(numbered(seq))
				await.True(t, "added "+id, func() bool {
					return client.XAdd(t.Context(),
						&redis.XAddArgs{Stream: DefaultStream, ID: id, Values: []any{fieldBatch, message}}).Err() == nil
				})
			}
			add("500-1", 1)
			var g gather
			consumer := consume(t, Config{Addr: s.Addr}, &g)
			await.True(t, "1 is read", g.has(1))
			restart(s)
			add("7-1", 2)
			await.True(t, "2 is read", g.has(2))
			if st := consumer.Stats(); st.Rewinds != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestAKeyOfAnotherTypeIsWaitedOut(t *testing.T) {
	s := redistest.Start(t)
	if _, err := s.Do("SET", DefaultStream, "x"); err != nil {
		t.Fatal(err)
	}
	c := Config{Addr: s.Addr}
	var g gather
	consumer := consume(t, c, &g)
	await.True(t, "it has failed twice", func() bool { return consumer.Stats().Failures > 1 })
	p := publisher(t, c)
	if err := p.Publish(t.Context(), numbered(1)); err == nil {
		t.Error("published to a string")
	}
	if _, err := s.Do("DEL", DefaultStream); err != nil {
		t.Fatal(err)
	}
	publish(t, p, 1)
	await.True(t, "1 is read", g.has(1))
}

func TestATrimmedStreamShowsAsAGap(t *testing.T) {
	s := redistest.Start(t)
	c := Config{Addr: s.Addr, MaxLen: 10}
	p := publisher(t, c)
	const last = 500 // whole nodes of a hundred entries are trimmed
	for seq := range uint64(last) {
		publish(t, p, seq+1)
	}
	x, feed := newFeed(t)
	consume(t, c, feed)
	await.True(t, "the last is applied", func() bool { return x.Host(0).LastSeq == last })
	if h := x.Host(0); !h.Stale || h.Gaps != 1 {
		t.Errorf("%+v", h)
	}
	if n, err := raw(t, s).XLen(t.Context(), DefaultStream).Result(); err != nil || n > 200 {
		t.Errorf("%d entries, %v", n, err)
	}
}

func newFeed(t *testing.T) (*runs.Indexer, *events.Feed) {
	t.Helper()
	x, err := runs.New(index.Config{})
	if err == nil {
		err = x.Admit(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x, events.NewFeed(x, kvpool.NewHasher(1), func(replica string) (events.Target, bool) {
		return events.Target{Host: 0, Specialist: "debug", BlockSize: 4}, replica == "debug-0"
	})
}

// A gateway that starts again, or reads twice at once, ends where the first one is. MOD2-17, MOD2-18, DYN-10
func TestWhoReadsAgainComesToTheSameIndex(t *testing.T) {
	s := redistest.Start(t)
	c := Config{Addr: s.Addr}
	p := publisher(t, c)
	x, feed := newFeed(t)
	consume(t, c, feed)
	rng := rand.New(rand.NewPCG(1, 1))
	const last = 300
	for seq := range uint64(last) {
		b := numbered(seq + 1)
		block := rng.Uint64N(50)
		b.Events = []events.Event{{Kind: events.Registered, Hashes: []uint64{block}, Root: true, BlockSize: 4,
			Tokens: []uint32{uint32(block), 2, 3, 4}}}
		if rng.IntN(2) == 0 {
			b.Events[0] = events.Event{Kind: events.Evicted, Hashes: []uint64{block}}
		}
		await.True(t, "published", func() bool { return p.Publish(t.Context(), b) == nil })
		if seq == last/2 {
			s.Restart(false)
			consume(t, c, feed)
		}
	}
	y, again := newFeed(t)
	consume(t, c, again)
	for _, each := range []*runs.Indexer{x, y} {
		await.True(t, "all is applied", func() bool { return each.Host(0).LastSeq == last })
		if each.Host(0).Stale || each.Host(0).Blocks == 0 {
			t.Errorf("%+v", each.Host(0))
		}
	}
	if x.Digest() != y.Digest() {
		t.Errorf("digests %x and %x", x.Digest(), y.Digest())
	}
}

func TestAPasswordIsUsed(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "secret")
	if err := publisher(t, Config{Addr: s.Addr}).Publish(t.Context(), numbered(1)); err == nil {
		t.Error("published without a password")
	}
	c := Config{Addr: s.Addr, Password: "secret"}
	publish(t, publisher(t, c), 1)
	var g gather
	consume(t, c, &g)
	await.True(t, "1 is read", g.has(1))
}

func TestAServerThatWantsTLSAndAUserIsReadAndWritten(t *testing.T) {
	a := tlstest.New(t)
	port := freePort(t)
	redistest.Start(t, "--tls-port", port, "--tls-cert-file", a.CertFile, "--tls-key-file", a.KeyFile,
		"--tls-ca-cert-file", a.CertFile,
		"--user", "engine", "on", ">sesame", "~octet:kv", "+xadd", "+xread", "+xinfo", "+ping", "+hello", "+client")
	good := Config{
		Addr: "127.0.0.1:" + port, Username: "engine", Password: "sesame",
		TLS: &tls.Config{RootCAs: a.Roots, Certificates: []tls.Certificate{a.Cert}, MinVersion: tls.VersionTLS12},
	}
	var g gather
	consume(t, good, &g)
	publish(t, publisher(t, good), 1, 2)
	await.True(t, "2 is read", g.has(2))
	for name, change := range map[string]func(*Config){
		"an authority that nobody knows": func(c *Config) { c.TLS = &tls.Config{MinVersion: tls.VersionTLS12} },
		"plain TCP":                      func(c *Config) { c.TLS = nil },
		"a wrong password":               func(c *Config) { c.Password = "open" },
		"another key":                    func(c *Config) { c.Stream = "other" },
	} {
		bad := good
		change(&bad)
		if err := publisher(t, bad).Publish(t.Context(), numbered(3)); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	if g.has(3)() {
		t.Error("3 is read")
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestBadConfigsAreRefused(t *testing.T) {
	for _, c := range []Config{{}, {Addr: "127.0.0.1:1", MaxLen: -1}} {
		_, err := NewPublisher(c)
		_, err2 := NewConsumer(c)
		if !errors.Is(err, ErrConfig) || !errors.Is(err2, ErrConfig) {
			t.Errorf("%+v: %v, %v", c, err, err2)
		}
	}
}

// A server that stops without a word, as a network does that drops packets.
func TestAServerThatFallsSilentIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var g gather
	consumer := consume(t, Config{Addr: l.Addr().String()}, &g)
	await.True(t, "a read has failed", func() bool { return consumer.Stats().Failures > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	p := publisher(t, Config{Addr: l.Addr().String()})
	if err := p.Publish(ctx, numbered(1)); !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestAnUnreachableServerIsNamed(t *testing.T) {
	p := publisher(t, Config{Addr: "127.0.0.1:1"})
	for range 10 {
		var op *net.OpError
		if err := p.Publish(t.Context(), numbered(1)); !errors.As(err, &op) || op.Op != "dial" {
			t.Fatalf("got %v", err)
		}
	}
}

func TestAClosedPublisherSaysSo(t *testing.T) {
	p := publisher(t, Config{Addr: "127.0.0.1:1"})
	if err := p.Publish(t.Context(), events.Batch{}); !errors.Is(err, events.ErrBatch) {
		t.Error(err)
	}
	p.Close()
	if err := p.Publish(t.Context(), numbered(1)); !errors.Is(err, events.ErrClosed) {
		t.Error(err)
	}
}

func TestEntryIdsAreOrderedAsTheServerDoes(t *testing.T) {
	ids := strings.Fields("0 0-1 1-0 9-0 10-0 10-2 10-10 1700000000000-0")
	for i, a := range ids {
		for j, b := range ids {
			if before(a, b) != (i < j) {
				t.Errorf("before(%s, %s) = %v", a, b, before(a, b))
			}
		}
	}
	if !added("500-1").IsZero() || added("1700000000000-0").UnixMilli() != 1_700_000_000_000 {
		t.Error("the time of an id")
	}
}
