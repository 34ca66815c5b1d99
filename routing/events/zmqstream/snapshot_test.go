package zmqstream

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tinylib/msgp/msgp"

	"octet/internal/await"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/events/enginehash"
	"octet/routing/events/zmtp"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// telling is a loopback engine without replay, which tells all that it holds.
var telling = PublisherConfig{Endpoint: loopback.Endpoint, Snapshot: loopback.Endpoint}

// newNamedCell is a cell whose prompts are hashed as SGLang does.
func newNamedCell(t *testing.T) *cell {
	t.Helper()
	x, err := runs.New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Admit(0); err != nil {
		t.Fatal(err)
	}
	scheme, err := enginehash.New(enginehash.SGLang, "")
	if err != nil {
		t.Fatal(err)
	}
	target := events.Target{Host: 0, Specialist: "debug", BlockSize: 4, Scheme: scheme, Named: true}
	return &cell{x, events.NewFeed(x, kvpool.Hasher{},
		func(replica string) (events.Target, bool) { return target, replica == "debug-0" })}
}

// holds waits until the index holds exactly those chains of blocks by their names, and is not stale.
func (c *cell) holds(t *testing.T, what string, blocks int, chains ...[]uint64) {
	t.Helper()
	var state string
	defer func() {
		if t.Failed() {
			t.Log(state)
		}
	}()
	root := kvpool.Hasher{}.Root("debug", "", "")
	await.True(t, what, func() bool {
		got := c.x.Host(0)
		state = fmt.Sprintf("%d blocks wanted, %+v, %+v", blocks, got, c.feed.Stats())
		if got.Blocks != blocks || got.Stale {
			return false
		}
		for _, names := range chains {
			var chain []kvpool.BlockHash
			for _, name := range names {
				chain = append(chain, kvpool.Named(root, name))
			}
			var out [index.MaxHosts]uint16
			c.x.Depths(chain, index.HostSet(0), &out)
			if int(out[0]) != len(names) {
				state += fmt.Sprintf(", depth %d of %x", out[0], names)
				return false
			}
		}
		return true
	})
}

// chain stores blocks of those names, one after the other, in one batch.
func (e *engine) chain(parent uint64, names ...uint64) {
	e.t.Helper()
	e.publish(events.Event{Kind: events.Registered, Hashes: names, Parent: parent, Root: parent == 0})
}

func (e *engine) telling(rank *int) Config {
	return Config{Replica: "debug-0", Endpoint: e.config.Endpoint, Rank: rank,
		Snapshot: "tcp://" + e.p.SnapshotAddr().String()}
}

// sequential returns n names from first on, all but the first 2^63 of them negative as engines sign them.
func sequential(first uint64, n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = first + uint64(i)
	}
	return all
}

// A gateway that joins late, and one that has lost batches for good, know all that the engine holds, at once.
// MOD2-52
func TestASnapshotEndsWhatIsUnknown(t *testing.T) {
	e := startEngine(t, telling)
	long, side := sequential(1<<63-2, 2*chunkRecords+7), sequential(1<<62, 5)
	e.chain(0, long...)
	e.chain(long[3], side...)
	e.publish(events.Event{Kind: events.Evicted, Hashes: long[len(long)-2:]})
	long = long[:len(long)-2]
	c := newNamedCell(t)
	consumer, _ := consume(t, e.telling(nil), c.feed)
	c.holds(t, "what was held before", len(long)+len(side), long, append(long[:4:4], side...))
	await.True(t, "subscribed", func() bool { return subscribed(e.p) == 1 })
	more := sequential(77, 3)
	e.chain(side[4], more...)
	c.holds(t, "what comes next", len(long)+len(side)+3, append(append(long[:4:4], side...), more...))
	if n := consumer.Stats().Snapshots; n != 1 {
		t.Errorf("asked %d times", n)
	}
	e.unheard(events.Event{Kind: events.Evicted, Hashes: more[2:]})
	e.chain(0, 9)
	c.holds(t, "after a message was lost", len(long)+len(side)+3,
		append(append(long[:4:4], side...), more[:2]...), []uint64{9})
	if n := consumer.Stats().Snapshots; n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// unheard publishes an event that reaches no subscriber.
func (e *engine) unheard(lost events.Event) {
	e.p.peers.mu.Lock()
	all := e.p.peers.subscribers
	e.p.peers.subscribers = nil
	e.p.peers.mu.Unlock()
	e.publish(lost)
	e.p.peers.mu.Lock()
	defer e.p.peers.mu.Unlock()
	e.p.peers.subscribers = all
}

// Whatever an engine stores, evicts, clears and loses, and however often it begins anew, in the end the index holds
// what the engine holds.
func TestSnapshotsFollowAnEngineAtRandom(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			e := startEngine(t, telling)
			c := newNamedCell(t)
			config := e.telling(nil)
			e.config.Snapshot = config.Snapshot
			consume(t, config, c.feed)
			var next uint64
			held := []uint64{}
			for range 120 {
				event := events.Event{Kind: events.Registered, Root: true}
				switch n := rng.IntN(20); {
				case n == 0:
					event, held = events.Event{Kind: events.Cleared}, nil
				case n == 1:
					e.restart()
					held = nil
					continue
				case n < 6 && len(held) > 0:
					i := rng.IntN(len(held))
					event = events.Event{Kind: events.Evicted, Hashes: []uint64{held[i]}}
					held = append(held[:i:i], held[i+1:]...)
				default:
					if len(held) > 0 && rng.IntN(3) > 0 {
						event.Root, event.Parent = false, held[rng.IntN(len(held))]
					}
					for range 1 + rng.IntN(3) {
						next++
						event.Hashes = append(event.Hashes, next)
					}
					held = append(held, event.Hashes...)
				}
				if rng.IntN(5) == 0 {
					e.unheard(event)
				} else {
					e.publish(event)
				}
			}
			await.True(t, "the index holds what the engine holds", func() bool {
				if c.mirrors(e.p) {
					return true
				}
				next++ // a loss shows by what comes next
				e.publish(events.Event{Kind: events.Registered, Root: true, Hashes: []uint64{next}})
				return false
			})
		})
	}
}

// mirrors reports whether the index holds what p has published: as many blocks, and the first of each chain.
func (c *cell) mirrors(p *Publisher) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := c.x.Host(0); at.Stale || at.Blocks != len(p.mirror) {
		return false
	}
	root := kvpool.Hasher{}.Root("debug", "", "")
	for h, b := range p.mirror {
		var out [index.MaxHosts]uint16
		c.x.Depths([]kvpool.BlockHash{kvpool.Named(root, h)}, index.HostSet(0), &out)
		if b.parent == 0 && out[0] != 1 {
			return false
		}
	}
	return true
}

// teller is a socket that answers requests for snapshots with the messages of the moment.
type teller struct {
	at    string
	says  atomic.Pointer[[][][]byte]
	asked atomic.Int64
}

func startTeller(t *testing.T) *teller {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &teller{at: "tcp://" + l.Addr().String()}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close() // it ends
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.serve(c)
		}
	}()
	return s
}

func (s *teller) serve(c net.Conn) {
	defer c.Close()
	conn, err := zmtp.Open(c, "ROUTER", zmtp.Limits{Message: maxRequest, Frames: maxFrames})
	if err != nil {
		return
	}
	if _, err := conn.Receive(); err != nil {
		return
	}
	s.asked.Add(1)
	for _, frames := range *s.says.Load() {
		if conn.Send(frames...) != nil {
			return
		}
	}
}

func headerOf(version, rank, resume, records int64) []byte {
	b := msgp.AppendInt64(msgp.AppendArrayHeader(nil, snapshotFields), version)
	b = msgp.AppendInt64(msgp.AppendString(b, "life"), rank)
	b = msgp.AppendString(msgp.AppendInt64(msgp.AppendInt64(b, resume), resume), "barrier")
	return msgp.AppendInt64(b, records)
}

func said(what string, body []byte) [][]byte { return [][]byte{nil, []byte(what), body} }

// A snapshot that is not whole changes nothing: the replica stays what it was, and is asked again later.
func TestASnapshotThatIsNotWholeIsNone(t *testing.T) {
	one := appendRecord(msgp.AppendArrayHeader(nil, 1), 0, 5)
	end, good := said("end", nil), said("header", headerOf(1, 0, 3, 1))
	for name, says := range map[string][][][]byte{
		"nothing":                  {},
		"an error":                 {said("error", []byte("no snapshot of this cache"))},
		"an error within":          {good, said("error", []byte("the cache has changed"))},
		"no header":                {said("chunk", one), end},
		"two headers":              {good, good, said("chunk", one), end},
		"another version":          {said("header", headerOf(2, 0, 3, 1)), said("chunk", one), end},
		"another rank":             {said("header", headerOf(1, 1, 3, 1)), said("chunk", one), end},
		"a short header":           {said("header", msgp.AppendInt64(msgp.AppendArrayHeader(nil, 1), 1)), end},
		"no header's bytes":        {said("header", nil), end},
		"before the beginning":     {said("header", headerOf(1, 0, -1, 1)), said("chunk", one), end},
		"too many records":         {said("header", headerOf(1, 0, 3, events.MaxHashes+1)), said("chunk", one), end},
		"a record less":            {said("header", headerOf(1, 0, 3, 2)), said("chunk", one), end},
		"a record more":            {good, said("chunk", one), said("chunk", one), end},
		"no end":                   {good, said("chunk", one)},
		"a record of nothing":      {good, said("chunk", []byte{0x91, 0x92, 0xc0, 0x90}), end},
		"a record of one field":    {good, said("chunk", []byte{0x91, 0x91, 0xc0}), end},
		"a record that is none":    {good, said("chunk", []byte{0x91, 0xc0}), end},
		"a chunk that is cut":      {good, said("chunk", one[:len(one)-1]), end},
		"another word":             {good, said("piece", one), end},
		"one frame":                {[][]byte{[]byte("header")}},
		"older than what is known": {said("header", headerOf(1, 0, 1, 1)), said("chunk", one), end},
	} {
		t.Run(name, func(t *testing.T) {
			e, s, rank := startEngine(t, loopback), startTeller(t), 0
			s.says.Store(&says)
			c := newNamedCell(t)
			config := e.consumer()
			config.Replay, config.Snapshot, config.Rank = "", s.at, &rank
			f := newFollower(mustConsumer(t, config), events.OpenSession(c.feed))
			f.live, f.started, f.last, f.epoch = true, true, 1, 1
			f.partial = true
			f.restore(t.Context())
			if !f.partial || f.pause == 0 || f.last != 1 || f.meter.Stats().Snapshots != 0 || c.x.Host(0).Blocks != 0 {
				t.Errorf("partial %t, pause %v, %d", f.partial, f.pause, f.last)
			}
			f.restore(t.Context())
			if n := s.asked.Load(); n != 1 {
				t.Errorf("asked %d times at once", n)
			}
			s.says.Store(&[][][]byte{good, said("chunk", one), end})
			f.askAgain = f.askAgain.Add(-f.pause)
			f.restore(t.Context())
			if f.partial || f.last != 2 || c.x.Host(0).Blocks != 1 || c.x.Host(0).Stale {
				t.Errorf("then: partial %t, %d, %+v", f.partial, f.last, c.x.Host(0))
			}
		})
	}
}

func mustConsumer(t *testing.T, config Config) *Consumer {
	t.Helper()
	c, err := NewConsumer(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func FuzzSnapshot(f *testing.F) {
	f.Add(headerOf(1, 0, 3, 1), appendRecord(msgp.AppendArrayHeader(nil, 1), 0, 5))
	f.Add(headerOf(1, 0, 3, 2), appendRecord(appendRecord(msgp.AppendArrayHeader(nil, 2), 0, 5), 5, 1<<63))
	f.Fuzz(func(t *testing.T, header, chunk []byte) {
		var s snapshot
		at := before
		for _, frames := range [][][]byte{said("header", header), said("chunk", chunk), said("end", nil)} {
			var err error
			if at, err = s.take(at, frames, nil); err != nil {
				if !strings.Contains(err.Error(), errSnapshot.Error()) {
					t.Errorf("untyped: %v", err)
				}
				return
			}
		}
		b := events.Batch{Replica: "debug-0", Epoch: 1, Seq: 1, Events: s.held}
		if err := b.Check(); err != nil || at != over {
			t.Errorf("%v, %d", err, at)
		}
	})
}
