package runs

import (
	"container/list"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// full returns an index of a few blocks that is full, and how many blocks it holds.
func full(t *testing.T) (x *Indexer, entries int) {
	x = indextest.Seeded(t, New, nil, 0, 0)
	indextest.StoreRoot(t, x, 0, 2, indextest.Chain(16, "first"))
	widen(x, 10)
	for seq := uint64(3); x.Stats().Evicted == 0; seq++ {
		entries = x.Stats().Entries
		indextest.StoreRoot(t, x, 0, seq, indextest.Chain(16, string(rune(seq))))
	}
	return x, entries
}

// prompts answers whether a prompt was there, and has it there from now on.
type prompts interface {
	hit(chain []kvpool.BlockHash) bool
}

// lru is the oracle: as many blocks as the index holds, the one used last in front.
type lru struct {
	room  int
	order *list.List
	at    map[kvpool.BlockHash]*list.Element
}

func (l *lru) hit(chain []kvpool.BlockHash) bool {
	hit := true
	for _, b := range slices.Backward(chain) { // the beginning outlives the end
		if e := l.at[b]; e != nil {
			l.order.MoveToFront(e)
			continue
		}
		hit = false
		l.at[b] = l.order.PushFront(b)
		if l.order.Len() > l.room {
			delete(l.at, l.order.Remove(l.order.Back()).(kvpool.BlockHash))
		}
	}
	return hit
}

// served is the index as its callers use it: a query, and the events of the replica that computed what was missing.
type served struct {
	x   *Indexer
	seq uint64
}

func (s *served) hit(chain []kvpool.BlockHash) bool {
	var out [index.MaxHosts]uint16
	s.x.Depths(chain, index.HostSet(0), &out)
	if int(out[0]) == len(chain) {
		return true
	}
	s.seq++
	op := index.Op{Kind: index.Store, Blocks: chain[out[0]:], RootKnown: out[0] == 0}
	if out[0] > 0 {
		op.HasParent, op.Parent = true, chain[out[0]-1]
	}
	s.x.Apply(index.Batch{Seq: s.seq, Ops: []index.Op{op}})
	return false
}

// A quarter of the memory is asked for again and again, half of all prompts come once, and one time the whole memory
// goes by. The index finds what a cache that forgets what was used longest ago would find.
func TestEvictionKeepsWhatIsAskedForAsWellAsLRUDoes(t *testing.T) {
	const blocks, system = 32, 8
	room := 4000 * blocks / 2
	x, _ := New(index.Config{MaxBytes: 1 << 30})
	x.Admit(0)
	rng := rand.New(rand.NewPCG(4, 4))
	var hasher kvpool.Hasher
	trunks := make([][]kvpool.BlockHash, 20)
	for i := range trunks {
		trunks[i] = indextest.Chain(system, string(rune('a'+i)))
	}
	draw := func() []kvpool.BlockHash {
		c := slices.Clone(trunks[rng.IntN(len(trunks))])
		for len(c) < blocks {
			c = append(c, hasher.Next(c[len(c)-1], []uint32{rng.Uint32()}))
		}
		return c
	}
	s := &served{x: x}
	s.hit(draw())
	widen(x, uint64(room)*16/(32*8*growAt)) // the table holds that many entries
	oracle := &lru{room: room, order: list.New(), at: map[kvpool.BlockHash]*list.Element{}}
	hot := make([][]kvpool.BlockHash, room/4/(blocks-system))
	for i := range hot {
		hot[i] = draw()
	}
	var asked, found, could int
	rounds := patiently(20_000)
	for i := range rounds {
		if i == rounds/2 {
			for range room / 2 / (blocks - system) { // and nothing else meanwhile
				c := draw()
				s.hit(c)
				oracle.hit(c)
			}
		}
		c := draw()
		s.hit(c)
		oracle.hit(c)
		c = hot[rng.IntN(len(hot))]
		mine, its := s.hit(c), oracle.hit(c)
		if i > rounds/5 {
			asked++
			found += count(mine)
			could += count(its)
		}
	}
	st := x.Stats()
	t.Logf("found %.3f, LRU %.3f of %d; %+v", float64(found)/float64(asked), float64(could)/float64(asked), asked, st)
	if st.Evicted == 0 && !lockedReads || float64(found) < 0.95*float64(could) {
		t.Fatalf("found %d of %d prompts, LRU found %d", found, asked, could)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// The beginning of a chain is evicted, the rest is not: it counts for no replica until the beginning is back. Removals
// of what was evicted change nothing. MOD2-15
func TestWhatFollowsAnEvictedBeginningGivesNoDepth(t *testing.T) {
	trunk := indextest.Chain(64, "")
	var hasher kvpool.Hasher
	twig := hasher.Chain(slices.Clone(trunk[:32]), trunk[31], slices.Repeat([]uint32{7}, 3*16), 16)
	x := indextest.Seeded(t, New, trunk, 64, 64)
	indextest.StoreRoot(t, x, 1, 2, twig) // makes the trunk two runs
	head, _ := x.tree.find(trunk[0])
	x.tree.beginOp()
	x.tree.evictRun(head)
	check := func(want ...uint16) {
		t.Helper()
		depths, _ := indextest.Ask(x, trunk, 2)
		if err := x.Check(); err != nil || !slices.Equal(depths, want) {
			t.Fatalf("depths %v, want %v; %v", depths, want, err)
		}
	}
	check(0, 0)
	if st := x.Stats(); st.Evicted != 32 || st.Entries != 32+3 {
		t.Fatalf("%+v", st)
	}
	indextest.Apply(t, x, 1, 3, index.Op{Kind: index.Remove, Blocks: trunk[16:48]})
	check(0, 0)
	indextest.StoreRoot(t, x, 0, 2, trunk[:32])
	check(64, 0)
	indextest.StoreRoot(t, x, 1, 4, trunk[:48])
	check(64, 64)
}

// A chain that is longer than all there is room for keeps its beginning.
func TestOneOpDoesNotEvictItself(t *testing.T) {
	x, entries := full(t)
	chain := indextest.Chain(4*entries, "long")
	indextest.StoreRoot(t, x, 1, 2, chain)
	depths, _ := indextest.Ask(x, chain, 2)
	if st := x.Stats(); depths[1] < uint16(entries/4) || st.Refused == 0 || int(depths[1]) != x.Host(1).Blocks {
		t.Fatalf("depth %d of %d for room for %d; %+v", depths[1], len(chain), entries, st)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// A limit that is too small for anything, or for much, refuses.
//
//nolint:lll // raw text that cannot be broken
func TestAnyLimitIsKept(t *testing.T) {
	for limit := int64(1); limit < 16<<20; limit += 1 + limit/3 {
		x, err := New(index.Config{MaxBytes: limit})
		if err != nil || x.Admit(0) != nil {
			t.Fatal(err)
		}
		empty := x.Stats().Bytes
		for i := range uint64(40) {
			op := index.Op{Kind: index.Store, Tier: index.Tier(i % 2), Blocks: indextest.Chain(500, string(rune(i))), RootKnown: true}
			indextest.Apply(t, x, 0, 3*i, op, index.Op{Kind: index.Remove, Tier: index.GPU, Blocks: op.Blocks[40:42]})
			indextest.Apply(t, x, 0, 3*i+1, index.Op{Kind: index.Store, Blocks: op.Blocks[300:]})
			indextest.Apply(t, x, 0, 3*i+2, index.Op{Kind: index.Remove, Blocks: op.Blocks[100:]})
			if st := x.Stats(); st.Bytes > max(limit, empty) {
				t.Fatalf("limit %d: %+v", limit, st)
			}
		}
		if err := x.Check(); err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
	}
}

// Two indexes that were told and asked the same forget the same.
func TestEvictionIsDeterministic(t *testing.T) {
	var sums [2]uint64
	for i := range sums {
		c := newCramped(t, 9, shortages[0].impose)
		for range 2000 {
			h := index.HostID(c.rng.IntN(crampedHosts))
			c.apply(h, c.op(), c.op())
			c.compare()
		}
		st := c.x.Stats()
		sums[i] = c.x.Digest() + st.Evicted*index.Golden
		if st.Evicted == 0 {
			t.Fatalf("%+v", st)
		}
	}
	if sums[0] != sums[1] {
		t.Fatal("not the same")
	}
}

// Neither a query nor an event allocates, even where it makes others go.
// MOD2-02
func TestEvictionAllocatesNothing(t *testing.T) {
	x, _ := full(t)
	var chains [400][]kvpool.BlockHash
	for i := range chains {
		chains[i] = indextest.Chain(24, string(rune(i)))
	}
	n, seq := 0, uint64(10_000)
	ops := make([]index.Op, 1)
	var out [index.MaxHosts]uint16
	among := x.Alive()
	before := x.Stats().Evicted
	if got := testing.AllocsPerRun(2000, func() {
		c := chains[n%len(chains)]
		n++
		for _, ops[0] = range []index.Op{{Blocks: c, RootKnown: true}, {Kind: index.Remove, Blocks: c[20:]},
			{Blocks: c[20:], Parent: c[19], HasParent: true}} {
			seq++
			x.Apply(index.Batch{Host: 1, Epoch: 2, Seq: seq, Ops: ops})
			x.Depths(c, among, &out)
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
	if x.Stats().Evicted == before {
		t.Error("nothing was evicted")
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

var _, _ prompts = (*lru)(nil), (*served)(nil)

// One hundred prompts go on from one beginning, each asked for once, and the beginning is changed now and then:
// whatever the hand takes, it takes the beginning last.
func TestBeginningsOutliveWhatFollowsThem(t *testing.T) {
	trunk := indextest.Chain(20, "")
	x := indextest.Seeded(t, New, trunk, 20, 3)
	var hasher kvpool.Hasher
	twigs := make([][]kvpool.BlockHash, 100)
	for i := range twigs {
		twigs[i] = hasher.Chain(slices.Clone(trunk), trunk[19], slices.Repeat([]uint32{uint32(i + 1)}, 16*5), 16)
		indextest.StoreRoot(t, x, 0, uint64(i+2), twigs[i])
	}
	for _, c := range twigs {
		indextest.Ask(x, c, 1)
	}
	indextest.Apply(t, x, 1, 2, index.Op{Kind: index.Store, Blocks: trunk[:7], RootKnown: true})
	x.tree.beginOp()
	for left := x.Stats().Runs; left > 0; left-- {
		head, _ := x.tree.find(trunk[0])
		if head == 0 {
			t.Fatalf("the beginning went before %d of what follows it", left)
		}
		if !x.tree.victim(index.HostBitmap{}) {
			x.tree.beginOp()
			x.tree.victim(index.HostBitmap{})
		}
		x.tree.evictRun(x.tree.hand)
	}
}

// Prompts are long for a while, then short, then long again: memory goes from arrays to headers, where it stays, but
// enough is left. A query meanwhile is never told too much.
//
//nolint:lll // raw text that cannot be broken
func TestMemoryFollowsTheLengthOfRuns(t *testing.T) {
	if !forgets {
		t.Skip("memory cannot be given back here")
	}
	x, _ := New(index.Config{MaxBytes: 24 << 20})
	indextest.Seed(t, x, nil, 0, 0, 0)
	seq := uint64(1)
	g := &grown{x: x}
	var chain []kvpool.BlockHash
	known := indextest.Chain(64, "")
	var readers sync.WaitGroup
	ended := make(chan struct{})
	found := 0
	readers.Go(func() {
		var out [index.MaxHosts]uint16
		for ; ; found += int(out[2]) {
			select {
			case <-ended:
				return
			default:
			}
			if x.Depths(known, index.HostSet(0, 1, 2), &out); out[0] != 0 || out[1] > 32 || out[2] > 64 {
				t.Errorf("depths %v", out[:3])
				return
			}
		}
	})
	fill := func(length, n int) (entries int) {
		g.length = length
		for range n {
			seq++
			chain = g.chain(g.head(int(seq)), chain[:0])
			x.Apply(index.Batch{Seq: seq, Ops: []index.Op{{Kind: index.Store, Blocks: chain, RootKnown: true}}})
			if seq%64 == 0 {
				x.Apply(index.Batch{Host: 1, Epoch: 1, Seq: seq,
					Ops: []index.Op{{Kind: index.Store, Blocks: known[:32], RootKnown: true}}})
				x.Apply(index.Batch{Host: 2, Epoch: 1, Seq: seq, Ops: []index.Op{{Kind: index.Store, Blocks: known, RootKnown: true}}})
			}
			if used := x.Stats().Bytes; used > 24<<20 {
				t.Errorf("%d bytes", used)
			}
		}
		if err := x.Check(); err != nil {
			t.Error(err)
		}
		return x.Stats().Entries
	}
	long := fill(400, 3000)
	short := fill(8, 80_000)
	again := fill(400, 3000)
	close(ended)
	readers.Wait()
	if found == 0 {
		t.Error("the reader found nothing")
	}
	if short < 250_000 || again < long/6 {
		t.Fatalf("%d blocks in long runs, then %d in short ones, then %d in long ones; %+v", long, short, again,
			x.Stats())
	}
	t.Logf("%d blocks in long runs, then %d in short ones, then %d in long ones; %+v", long, short, again, x.Stats())
}
