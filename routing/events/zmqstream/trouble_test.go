package zmqstream

import (
	"encoding/binary"
	"net"
	"sync"
	"testing"

	"octet/internal/await"
	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// garbage is a batch that no reader can read.
var garbage = []byte{0xdd, 0xff, 0xff, 0xff, 0xff}

// garble publishes a batch that cannot be read, and keeps it for replay.
func (e *engine) garble() {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	m := message{e.seq, garbage}
	e.p.ring.add(m)
	e.p.peers.send("", m)
	e.seq++
}

// A batch that cannot be read may have told of evictions: the replica is stale at once, although nothing comes after.
func TestABatchThatCannotBeReadMakesItsReplicaStaleAtOnce(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	consumer, _ := consume(t, e.consumer(), c.feed)
	e.grow(3)
	c.at(t, 3, false)
	e.garble()
	await.True(t, "it is read", func() bool { return consumer.Stats().Bad == 1 })
	await.True(t, "stale", func() bool { return c.x.Host(0).Stale })
}

// A restarted engine whose batches cannot be read holds nothing of what it held before.
func TestARestartedEngineThatCannotBeReadIsForgotten(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	consumer, _ := consume(t, e.consumer(), c.feed)
	e.grow(3)
	c.at(t, 3, false)
	e.restart()
	e.garble()
	await.True(t, "it is read", func() bool { return consumer.Stats().Bad >= 1 })
	await.True(t, "forgotten", func() bool { return c.x.Host(0).Blocks == 0 })
}

// replayer is a ROUTER that answers each request as it likes.
func replayer(t *testing.T, answer func(*zmtp.Conn, uint64)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				conn, err := zmtp.Open(c, "ROUTER", limits())
				if err != nil {
					return
				}
				frames, err := conn.Receive()
				if err != nil {
					return
				}
				answer(conn, binary.BigEndian.Uint64(frames[len(frames)-1]))
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return "tcp://" + l.Addr().String()
}

func TestAReplayThatNeverEndsIsGivenUp(t *testing.T) {
	for name, frames := range map[string][][]byte{
		"rubbish":                   {nil, []byte("x")},
		"one batch again and again": {nil, nil, make([]byte, 8), garbage},
	} {
		t.Run(name, func(t *testing.T) {
			e := startEngine(t, PublisherConfig{Endpoint: loopback.Endpoint})
			c := newCell(t)
			config := e.consumer()
			config.Replay = replayer(t, func(conn *zmtp.Conn, _ uint64) {
				for conn.Send(frames...) == nil { // as fast as it is read
				}
			})
			consumer, _ := consume(t, config, c.feed)
			await.True(t, "subscribed", func() bool { return consumer.Stats().Connected && subscribed(e.p) == 1 })
			e.grow(2)
			await.True(t, "what is published is heard", func() bool { return consumer.Stats().Messages > 0 })
		})
	}
}

// What a batch told that could not be read is part of what the engine says that it holds, when it is asked.
func TestABatchThatCannotBeReadIsMadeGoodByASnapshot(t *testing.T) {
	e := startEngine(t, telling)
	c := newNamedCell(t)
	consumer, _ := consume(t, e.telling(nil), c.feed)
	await.True(t, "subscribed", func() bool { return consumer.Stats().Connected && subscribed(e.p) == 1 })
	e.chain(0, 1, 2, 3)
	c.holds(t, "what was told", 3, []uint64{1, 2, 3})
	e.unread(events.Event{Kind: events.Evicted, Hashes: []uint64{3}})
	await.True(t, "stale", func() bool { return c.x.Host(0).Stale })
	e.chain(2, 4)
	c.holds(t, "what the engine holds", 3, []uint64{1, 2, 4})
}

// unread has an engine hold what all tell of, and tell of it in a batch that cannot be read.
func (e *engine) unread(all ...events.Event) {
	e.p.mu.Lock()
	e.p.mirror.follow(all)
	e.p.last++
	e.p.mu.Unlock()
	e.garble()
}

// An engine that begins anew as another rank holds nothing any more of what the replica held.
func TestAnEngineThatIsAnotherRankNowIsForgotten(t *testing.T) {
	e := startEngine(t, loopback)
	c := newCell(t)
	config, rank := e.consumer(), 0
	config.Rank = &rank
	consumer, _ := consume(t, config, c.feed)
	e.grow(3)
	c.at(t, 3, false)
	e.config.Rank = 1
	if err := e.p.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := NewPublisher(e.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	for seq := range uint64(3) {
		b := events.Batch{Replica: "debug-0", Epoch: 2, Seq: seq + 1, Events: []events.Event{{Kind: events.Registered,
			Hashes: []uint64{90 + seq}, Root: true, Tokens: ids(90, 4), BlockSize: 4}}}
		if err := p.Publish(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	await.True(t, "its batches are left out", func() bool { return consumer.Stats().OtherRank > 0 })
	await.True(t, "forgotten", func() bool { return c.x.Host(0).Blocks == 0 })
}
