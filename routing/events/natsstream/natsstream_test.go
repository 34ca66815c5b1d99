package natsstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"octet/internal/await"
	"octet/internal/natsserver"
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

// fabric is a NATS server of a test's own.
type fabric struct {
	t      *testing.T
	server *server.Server
	port   int
	change func(*server.Options) // nil: none
}

func startNATS(t *testing.T) *fabric {
	f := &fabric{t: t}
	f.start(t.TempDir())
	t.Cleanup(f.stop)
	return f
}

func (f *fabric) start(dir string) {
	f.t.Helper()
	o := server.Options{Port: f.port, StoreDir: dir}
	if f.change != nil {
		f.change(&o)
	}
	s, err := natsserver.Start(o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.server = s
	f.port = s.Addr().(*net.TCPAddr).Port
}

func (f *fabric) stop() {
	f.server.Shutdown()
	f.server.WaitForShutdown()
}

func (f *fabric) config() Config { return Config{URL: f.server.ClientURL()} }

// admin returns JetStream as an operator has it.
func (f *fabric) admin() jetstream.JetStream {
	f.t.Helper()
	conn, err := nats.Connect(f.server.ClientURL(), nats.MaxReconnects(-1))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		f.t.Fatal(err)
	}
	return js
}

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

// MOD2-20
func TestEveryGatewayReadsTheWholeStream(t *testing.T) {
	f := startNATS(t)
	p := publisher(t, f.config())
	publish(t, p, 1, 2)
	var one, two gather
	consumer := consume(t, f.config(), &one)
	await.True(t, "the first has read 2", one.has(2))
	publish(t, p, 3)
	consume(t, f.config(), &two)
	await.True(t, "the first has read 3", one.has(3))
	await.True(t, "the second has read 3", two.has(3))
	if len(one.seqs) != 3 || len(two.seqs) != 3 {
		t.Errorf("%v and %v", one.seqs, two.seqs)
	}
	if st := consumer.Stats(); !st.Connected || st.Messages != 3 || st.Bad+st.Failures+st.Reconnects+st.Rewinds > 0 {
		t.Errorf("%+v", st)
	}
}

func TestAConsumerMayComeBeforeTheStream(t *testing.T) {
	f := startNATS(t)
	var g gather
	consumer := consume(t, f.config(), &g)
	await.True(t, "it is connected", func() bool { return consumer.Stats().Connected })
	about, err := f.admin().Stream(t.Context(), DefaultStream)
	if err != nil {
		t.Fatal(err)
	}
	if c := about.CachedInfo().Config; c.MaxMsgs != DefaultMaxMsgs || c.MaxBytes != DefaultMaxBytes ||
		c.Subjects[0] != DefaultSubject {
		t.Errorf("%+v", c)
	}
	publish(t, publisher(t, f.config()), 1)
	await.True(t, "1 is read", g.has(1))
}

func TestAPurgedStreamIsReadOn(t *testing.T) {
	f := startNATS(t)
	p := publisher(t, f.config())
	var g gather
	consume(t, f.config(), &g)
	publish(t, p, 1, 2)
	await.True(t, "2 is read", g.has(2))
	s, err := f.admin().Stream(t.Context(), DefaultStream)
	if err == nil {
		err = s.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	publish(t, p, 3)
	await.True(t, "3 is read", g.has(3))
	var late gather
	consume(t, f.config(), &late)
	await.True(t, "a new one reads 3", late.has(3))
	if len(late.seqs) != 1 {
		t.Errorf("%v", late.seqs)
	}
}

func TestAStreamThatIsDeletedAndMadeAnewIsReadFromItsStart(t *testing.T) {
	f := startNATS(t)
	p := publisher(t, f.config())
	var g gather
	consumer := consume(t, f.config(), &g)
	publish(t, p, 1, 2, 3)
	await.True(t, "3 is read", g.has(3))
	js := f.admin()
	if err := js.DeleteStream(t.Context(), DefaultStream); err != nil {
		t.Fatal(err)
	}
	publish(t, p, 4) // the first message of another stream
	await.True(t, "4 is read", g.has(4))
	publish(t, p, 5)
	await.True(t, "5 is read", g.has(5))
	if st := consumer.Stats(); st.Rewinds != 1 {
		t.Errorf("%+v", st)
	}
}

func TestAServerThatRestartsIsFoundAgain(t *testing.T) {
	f := startNATS(t)
	dir := filepath.Join(t.TempDir(), "kept")
	f.stop()
	f.start(dir)
	p := publisher(t, f.config())
	var g gather
	consumer := consume(t, f.config(), &g)
	publish(t, p, 1)
	await.True(t, "1 is read", g.has(1))
	f.stop()
	await.True(t, "the loss is seen", func() bool { return !consumer.Stats().Connected })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Publish(ctx, numbered(9)); err == nil {
		t.Error("published to a dead server")
	}
	await.True(t, "it has given up on its source", func() bool { return consumer.Stats().Failures > 1 })
	f.start(dir)
	publish(t, p, 2)
	await.True(t, "2 is read", g.has(2))
	f.stop()
	f.start(t.TempDir()) // empty
	publish(t, p, 3)
	await.True(t, "3 is read", g.has(3))
	if st := consumer.Stats(); st.Reconnects < 2 || st.Rewinds != 1 {
		t.Errorf("%+v", st)
	}
}

func TestForeignMessagesAreReadOrSkipped(t *testing.T) {
	f := startNATS(t)
	publish(t, publisher(t, f.config()), 1)
	js := f.admin()
	for _, message := range []string{"\xff\xff", `{"replica":"debug-0","epoch":"1","seq":"2"}`, "[]", ""} {
		if _, err := js.Publish(t.Context(), "octet.kv.debug-0", []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, publisher(t, f.config()), 3)
	var g gather
	consumer := consume(t, f.config(), &g)
	await.True(t, "3 is read", g.has(3))
	if st := consumer.Stats(); st.Messages != 3 || st.Bad != 3 {
		t.Errorf("%+v", st)
	}
}

// One order, one index. MOD2-18, DYN-10
func TestTwoConsumersAtOnceComeToTheSameIndex(t *testing.T) {
	f := startNATS(t)
	p := publisher(t, f.config())
	x, err := runs.New(index.Config{})
	if err == nil {
		err = x.Admit(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	feed := events.NewFeed(x, kvpool.NewHasher(1), func(string) (events.Target, bool) {
		return events.Target{Specialist: "debug", BlockSize: 4}, true
	})
	consume(t, f.config(), feed)
	consume(t, f.config(), feed)
	const last = 200
	for seq := range uint64(last) {
		b := numbered(seq + 1)
		b.Events = []events.Event{{Kind: events.Registered, Hashes: []uint64{seq}, Root: true, BlockSize: 4,
			Tokens: []uint32{uint32(seq), 2, 3, 4}}}
		await.True(t, "published", func() bool { return p.Publish(t.Context(), b) == nil })
	}
	await.True(t, "all came twice", func() bool { return feed.Stats().Batches == 2*last })
	if h := x.Host(0); h.Stale || h.Blocks != last || h.LastSeq != last {
		t.Errorf("%+v", h)
	}
}

func TestAnyReplicaNameIsOneTokenOfTheSubject(t *testing.T) {
	c, err := Config{URL: "nats://127.0.0.1:1"}.filled()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, name := range []string{"debug-0", "a.b", "a=2Eb", "*", ">", "a b", "ü", "=", "A_z9", "\x00"} {
		s := c.subject(name)
		token, ok := strings.CutPrefix(s, "octet.kv.")
		if !ok || token == "" || strings.ContainsAny(token, ".*> ") || seen[s] != "" {
			t.Errorf("%q: %q", name, s)
		}
		seen[s] = name
	}
	if c.subject("debug-0") != "octet.kv.debug-0" || c.subject("a.b") != "octet.kv.a=2Eb" {
		t.Error("plain names")
	}
}

// Engines that may publish on their own subject only cannot speak for others, not even by a lie in the message.
func TestUsersAndSubjectsBindReplicasOverTLS(t *testing.T) {
	a := tlstest.New(t)
	f := &fabric{t: t, port: server.RANDOM_PORT, change: func(o *server.Options) {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{a.Cert}, MinVersion: tls.VersionTLS12}
		o.Users = []*server.User{
			{Username: "gateway", Password: "g"},
			{Username: "debug-0", Password: "d", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{"octet.kv.debug-0",
					"$JS.API.STREAM.INFO.OCTET_KV"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
			}},
		}
	}}
	f.start(t.TempDir())
	t.Cleanup(f.stop)
	as := func(user string) Config {
		return Config{URL: fmt.Sprintf("tls://%s@127.0.0.1:%d", user, f.port), CA: a.CertFile}
	}
	var g gather
	consumer := consume(t, as("gateway:g"), &g)
	await.True(t, "the stream is made", func() bool { return consumer.Stats().Connected })
	p := publisher(t, as("debug-0:d"))
	publish(t, p, 1)
	await.True(t, "1 is read", g.has(1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := p.Publish(ctx, events.Batch{Replica: "debug-1", Epoch: 1, Seq: 7}); err == nil {
		t.Error("debug-0 published as debug-1")
	} else if !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("it is not told why: %v", err)
	}
	lie, err := events.Marshal(events.Batch{Replica: "debug-1", Epoch: 1, Seq: 8})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.js.Publish(t.Context(), "octet.kv.debug-0", lie); err != nil {
		t.Fatal(err)
	}
	publish(t, p, 2)
	await.True(t, "2 is read", g.has(2))
	if g.has(7)() || g.has(8)() || consumer.Stats().Refused != 1 {
		t.Errorf("%v, %+v", g.seqs, consumer.Stats())
	}
	for _, user := range []string{"debug-0:wrong", "nobody:n"} {
		c := as(user)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := publisher(t, c).Publish(ctx, numbered(9)); err == nil {
			t.Errorf("%s published", user)
		}
		cancel()
	}
}

func TestBadConfigsAreRefused(t *testing.T) {
	for _, c := range []Config{
		{},
		{URL: "nats://127.0.0.1:1", Subject: "octet.kv"},
		{URL: "nats://127.0.0.1:1", Subject: ">"},
		{URL: "nats://127.0.0.1:1", Subject: "octet.*.>"},
		{URL: "nats://127.0.0.1:1", Subject: "octet..>"},
		{URL: "nats://127.0.0.1:1", Subject: ".>"},
		{URL: "nats://127.0.0.1:1", Stream: "a.b"},
		{URL: "nats://127.0.0.1:1", MaxMsgs: -1},
		{URL: "nats://127.0.0.1:1", Creds: "/nowhere/at/all"},
	} {
		_, err := NewPublisher(c)
		_, err2 := NewConsumer(c)
		if !errors.Is(err, ErrConfig) || !errors.Is(err2, ErrConfig) {
			t.Errorf("%+v: %v, %v", c, err, err2)
		}
	}
	if _, err := NewPublisher(Config{URL: "nats://%zz"}); !errors.Is(err, ErrConfig) {
		t.Errorf("bad URL: %v", err)
	}
}

func TestAClosedPublisherSaysSo(t *testing.T) {
	p := publisher(t, Config{URL: "nats://127.0.0.1:1"})
	if err := p.Publish(t.Context(), events.Batch{}); !errors.Is(err, events.ErrBatch) {
		t.Error(err)
	}
	p.Close()
	if err := p.Publish(t.Context(), numbered(1)); !errors.Is(err, events.ErrClosed) {
		t.Error(err)
	}
}
