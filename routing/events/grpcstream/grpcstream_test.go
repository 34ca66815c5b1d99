package grpcstream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"octet/internal/await"
	"octet/internal/tlstest"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/events/octetkvpb"
	"octet/routing/index"
	"octet/routing/index/runs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a consumer until the test ends, or the returned func is called.
func serve(t *testing.T, c Config, sink events.Sink) (consumer *Consumer, addr string, stop func()) {
	t.Helper()
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	consumer, err := NewConsumer(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Consume(ctx, sink) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Consume returned %v", err)
		}
	})
	t.Cleanup(stop)
	await.True(t, "listening", func() bool { return consumer.Addr() != nil })
	return consumer, consumer.Addr().String(), stop
}

func publisher(t *testing.T, c PublisherConfig) *Publisher {
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

func cell(t *testing.T) (*runs.Indexer, *events.Feed) {
	t.Helper()
	x, err := runs.New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]events.Target{}
	for h, name := range []string{"debug-0", "debug-1"} {
		targets[name] = events.Target{Host: index.HostID(h), Specialist: "debug", BlockSize: 4}
		if err := x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
	}
	return x, events.NewFeed(x, kvpool.Hasher{},
		func(r string) (events.Target, bool) { to, ok := targets[r]; return to, ok })
}

func stored(replica string, seq uint64) events.Batch {
	return events.Batch{Replica: replica, Epoch: 1, Seq: seq, At: time.Now(), Events: []events.Event{{
		Kind: events.Registered, Hashes: []uint64{seq}, Parent: seq - 1, Root: seq == 1, BlockSize: 4,
		Tokens: []uint32{uint32(seq), 1, 2, 3},
	}}}
}

// MOD2-21: engines stream to the gateway directly, one stream each.
func TestEnginesStreamTheirEventsDirectly(t *testing.T) {
	x, feed := cell(t)
	consumer, addr, _ := serve(t, Config{}, feed)
	var engines sync.WaitGroup
	for _, name := range []string{"debug-0", "debug-1"} {
		p := publisher(t, PublisherConfig{Addr: addr})
		engines.Go(func() {
			for seq := range uint64(50) {
				if err := p.Publish(t.Context(), stored(name, seq+1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	engines.Wait()
	for h := range index.HostID(2) {
		if s := x.Host(h); s.Blocks != 50 || s.Stale || s.LastSeq != 50 {
			t.Errorf("%d: %+v", h, s)
		}
	}
	if s := consumer.Stats(); s.Messages != 100 || !s.Connected || consumer.Streams() != 2 {
		t.Errorf("%+v, %d streams", s, consumer.Streams())
	}
}

func TestAGatewayThatComesBackGetsWhatItMissed(t *testing.T) {
	x, feed := cell(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, addr, stop := serve(t, Config{Listener: l}, feed)
	p := publisher(t, PublisherConfig{Addr: addr})
	until := func(seq uint64) {
		await.True(t, "published", func() bool { return p.Publish(t.Context(), stored("debug-0", seq)) == nil })
	}
	until(1)
	until(2)
	stop()
	if err := p.Publish(t.Context(), stored("debug-0", 3)); err == nil {
		t.Fatal("published to nobody")
	}
	serve(t, Config{Listen: addr}, feed)
	until(3)
	until(3) // twice does no harm
	until(4)
	if s := x.Host(0); s.Blocks != 4 || s.Stale || s.Gaps != 0 {
		t.Errorf("%+v", s)
	}
}

func TestATokenSpeaksForItsReplicasOnly(t *testing.T) {
	x, feed := cell(t)
	_, addr, _ := serve(t, Config{Tokens: []Token{{Token: "zero", Replicas: []string{"debug-0"}}, {Token: "all"}}},
		feed)
	for _, row := range []struct {
		token, replica string
		want           codes.Code
	}{
		{"", "debug-0", codes.Unauthenticated}, {"wrong", "debug-0", codes.Unauthenticated},
		{"zero", "debug-1", codes.PermissionDenied}, {"zero", "debug-0", codes.OK}, {"all", "debug-1", codes.OK},
	} {
		err := publisher(t, PublisherConfig{Addr: addr, Token: row.token}).Publish(t.Context(), stored(row.replica, 1))
		if got := codeOf(err); got != row.want {
			t.Errorf("%q for %s: %v", row.token, row.replica, err)
		}
	}
	if a, b := x.Host(0).Blocks, x.Host(1).Blocks; a != 1 || b != 1 {
		t.Errorf("%d and %d blocks", a, b)
	}
}

// codeOf finds the status among joined errors.
func codeOf(err error) codes.Code {
	if err == nil {
		return codes.OK
	}
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) && s.GRPCStatus().Code() != codes.Unknown {
		return s.GRPCStatus().Code()
	}
	return codes.Unknown
}

func TestAStreamSpeaksForOneReplica(t *testing.T) {
	x, feed := cell(t)
	_, addr, _ := serve(t, Config{}, feed)
	p := publisher(t, PublisherConfig{Addr: addr})
	if err := p.Publish(t.Context(), stored("debug-0", 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.Publish(t.Context(), stored("debug-1", 1)); codeOf(err) != codes.PermissionDenied {
		t.Errorf("as another one: %v", err)
	}
	if x.Host(1).Blocks != 0 {
		t.Error("it was heard")
	}
}

// What is no batch is refused before it takes memory: an empty event is two bytes on the wire and three hundred
// decoded.
func TestHostileMessagesEndTheirStream(t *testing.T) {
	_, feed := cell(t)
	consumer, addr, _ := serve(t, Config{}, feed)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, data := range map[string][]byte{
		"garbage": {0xff, 0xff, 0xff}, "nothing": {}, "empty events": slices.Repeat([]byte{0x2a, 0}, 1<<20),
		"too large": make([]byte, events.MaxMessageBytes+1),
	} {
		s, err := octetkvpb.NewEventsClient(conn).Publish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = s.SendMsg(&frame{data}) // the answer tells
		if _, err := s.Recv(); codeOf(err) != codes.InvalidArgument && codeOf(err) != codes.ResourceExhausted {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := consumer.Stats(); s.Bad != 3 || s.Messages != 0 {
		t.Errorf("%+v", s)
	}
}

func TestStreamsRunOverTLSAndWithClientCertificates(t *testing.T) {
	_, feed := cell(t)
	authority := tlstest.New(t)
	cert, pool := authority.Cert, authority.Roots
	server := &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	_, addr, _ := serve(t, Config{TLS: server}, feed)
	good := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if err := publisher(t, PublisherConfig{Addr: addr, TLS: good}).Publish(t.Context(), stored("debug-0",
		1)); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]*tls.Config{
		"plain":                 nil,
		"without a certificate": {RootCAs: pool, MinVersion: tls.VersionTLS12},
		"an unknown authority":  {Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	} {
		if err := publisher(t, PublisherConfig{Addr: addr, TLS: c}).Publish(t.Context(), stored("debug-0",
			2)); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}

func TestBadConfigurationsAreTold(t *testing.T) {
	for _, c := range []Config{{}, {Listen: "127.0.0.1:0", Tokens: []Token{{}}}} {
		if _, err := NewConsumer(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := NewPublisher(PublisherConfig{}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	_, feed := cell(t)
	_, addr, _ := serve(t, Config{}, feed)
	again, err := NewConsumer(Config{Listen: addr})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Consume(t.Context(), feed); !errors.Is(err, ErrConfig) {
		t.Errorf("an address in use: %v", err)
	}
	p := publisher(t, PublisherConfig{Addr: addr})
	_ = p.Close() // once more in the end
	if err := p.Publish(t.Context(), stored("debug-0", 1)); !errors.Is(err, events.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
