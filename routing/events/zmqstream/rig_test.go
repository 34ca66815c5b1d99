package zmqstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"octet/internal/await"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/index"
	"octet/routing/index/runs"
)

var (
	_ events.Publisher = (*Publisher)(nil)
	_ events.Consumer  = (*Consumer)(nil)
)

// cell is an index and its feed, with one replica.
type cell struct {
	x    *runs.Indexer
	feed *events.Feed
}

func newCell(t *testing.T) *cell {
	t.Helper()
	x, err := runs.New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Admit(0); err != nil {
		t.Fatal(err)
	}
	target := events.Target{Host: 0, Specialist: "debug", BlockSize: 4}
	return &cell{x, events.NewFeed(x, kvpool.Hasher{},
		func(replica string) (events.Target, bool) { return target, replica == "debug-0" })}
}

// at waits until the index holds exactly so many blocks, all of the chain from token 1 on, and is stale or not.
func (c *cell) at(t *testing.T, blocks int, stale bool) {
	t.Helper()
	var h kvpool.Hasher
	chain := h.Chain(nil, h.Root("debug", "", ""), ids(1, uint32(4*blocks+4)), 4)
	var state string
	defer func() {
		if t.Failed() {
			t.Log(state)
		}
	}()
	await.True(t, fmt.Sprintf("%d blocks, stale %t", blocks, stale), func() bool {
		var out [index.MaxHosts]uint16
		c.x.Depths(chain, index.HostSet(0), &out)
		got := c.x.Host(0)
		state = fmt.Sprintf("depth %d, %+v, %+v", out[0], got, c.feed.Stats())
		return int(out[0]) == blocks && got.Blocks == blocks && got.Stale == stale
	})
}

// engine publishes a growing chain, a block a batch.
type engine struct {
	t      *testing.T
	p      *Publisher
	config PublisherConfig
	seq    uint64
	held   int // blocks
}

func startEngine(t *testing.T, c PublisherConfig) *engine {
	e := &engine{t: t, config: c}
	e.start()
	t.Cleanup(func() { _ = e.p.Close() })
	return e
}

// start begins a life. A port that was free once is asked for again.
func (e *engine) start() {
	e.t.Helper()
	p, err := NewPublisher(e.config)
	if err != nil {
		e.t.Fatal(err)
	}
	e.p, e.seq, e.held = p, 0, 0
	e.config.Endpoint = "tcp://" + p.Addr().String()
	if p.ReplayAddr() != nil {
		e.config.Replay = "tcp://" + p.ReplayAddr().String()
	}
}

func (e *engine) restart() {
	e.t.Helper()
	if err := errors.Join(e.p.Close(), e.p.Close()); err != nil {
		e.t.Fatal(err)
	}
	e.start()
}

func (e *engine) consumer() Config {
	return Config{Replica: "debug-0", Endpoint: e.config.Endpoint, Replay: e.config.Replay}
}

func (e *engine) publish(all ...events.Event) {
	e.t.Helper()
	e.seq++
	if err := e.p.Publish(e.t.Context(), events.Batch{Replica: "debug-0", Epoch: 1, Seq: e.seq,
		Events: all}); err != nil {
		e.t.Fatal(err)
	}
}

// grow stores n more blocks of the chain, in a batch each.
func (e *engine) grow(n int) {
	e.t.Helper()
	for range n {
		e.held++
		h := uint64(e.held)
		e.publish(events.Event{Kind: events.Registered, Hashes: []uint64{h}, Parent: h - 1, Root: h == 1,
			Tokens: ids(uint32(4*h-3), 4), BlockSize: 4})
	}
}

// shrink evicts the chain's last block.
func (e *engine) shrink() {
	e.t.Helper()
	e.publish(events.Event{Kind: events.Evicted, Hashes: []uint64{uint64(e.held)}})
	e.held--
}

// skip loses a batch for good: it is numbered, and that is all.
func (e *engine) skip() { e.seq++ }

// consume runs a consumer until the test ends, or the returned func is called.
func consume(t *testing.T, c Config, sink events.Sink) (consumer *Consumer, stop func()) {
	t.Helper()
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
	return consumer, stop
}

// tape records what is delivered.
type tape struct {
	mu  sync.Mutex
	all []events.Batch
}

func (s *tape) Deliver(b events.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, b)
}

func (s *tape) batches() []events.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}
