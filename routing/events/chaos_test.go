package events

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"octet/routing/index"
	"octet/routing/index/runs"
)

const (
	chaosReplicas = 3
	chaosHosts    = 6
	chaosKept     = 200 // batches that a stream keeps
)

// chaos is a gateway with two transports to some engines, all of which crash, lose, repeat and come back elsewhere.
type chaos struct {
	t        *testing.T
	rng      *rand.Rand
	engines  []*namedEngine
	logs     [][]Batch // of each engine's life: what its streams keep
	hosts    []index.HostID
	x        *runs.Indexer
	feed     *Feed
	sessions [2]Carrier
	at       [2][]int // where each transport reads each log
	thief    Carrier
	saved    []byte
	ops      int

	crashes, moves, restarts, gaps, resyncs int
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, rng: rand.New(rand.NewPCG(seed, 9)), hosts: make([]index.HostID, chaosReplicas),
		logs: make([][]Batch, chaosReplicas)}
	for i := range chaosReplicas {
		e := newNamedEngine(t, seed*10+uint64(i), 4)
		e.name, e.epoch = fmt.Sprint("e", i), 1
		c.engines, c.hosts[i] = append(c.engines, e), index.HostID(i)
	}
	c.boot()
	return c
}

// boot starts a gateway of which nothing is left but what was saved. Its transports read on from anywhere before where
// they were.
func (c *chaos) boot() {
	c.x = newIndex(c.t, chaosHosts)
	c.feed = NewFeed(c.x, hasher, c.target)
	c.feed.now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	if c.saved != nil {
		if _, err := c.feed.Load(bytes.NewReader(c.saved)); err != nil {
			c.t.Fatal(err)
		}
	}
	c.thief = c.feed.From("redis").Open()
	for i := range c.sessions {
		c.sessions[i] = c.feed.From([]string{"redis", "nats"}[i]).Open()
		if c.at[i] == nil {
			c.at[i] = make([]int, chaosReplicas)
		}
		for j := range c.at[i] {
			c.at[i][j] = c.rng.IntN(c.at[i][j] + 1)
		}
	}
}

func (c *chaos) target(replica string) (Target, bool) {
	for i, e := range c.engines {
		if e.name == replica {
			return Target{Host: c.hosts[i], Specialist: "debug", BlockSize: 4, Scheme: e.scheme, Named: true,
				Patience: time.Hour}, true
		}
	}
	return Target{}, false
}

// act does one thing to one engine.
func (c *chaos) act() {
	i := c.rng.IntN(chaosReplicas)
	switch n := c.rng.IntN(2000); {
	case n < 800:
		c.publish(i)
	case n < 1800:
		c.carry(c.rng.IntN(2), i)
	case n < 1900:
		c.steal(i)
	case n < 1985:
		if log := c.logs[i]; len(log) > 0 {
			c.feed.Deliver(log[c.rng.IntN(len(log))]) // by a source that knows no order
		}
	case n < 1990:
		c.restart(i)
	case n < 1993:
		c.move(i)
	case n < 1998:
		c.save()
	default:
		c.crashes++
		c.boot()
	}
}

func (c *chaos) publish(i int) {
	b := c.engines[i].step()
	c.logs[i] = append(c.logs[i], b)
	for j := range b.Events {
		c.ops += 1 + len(b.Events[j].Hashes)
	}
}

// carry has one transport bring the next batch, lose it, or begin again from an earlier one.
func (c *chaos) carry(way, i int) {
	at := &c.at[way][i]
	switch n := c.rng.IntN(100); {
	case n < 2:
		*at = c.rng.IntN(*at + 1)
	case *at == len(c.logs[i]):
		return
	case n > 3:
		c.sessions[way].Deliver(c.logs[i][*at])
	}
	*at = min(*at+1, len(c.logs[i]))
}

// steal speaks in a replica's name, as another publisher.
func (c *chaos) steal(i int) {
	e := c.engines[i]
	b := Batch{Replica: e.name, Epoch: e.epoch + c.rng.Uint64N(4), Seq: c.rng.Uint64N(e.seq + 3),
		By: Speaker{Name: "thief"}}
	b.Events = []Event{{Kind: Cleared}, {Kind: Registered, Hashes: e.names(e.texts[0]), Root: true}}
	if c.feed.Publishers()[e.name].Bound != nil && len(b.Events[1].Hashes) > 0 {
		c.thief.Deliver(b)
	}
}

// restart begins an engine's next life. What was published before is still in the streams, for a while.
func (c *chaos) restart(i int) {
	c.restarts++
	e := c.engines[i]
	e.epoch, e.seq = e.epoch+1+c.rng.Uint64N(3), 0
	clear(e.copies)
	c.publish(i)
}

// move gives a replica another slot, and its old one back to any that comes.
func (c *chaos) move(i int) {
	c.moves++
	old := c.hosts[i]
	for slices.Contains(c.hosts, c.hosts[i]) && c.hosts[i] == old {
		if to := index.HostID(c.rng.IntN(chaosHosts)); !slices.Contains(c.hosts, to) {
			c.hosts[i] = to
		}
	}
	c.feed.Forget(c.engines[i].name)
	c.x.Retire(old)
	if err := c.x.Sweep(context.Background(), old); err != nil {
		c.t.Fatal(err)
	}
	if err := c.x.Admit(old); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chaos) save() {
	var b bytes.Buffer
	if err := c.feed.Save(&b); err != nil {
		c.t.Fatal(err)
	}
	c.saved = b.Bytes()
}

// quiet has both transports read all that is kept, at once, and each stale replica is asked what it holds. Then the
// index is compared.
func (c *chaos) quiet() {
	c.t.Helper()
	var reading sync.WaitGroup
	for way, session := range c.sessions {
		reading.Go(func() {
			for i, log := range c.logs {
				for _, b := range log {
					session.Deliver(b)
				}
				c.at[way][i] = len(log)
			}
		})
	}
	reading.Wait()
	for i, e := range c.engines {
		at, _ := c.feed.Position(e.name)
		if c.x.Host(c.hosts[i]).Stale || at.Epoch != e.epoch || at.Seq != e.seq {
			c.gaps++
			if err := c.feed.Resync(e.name, e.epoch, e.seq, e.snapshot()); err != nil {
				c.t.Fatalf("%s: %v; %+v", e.name, err, at)
			}
			c.resyncs++
		}
	}
	c.compare()
	for i, log := range c.logs {
		gone := max(0, len(log)-chaosKept)
		c.logs[i] = slices.Clone(log[gone:])
		for way := range c.at {
			c.at[way][i] = max(0, c.at[way][i]-gone)
		}
	}
}

func (c *chaos) compare() {
	c.t.Helper()
	truth := newIndex(c.t, chaosHosts)
	within := hasher.Root("debug", "", "")
	for i, e := range c.engines {
		sameDepths(c.t, c.x, e, Target{Host: c.hosts[i]})
		for tier := range index.Tier(index.Tiers) {
			op := index.Op{Kind: index.Store, Tier: tier}
			for f := range maps.Keys(e.truth(within)) {
				if f.tier == tier {
					op.Blocks = append(op.Blocks, f.block)
				}
			}
			truth.Apply(index.Batch{Host: c.hosts[i], Epoch: 1, Seq: uint64(tier) + 1, Ops: []index.Op{op}})
		}
	}
	if c.x.Digest() != truth.Digest() {
		c.t.Fatalf("after %d changes, %d crashes and %d moves the index holds something else than the engines", c.ops,
			c.crashes, c.moves)
	}
	checkLedger(c.t, c.feed)
	if err := c.x.Check(); err != nil {
		c.t.Fatal(err)
	}
}

// snapshot is what an engine says when it is asked.
func (e *namedEngine) snapshot() (held []Event) {
	for at, n := range e.copies {
		for range n {
			held = append(held, Event{Kind: Registered, Tier: at.tier, Hashes: []uint64{at.name}})
		}
	}
	return held
}

// A million changes of caches, published by engines that crash and carried by two transports at once that lose, repeat
// and begin again, beside a source that brings them in no order and one that speaks in the engines' names, to gateways
// that are killed and start from whatever was saved, with replicas that change slots: whenever all is read, the index
// holds what the engines hold. MOD2-13, MOD2-17, MOD2-18, MOD2-51, DYN-10
func TestAMillionChangesInDisorderLeaveTheTruth(t *testing.T) {
	var total chaos
	for seed := uint64(0); total.ops < chaosOps; seed++ {
		c := newChaos(t, seed)
		for range 40 {
			for range 300 {
				c.act()
			}
			c.quiet()
		}
		if st := c.feed.Stats(); st.Conflicts+st.Unmappable+st.Invalid > 0 {
			t.Fatalf("%+v", st)
		}
		total.ops, total.crashes, total.moves, total.restarts, total.resyncs = total.ops+c.ops, total.crashes+c.crashes,
			total.moves+c.moves, total.restarts+c.restarts, total.resyncs+c.resyncs
	}
	t.Logf("%d changes, %d crashes, %d moves, %d restarts, %d resyncs", total.ops, total.crashes, total.moves,
		total.restarts, total.resyncs)
	if total.crashes == 0 || total.moves == 0 || total.restarts == 0 || total.resyncs == 0 {
		t.Error("not everything happened")
	}
}
