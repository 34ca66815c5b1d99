package transports

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"octet/internal/await"
	"octet/internal/natsserver"
	"octet/internal/redistest"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/natsstream"
	"octet/routing/events/octetkvpb"
	"octet/routing/events/redisstream"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// heist is how a replica publishes, which consumer reads it, and how another publisher could try to speak in its name.
// That says whether it was turned away at once.
type heist struct {
	honest events.Publisher
	reader interface {
		events.Consumer
		Stats() events.ConsumerStats
	}
	steal func(events.Batch) error
}

const secret = events.Secret("sesame")

// heists are the ways in which debug-1 could try to speak for debug-0, by name.
var heists = map[string]func(t *testing.T) heist{
	"redis, under its own name": func(t *testing.T) heist {
		addr := redistest.Start(t).Addr
		a, b := redisstream.Config{Addr: addr, Publisher: "host-a"}, redisstream.Config{Addr: addr, Publisher: "host-b"}
		return heist{must(redisstream.NewPublisher(a)), must(redisstream.NewConsumer(a)),
			publishing(t, must(redisstream.NewPublisher(b)))}
	},
	"redis, with its own key": func(t *testing.T) heist {
		addr := redistest.Start(t).Addr
		a := redisstream.Config{Addr: addr, Key: secret.Key("debug-0"), Secret: secret}
		b := redisstream.Config{Addr: addr, Key: secret.Key("debug-1")}
		return heist{must(redisstream.NewPublisher(a)), must(redisstream.NewConsumer(a)),
			publishing(t, must(redisstream.NewPublisher(b)))}
	},
	"redis, without a key": func(t *testing.T) heist {
		addr := redistest.Start(t).Addr
		a := redisstream.Config{Addr: addr, Key: secret.Key("debug-0"), Secret: secret}
		return heist{must(redisstream.NewPublisher(a)), must(redisstream.NewConsumer(a)),
			publishing(t, must(redisstream.NewPublisher(redisstream.Config{Addr: addr})))}
	},
	"nats, on its own subject": func(t *testing.T) heist {
		c := natsstream.Config{URL: natsserver.Run(t).ClientURL()}
		return heist{must(natsstream.NewPublisher(c)), must(natsstream.NewConsumer(c)), func(b events.Batch) error {
			conn := must(nats.Connect(c.URL))
			defer conn.Close()
			_, err := must(jetstream.New(conn)).Publish(t.Context(), "octet.kv.debug-1", must(events.Marshal(b)))
			return err
		}}
	},
	"nats, with its own key": func(t *testing.T) heist {
		url := natsserver.Run(t).ClientURL()
		a := natsstream.Config{URL: url, Key: secret.Key("debug-0"), Secret: secret}
		b := natsstream.Config{URL: url, Key: secret.Key("debug-1")}
		return heist{must(natsstream.NewPublisher(a)), must(natsstream.NewConsumer(a)),
			publishing(t, must(natsstream.NewPublisher(b)))}
	},
	"grpc, with its own token": func(t *testing.T) heist {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		addr := l.Addr().String()
		tokens := []grpcstream.Token{{Token: "zero", Replicas: []string{"debug-0"}},
			{Token: "one", Replicas: []string{"debug-1"}}}
		return heist{
			must(grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr, Token: "zero"})),
			must(grpcstream.NewConsumer(grpcstream.Config{Listener: l, Tokens: tokens})),
			publishing(t, must(grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr, Token: "one"}))),
		}
	},
	"grpc, with a token for any": func(t *testing.T) heist {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		addr := l.Addr().String()
		return heist{
			must(grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr, Token: "zero"})),
			must(grpcstream.NewConsumer(grpcstream.Config{Listener: l,
				Tokens: []grpcstream.Token{{Token: "zero"}, {Token: "one"}}})),
			publishing(t, must(grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr, Token: "one"}))),
		}
	},
	"grpc, from another host": func(t *testing.T) heist {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		addr := l.Addr().String()
		return heist{
			must(grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr})),
			must(grpcstream.NewConsumer(grpcstream.Config{Listener: l})),
			fromElsewhere(t, addr),
		}
	},
}

func publishing(t *testing.T, p events.Publisher) func(events.Batch) error {
	t.Cleanup(func() { _ = p.Close() })
	return func(b events.Batch) error { return p.Publish(t.Context(), b) }
}

// fromElsewhere streams batches from another address of this machine.
func fromElsewhere(t *testing.T, addr string) func(events.Batch) error {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn := must(grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, at string) (net.Conn,
			error) {
			return from.DialContext(ctx, "tcp", at)
		})))
	t.Cleanup(func() { _ = conn.Close() })
	return func(b events.Batch) error {
		stream, err := octetkvpb.NewEventsClient(conn).Publish(t.Context())
		if err != nil {
			return err
		}
		e := b.Events[len(b.Events)-1]
		m := &octetkvpb.Batch{Replica: b.Replica, Epoch: b.Epoch, Seq: b.Seq, Events: []*octetkvpb.Event{
			{Kind: octetkvpb.Event_CLEARED},
			{Kind: octetkvpb.Event_REGISTERED, Hashes: e.Hashes, Root: true, Tokens: e.Tokens,
				BlockSize: uint32(e.BlockSize)},
		}}
		if err := stream.Send(m); err != nil {
			return err
		}
		_, err = stream.Recv()
		return err
	}
}

// Whatever carries them, what one replica publishes in another one's name is refused and counted: in the other one's
// present life, in a later one and once it has been quiet for a while. And the other one is heard on.
func TestNoReplicaSpeaksForAnotherByAnyTransport(t *testing.T) {
	for name, open := range heists {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			defer h.honest.Close()
			x := must(runs.New(index.Config{}))
			if err := x.Admit(0); err != nil {
				t.Fatal(err)
			}
			target := events.Target{Host: 0, Specialist: "debug", BlockSize: 4, Patience: time.Minute}
			feed := events.NewFeed(x, kvpool.Hasher{},
				func(r string) (events.Target, bool) { return target, r == "debug-0" })
			source, _, _ := strings.Cut(name, ",")
			defer run(t, h.reader, feed.From(source))()
			refused := func() uint64 { return feed.Stats().Foreign + h.reader.Stats().Refused }
			seq := uint64(0)
			say := func() {
				t.Helper()
				seq++
				b := events.Batch{Replica: "debug-0", Epoch: 5, Seq: seq, Events: []events.Event{block(seq)}}
				await.True(t, "it is published", func() bool { return h.honest.Publish(t.Context(), b) == nil })
				await.True(t, "it is read", func() bool { return x.Host(0).LastSeq == seq })
			}
			say()
			say()
			for i, epoch := range []uint64{5, 6, 1 << 62, 5} {
				before, was := x.Digest(), refused()
				stolen := events.Batch{Replica: "debug-0", Epoch: epoch, Seq: seq + 1,
					Events: []events.Event{{Kind: events.Cleared}, block(1000 + uint64(i))}}
				await.True(t, "it is refused", func() bool {
					_ = h.steal(stolen) // some are told at once that they may not
					return refused() > was
				})
				if x.Digest() != before || x.Host(0).Stale || x.Host(0).Epoch != 5 {
					t.Fatalf("the thief was heard: %+v", x.Host(0))
				}
				say()
			}
			// what is in the index is counted a moment later
			await.True(t, "all is counted", func() bool { return feed.Stats().Applied >= seq })
			if st := x.Host(0); st.Blocks != int(seq) || st.Gaps != 0 || feed.Stats().Applied != seq {
				t.Errorf("%+v, %+v", st, feed.Stats())
			}
		})
	}
}

// block is a chain of one block of its own.
func block(n uint64) events.Event {
	return events.Event{Kind: events.Registered, Root: true, Hashes: []uint64{n}, Tokens: []uint32{uint32(n), 2, 3, 4},
		BlockSize: 4}
}
