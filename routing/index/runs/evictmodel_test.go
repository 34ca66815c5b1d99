package runs

import (
	"math/rand/v2"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
)

// cramped is an index with little room of one kind, and the truth beside it: which replica has a block, in which tiers.
type cramped struct {
	t      *testing.T
	rng    *rand.Rand
	x      *Indexer
	chains [][]kvpool.BlockHash
	truth  [crampedHosts]map[kvpool.BlockHash]tierSet
	seq    [crampedHosts]uint64
	epoch  [crampedHosts]uint64
}

const crampedHosts = 24

// What an index may be short of.
var shortages = []struct {
	name   string
	impose func(x *Indexer)
}{
	{"table", func(x *Indexer) { widen(x, 10) }},
	{"arrays", func(x *Indexer) {
		widen(x, 500)
		x.tree.arena.next = x.tree.arena.end - cutReserve - 4000
	}},
	{"headers", func(x *Indexer) {
		widen(x, 500)
		x.tree.top = uint32(x.tree.runs.chunks()<<runBits - spareHeaders - 60)
	}},
	{"tiers", func(x *Indexer) {
		widen(x, 500)
		x.tree.mem.limit -= 2500 * elsewhereBytes
	}},
	{"everything", func(x *Indexer) {
		x.tree.mem.limit = x.tree.mem.account.Used()
		x.tree.arena.next = x.tree.arena.end - 600
		x.tree.top = uint32(x.tree.runs.chunks()<<runBits - spareHeaders - 20)
	}},
}

// widen makes each segment of the table n lines long, and allows nothing on top.
func widen(x *Indexer, n uint64) {
	x.tree.mem.limit = 1 << 30
	for i := range x.tree.blocks.segs {
		x.tree.blocks.rebuild(&x.tree.blocks.segs[i], &x.tree.blocks.fill[i], n)
	}
	x.tree.mem.limit = x.tree.mem.account.Used() + 3000*elsewhereBytes
}

func newCramped(t *testing.T, seed uint64, impose func(*Indexer)) *cramped {
	f := newFleet(t, seed, crampedHosts, 200, 60)
	c := &cramped{t: t, rng: f.rng, x: f.x, chains: f.chains}
	for h := range c.truth {
		c.truth[h] = map[kvpool.BlockHash]tierSet{}
	}
	c.apply(0, index.Op{Kind: index.Store, Blocks: f.chains[0], RootKnown: true}) // maps the first chunks
	impose(c.x)
	return c
}

func (c *cramped) apply(h index.HostID, ops ...index.Op) {
	for _, op := range ops {
		for _, b := range op.Blocks {
			if op.Kind == index.Store {
				c.truth[h][b] |= 1 << op.Tier
			} else if c.truth[h][b] &^= 1 << op.Tier; c.truth[h][b] == 0 {
				delete(c.truth[h], b)
			}
		}
	}
	c.seq[h]++
	if out := c.x.Apply(index.Batch{Host: h, Epoch: c.epoch[h], Seq: c.seq[h], Ops: ops}); out != index.Applied {
		c.t.Fatal(out)
	}
}

// op draws an op on a stretch of a chain: mostly what engines do, sometimes a hole.
//
//nolint:lll // raw text that cannot be broken
func (c *cramped) op() index.Op {
	chain := c.chains[c.rng.IntN(len(c.chains))]
	from := c.rng.IntN(2) * c.rng.IntN(len(chain))
	op := index.Op{Tier: [...]index.Tier{index.GPU, index.GPU, index.GPU, index.GPU, index.CPU, index.SSD}[c.rng.IntN(6)], Blocks: chain[from:]}
	switch c.rng.IntN(6) {
	case 0, 1:
		op.Kind = index.Remove
	case 2:
		op.Kind, op.Blocks = index.Remove, chain[from:from+1]
	default:
		if op.RootKnown = from == 0; from > 0 {
			op.HasParent, op.Parent = true, chain[from-1]
		}
	}
	return op
}

// life ends and begins replicas, and replaces all that one holds.
func (c *cramped) life(h index.HostID) {
	switch c.rng.IntN(150) {
	case 0:
		c.epoch[h], c.seq[h] = c.epoch[h]+1, 0
		clear(c.truth[h])
	case 1:
		c.x.Retire(h)
		if err := c.x.Sweep(c.t.Context(), h); err != nil || c.x.Admit(h) != nil {
			c.t.Fatal(err)
		}
		c.epoch[h], c.seq[h] = 0, 0
		clear(c.truth[h])
	case 2:
		clear(c.truth[h])
		var held []index.TierBlocks
		for range 20 {
			chain := c.chains[c.rng.IntN(len(c.chains))]
			held = append(held, index.TierBlocks{Tier: index.GPU, Blocks: chain, RootKnown: true})
			for _, b := range chain {
				c.truth[h][b] = onGPU
			}
		}
		if out := c.x.Resync(h, c.epoch[h], c.seq[h], held); out != index.Applied {
			c.t.Fatal(out)
		}
	}
}

// compare asks for a chain: nothing is said that is not so, of no tier.
func (c *cramped) compare() {
	chain := c.chains[c.rng.IntN(len(c.chains))]
	var out [index.MaxHosts]uint16
	c.x.Depths(chain, c.x.Alive(), &out)
	for h := range index.HostID(crampedHosts) {
		for i, b := range chain[:out[h]] {
			if c.truth[h][b] == 0 {
				c.t.Fatalf("host %d is said to hold %d blocks, but does not hold block %d", h, out[h], i)
			}
		}
	}
	h := index.HostID(c.rng.IntN(crampedHosts))
	var want [index.Tiers]int
	for _, b := range chain[:out[h]] {
		tier := c.x.hosts[h].fastest(b)
		if want[tier]++; c.truth[h][b]&(1<<tier) == 0 {
			c.t.Fatalf("host %d is said to have %x in %s, has it in %b", h, b, tier, c.truth[h][b])
		}
	}
	if got := c.x.InTiers(h, chain, len(chain), 1); got != want {
		c.t.Fatalf("host %d: %v by tier of %d blocks, want %v", h, got, out[h], want)
	}
}

// audit checks every fact that the index has, and its own invariants.
func (c *cramped) audit() {
	if err := c.x.Check(); err != nil {
		c.t.Fatal(err)
	}
	c.x.tree.each(func(r *run, s *holders) {
		blocks := blocksOf(c.x.tree.hashes(r))
		s.each(func(h index.HostID, from, to int) {
			for _, b := range blocks[from:to] {
				if said := c.x.hosts[h].tiers(b); said&^c.truth[h][b] != 0 {
					c.t.Fatalf("host %d has %x in %b, is said to have it in %b", h, b, c.truth[h][b], said)
				}
			}
		})
	})
}

// Whatever it is short of, the index stays within its limit and says nothing that is not so, of depths, tiers and
// places; what was evicted does not come back by a removal; and when all replicas have gone, nothing is left.
func TestIndexThatEvictsSaysASubsetOfTheTruth(t *testing.T) {
	for i, short := range shortages {
		t.Run(short.name, func(t *testing.T) {
			c := newCramped(t, uint64(i), short.impose)
			for round := range patiently(12_000) {
				h := index.HostID(c.rng.IntN(crampedHosts))
				c.life(h)
				c.apply(h, c.op(), c.op())
				if used := c.x.Stats().Bytes; used > c.x.tree.mem.limit {
					t.Fatalf("%d bytes of %d", used, c.x.tree.mem.limit)
				}
				c.compare()
				if round%200 == 0 {
					c.audit()
				}
			}
			c.audit()
			st := c.x.Stats()
			if st.Evicted == 0 {
				t.Fatalf("nothing was evicted: %+v", st)
			}
			t.Logf("%+v", st)
			for h := range index.HostID(crampedHosts) {
				c.x.Retire(h)
			}
			for h := range index.HostID(crampedHosts) {
				if err := c.x.Sweep(t.Context(), h); err != nil {
					t.Fatal(err)
				}
			}
			if st := c.x.Stats(); st.Entries != 0 || st.Blocks != 0 || st.Runs != 0 {
				t.Fatalf("left: %+v", st)
			}
			c.audit()
		})
	}
}
