package zmqstream

import (
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"octet/internal/await"
	"octet/routing/events"
)

var loopback = PublisherConfig{Endpoint: "tcp://127.0.0.1:0", Replay: "tcp://127.0.0.1:0"}

// DYN-10
func TestBlocksComeAndGoWithTheEngines(t *testing.T) {
	for _, layout := range []Layout{Maps, Arrays} {
		t.Run(string(layout), func(t *testing.T) {
			config := loopback
			config.Layout, config.Topic = layout, "kv@10.0.0.1@debug"
			e := startEngine(t, config)
			c := newCell(t)
			e.grow(3)
			consumer, _ := consume(t, e.consumer(), c.feed)
			c.at(t, 3, false) // a late one catches up
			e.grow(5)
			c.at(t, 8, false)
			e.shrink()
			e.shrink()
			c.at(t, 6, false)
			e.publish(events.Event{Kind: events.Cleared})
			c.at(t, 0, false)
			if s := consumer.Stats(); !s.Connected || s.Messages != 11 || s.Bad != 0 || s.Replayed < 3 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestATopicThatIsNotAskedForIsNotHeard(t *testing.T) {
	config := loopback
	config.Topic = "kv@other"
	e := startEngine(t, config)
	want := e.consumer()
	want.Topic, want.Replay = "kv@debug", ""
	var got tape
	consumer, _ := consume(t, want, &got)
	await.True(t, "connected", func() bool { return consumer.Stats().Connected })
	e.grow(2)
	mine := e.consumer()
	mine.Topic, mine.Replay = "kv@", ""
	var all tape
	consume(t, mine, &all)
	await.True(t, "the other one hears", func() bool { e.grow(1); return len(all.batches()) > 0 })
	if n := len(got.batches()); n != 0 {
		t.Errorf("%d batches of another topic", n)
	}
}

func TestARestartedEngineBeginsAnew(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	consumer, _ := consume(t, e.consumer(), c.feed)
	e.grow(6)
	c.at(t, 6, false)
	e.restart()
	c.at(t, 0, false) // although nothing was published yet
	e.grow(2)
	c.at(t, 2, false)
	e.restart()
	e.grow(9) // further than the life before
	c.at(t, 9, false)
	if s := consumer.Stats(); s.Reconnects < 2 || s.Rewinds == 0 {
		t.Errorf("%+v", s)
	}
}

// The same numbers, and another engine: the batch that was taken last tells.
func TestALifeThatHasGoneAsFarIsTakenForWhatItIs(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	consume(t, e.consumer(), c.feed)
	e.grow(4)
	c.at(t, 4, false)
	e.restart()
	e.grow(2)
	e.shrink()
	e.shrink()
	e.grow(3)
	c.at(t, 3, false)
}

func TestAnInterruptionIsBridgedByReplay(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	proxy := startProxy(t, e.p.Addr())
	config := e.consumer()
	config.Endpoint = "tcp://" + proxy.addr()
	consume(t, config, c.feed)
	e.grow(3)
	c.at(t, 3, false)
	epoch := c.x.Host(0).Epoch
	for range 3 {
		proxy.cut()
		e.grow(2)
		e.shrink()
	}
	c.at(t, 6, false)
	if h := c.x.Host(0); h.Epoch != epoch || h.Gaps != 0 {
		t.Errorf("epoch %d became %d, with %d gaps", epoch, h.Epoch, h.Gaps)
	}
}

func TestWithoutReplayAnInterruptionIsAGap(t *testing.T) {
	e := startEngine(t, PublisherConfig{Endpoint: loopback.Endpoint})
	c := newCell(t)
	proxy := startProxy(t, e.p.Addr())
	config := e.consumer()
	config.Endpoint = "tcp://" + proxy.addr()
	consumer, _ := consume(t, config, c.feed)
	await.True(t, "connected", func() bool { return consumer.Stats().Connected && subscribed(e.p) == 1 })
	e.grow(3)
	c.at(t, 3, false)
	proxy.cut()
	c.at(t, 0, true) // it is not known which engine this is
	await.True(t, "subscribed again", func() bool { return subscribed(e.p) == 1 })
	e.publish(events.Event{Kind: events.Cleared})
	c.at(t, 0, false)
	e.held = 0
	e.grow(2)
	c.at(t, 2, false)
}

func TestAGapIsReplayedBeforeWhatCameAfterIt(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	consume(t, e.consumer(), c.feed)
	e.grow(2)
	c.at(t, 2, false)
	// One subscriber's loss: batches that are only in the ring.
	e.p.mu.Lock()
	for _, b := range []events.Event{
		{Kind: events.Registered, Hashes: []uint64{3}, Parent: 2, Tokens: ids(9, 4), BlockSize: 4},
		{Kind: events.Evicted, Hashes: []uint64{3}},
	} {
		e.p.ring.add(message{e.seq, e.p.encoder.encode(events.Batch{At: time.Unix(5, 0), Events: []events.Event{b}})})
		e.seq++
	}
	e.p.mu.Unlock()
	e.grow(1)
	c.at(t, 3, false)
	if g := c.feed.Stats().Gaps; g != 0 {
		t.Errorf("%d gaps", g)
	}
}

func TestWhatCannotBeReplayedIsUnknownAndWhatComesThenIsKnown(t *testing.T) {
	config := loopback
	config.Buffer = 2
	e := startEngine(t, config)
	c := newCell(t)
	e.grow(6) // four of them are gone
	consume(t, e.consumer(), c.feed)
	await.True(t, "stale", func() bool { return c.x.Host(0).Stale })
	e.publish(events.Event{Kind: events.Cleared})
	c.at(t, 0, false)
	e.held = 0
	e.grow(1)
	c.at(t, 1, false)
	e.skip()
	e.grow(1) // behind a block that may have gone in the batch that was lost
	await.True(t, "the second block alone is known", func() bool {
		h := c.x.Host(0)
		return h.Stale && h.Blocks == 1
	})
	e.publish(events.Event{Kind: events.Registered, Hashes: []uint64{1}, Root: true, Tokens: ids(1, 4), BlockSize: 4})
	c.at(t, 2, true)
}

func TestAGatewayThatStartsAgainGoesOnWhereItWas(t *testing.T) {
	config := loopback
	config.Buffer = 4
	e := startEngine(t, config)
	c := newCell(t)
	_, stop := consume(t, e.consumer(), c.feed)
	for range 6 {
		e.grow(1)
		c.at(t, e.held, false)
	}
	stop()
	at, ok := c.feed.Position("debug-0")
	if !ok || at.Seq != 5 || at.Mark == 0 {
		t.Fatalf("%+v, %t", at, ok)
	}
	e.grow(2)
	again := e.consumer()
	again.Resume = func() (events.Position, bool) { return at, true }
	consume(t, again, c.feed)
	c.at(t, 8, false) // the ring alone has four batches of eight
	if h := c.x.Host(0); h.Epoch != at.Epoch {
		t.Errorf("epoch %d became %d", at.Epoch, h.Epoch)
	}
}

func TestAnEngineThatDialsIsHeard(t *testing.T) {
	c := newCell(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // the gateway is to have the port
	consumer, _ := consume(t, Config{Replica: "debug-0", Endpoint: "tcp://*:" + port}, c.feed)
	await.True(t, "listening", func() bool {
		p, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = p.Close() // not an engine; the consumer sees that
		}
		return err == nil
	})
	p, err := NewPublisher(PublisherConfig{Endpoint: "tcp://127.0.0.1:" + port})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Addr() != nil {
		t.Fatal("the engine listens where the gateway does")
	}
	e := &engine{t: t, p: p}
	await.True(t, "subscribed", func() bool { return subscribed(p) == 1 })
	e.grow(3)
	c.at(t, 3, false)
	if !consumer.Stats().Connected {
		t.Error("it does not say that it is connected")
	}
}

func TestHostileMessagesAreSkippedAndShow(t *testing.T) {
	e := startEngine(t, PublisherConfig{Endpoint: loopback.Endpoint})
	c := newCell(t)
	consumer, _ := consume(t, e.consumer(), c.feed)
	await.True(t, "subscribed", func() bool { return subscribed(e.p) == 1 })
	e.grow(1)
	e.p.peers.send("", message{e.seq, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}})
	e.seq++
	e.grow(1)
	await.True(t, "stale", func() bool { return c.x.Host(0).Stale })
	if s := consumer.Stats(); s.Bad != 1 {
		t.Errorf("%+v", s)
	}
}

func TestBadConfigurationsAreTold(t *testing.T) {
	for _, c := range []Config{
		{Endpoint: "tcp://127.0.0.1:1"}, {Replica: "r"}, {Replica: "r", Endpoint: "udp://127.0.0.1:1"},
		{Replica: "r", Endpoint: "tcp://nope"},
		{Replica: "r", Endpoint: "tcp://127.0.0.1:1", Replay: "tcp://*:2"},
		{Replica: "r", Endpoint: "tcp://127.0.0.1:1", Replay: "x"},
	} {
		if _, err := NewConsumer(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	taken := startEngine(t, loopback)
	for _, c := range []PublisherConfig{
		{}, {Endpoint: "tcp://*:0", Buffer: -1}, {Endpoint: "tcp://*:0", Layout: "xml"},
		{Endpoint: "tcp://*:0", Replay: "?"},
		{Endpoint: "tcp://127.0.0.1:0", Replay: taken.config.Replay},
	} {
		if p, err := NewPublisher(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
			_ = p.Close() // it should not be
		}
	}
	if err := errors.Join(taken.p.Close()); err != nil {
		t.Error(err)
	}
	if err := taken.p.Publish(t.Context(), events.Batch{Replica: "r"}); !errors.Is(err, events.ErrClosed) {
		t.Errorf("publishing after Close: %v", err)
	}
}

func TestSlowSubscribersLoseAndOthersDoNot(t *testing.T) {
	config := loopback
	config.Queue = 4
	e := startEngine(t, config)
	c := newCell(t)
	consume(t, e.consumer(), c.feed)
	await.True(t, "subscribed", func() bool { return subscribed(e.p) == 1 })
	e.grow(400) // far beyond the queue: what is lost is replayed
	c.at(t, 400, false)
	if got := slices.Max([]uint64{c.x.Host(0).Gaps, 0}); got != 0 {
		t.Errorf("%d gaps", got)
	}
}

// A forwarder between engine and gateway keeps its connection when the engine behind it restarts.
func TestNumbersThatGoBackOnOneConnectionAreAnotherLife(t *testing.T) {
	e := startEngine(t, PublisherConfig{Endpoint: loopback.Endpoint})
	c := newCell(t)
	consume(t, e.consumer(), c.feed)
	await.True(t, "subscribed", func() bool { return subscribed(e.p) == 1 })
	e.grow(3)
	c.at(t, 3, false)
	first := events.Event{Kind: events.Registered, Hashes: []uint64{1}, Root: true, Tokens: ids(1, 4), BlockSize: 4}
	e.p.peers.send("", message{0, e.p.encoder.encode(events.Batch{At: time.Unix(9, 0), Events: []events.Event{first}})})
	c.at(t, 1, false)
}
