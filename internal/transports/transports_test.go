// Package transports holds what is to be true of all transports of cache events, by the same rows for each.
package transports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"octet/internal/await"
	"octet/internal/natsserver"
	"octet/internal/redistest"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// transport is one way from an engine to a gateway.
type transport struct {
	publisher events.Publisher
	consumer  events.Consumer
}

// transports are all ways there are, by name.
var transports = map[string]func(t *testing.T) transport{
	"redis": func(t *testing.T) transport {
		c := redisstream.Config{Addr: redistest.Start(t).Addr}
		return transport{must(redisstream.NewPublisher(c)), must(redisstream.NewConsumer(c))}
	},
	"nats": func(t *testing.T) transport {
		c := natsstream.Config{URL: natsserver.Run(t).ClientURL()}
		return transport{must(natsstream.NewPublisher(c)), must(natsstream.NewConsumer(c))}
	},
	"grpc": func(t *testing.T) transport {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		addr := l.Addr().String()
		_ = l.Close() // it never accepted; the consumer listens there, again and again
		return transport{
			must(grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr})),
			must(grpcstream.NewConsumer(grpcstream.Config{Listen: addr})),
		}
	},
	"local": func(*testing.T) transport {
		l := events.NewLocal(1 << 14)
		return transport{l, l}
	},
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// churn publishes what an engine with a small pool does: chains of blocks come, and the oldest go.
type churn struct {
	rng  *rand.Rand
	seq  uint64
	name uint64
	held []uint64
	most int
}

func (c *churn) next() events.Batch {
	c.seq++
	b := events.Batch{Replica: "debug-0", Epoch: 1, Seq: c.seq, At: time.Now()}
	e := events.Event{Kind: events.Registered, Root: true, BlockSize: 4}
	for range 1 + c.rng.IntN(8) {
		c.name++
		e.Hashes = append(e.Hashes, c.name)
		for range 4 {
			e.Tokens = append(e.Tokens, c.rng.Uint32N(1000))
		}
	}
	c.held = append(c.held, e.Hashes...)
	b.Events = append(b.Events, e)
	if over := len(c.held) - c.most; over > 0 {
		b.Events = append(b.Events, events.Event{Kind: events.Evicted, Hashes: c.held[:over:over]})
		c.held = c.held[over:]
	}
	return b
}

func newCell(t *testing.T) (*runs.Indexer, *events.Feed) {
	t.Helper()
	x := must(runs.New(index.Config{}))
	if err := x.Admit(0); err != nil {
		t.Fatal(err)
	}
	target := events.Target{Host: 0, Specialist: "debug", BlockSize: 4, Patience: time.Minute}
	return x, events.NewFeed(x, kvpool.Hasher{}, func(string) (events.Target, bool) { return target, true })
}

// run consumes until the returned func is called.
func run(t *testing.T, c events.Consumer, sink events.Sink) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = c.Consume(ctx, sink) })
	return func() { cancel(); running.Wait() }
}

// Whatever carries them, an engine's events make the same index, and a gateway that goes and comes back has it again.
// MOD2-17, MOD2-18, DYN-10
func TestEveryTransportComesToTheSameIndex(t *testing.T) {
	for name, open := range transports {
		t.Run(name, func(t *testing.T) {
			tr := open(t)
			defer tr.publisher.Close()
			want, direct := newCell(t)
			x, feed := newCell(t)
			stop := run(t, tr.consumer, feed)
			engine := churn{rng: rand.New(rand.NewPCG(1, 2)), most: 200}
			for i := range 300 {
				if i == 150 {
					stop()
					stop = run(t, tr.consumer, feed)
				}
				b := engine.next()
				direct.Deliver(b)
				await.True(t, fmt.Sprint(b.Seq, " is published"),
					func() bool { return tr.publisher.Publish(t.Context(), b) == nil })
			}
			await.True(t, "all is read", func() bool { return x.Host(0).LastSeq == 300 })
			stop()
			if x.Digest() != want.Digest() || x.Host(0).Stale || x.Host(0).Blocks != 200 {
				t.Errorf("%+v, want %+v; %+v", x.Host(0), want.Host(0), feed.Stats())
			}
		})
	}
}

// Four transports at once, each of which loses a part: nothing is missing, nothing is applied twice. MOD2-18, MOD2-23
func TestTransportsAtOnceMakeUpForEachOthersLosses(t *testing.T) {
	want, direct := newCell(t)
	x, feed := newCell(t)
	var all []transport
	for name, open := range transports {
		tr := open(t)
		defer tr.publisher.Close()
		defer run(t, tr.consumer, feed.From(name))()
		all = append(all, tr)
	}
	engine := churn{rng: rand.New(rand.NewPCG(3, 4)), most: 100}
	for seq := range 200 {
		b := engine.next()
		direct.Deliver(b)
		for i, tr := range all {
			if seq > 0 && seq < 199 && seq%len(all) == i {
				continue // this one loses it, the others do not
			}
			await.True(t, "published", func() bool { return tr.publisher.Publish(t.Context(), b) == nil })
		}
		if seq == 0 { // a source that has not brought anything yet is not waited for
			await.True(t, "all carry the replica", func() bool { return feed.Stats().Batches == uint64(len(all)) })
		}
	}
	await.True(t, "all is read", func() bool { return x.Host(0).LastSeq == 200 })
	if bound := feed.Publishers()["debug-0"].Bound; len(bound) != len(all) {
		t.Errorf("of %d transports that bring the same, these are heard: %v", len(all), bound)
	}
	if x.Digest() != want.Digest() || x.Host(0).Gaps != 0 || feed.Stats().Applied != 200 {
		t.Errorf("%+v, want %+v; %+v", x.Host(0), want.Host(0), feed.Stats())
	}
}

// An engine that lives long, over its own sockets, and others that speak in its name all the while: what the gateway
// keeps of it does not grow, in its heap or beside it. MOD2-50
func TestMemoryIsFlatUnderChurn(t *testing.T) {
	p := must(zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:0",
		Replay: "tcp://127.0.0.1:0", Buffer: 100}))
	defer p.Close()
	x, feed := newCell(t)
	defer run(t, must(zmqstream.NewConsumer(zmqstream.Config{
		Replica: "debug-0", Endpoint: "tcp://" + p.Addr().String(), Replay: "tcp://" + p.ReplayAddr().String(),
	})), feed.From("zmq"))()
	engine := churn{rng: rand.New(rand.NewPCG(5, 6)), most: 2000}
	thief := churn{rng: rand.New(rand.NewPCG(7, 8)), most: 2000}
	thieves := feed.From("redis").Open()
	defer thieves.Close()
	round := func(batches int) uint64 {
		for range batches {
			if err := p.Publish(t.Context(), engine.next()); err != nil {
				t.Fatal(err)
			}
			if feed.Stats().Applied > 0 {
				b := thief.next()
				b.By.Name, b.Epoch = fmt.Sprint("host-", b.Seq%1000), 1<<62+b.Seq
				thieves.Deliver(b)
			}
			if engine.seq%50 == 0 { // no faster than it is read: this is about memory, not loss
				await.True(t, "it is read", func() bool { return x.Host(0).LastSeq+1 == engine.seq })
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early := round(2000)
	mapped := x.Stats().Bytes
	late := round(10000)
	if now := x.Stats().Bytes; now > mapped+mapped/4 {
		t.Errorf("the index grew from %d to %d bytes", mapped, now)
	}
	if x.Host(0).Blocks != 2000 || x.Stats().Entries != 2000 || feed.Stats().Blocks > 4000 || x.Host(0).Gaps != 0 {
		t.Errorf("%+v, %+v, %+v", x.Host(0), x.Stats(), feed.Stats())
	}
	if late > early+early/4+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}
