package runs

import (
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
)

var bigIndex = flag.Bool("index.100m", false, "also grow an index to 100 M blocks (about 3 GB)")

// grown is an index that holds blocks in runs of length blocks, each on one of 64 replicas; the hash of what begins
// each is a function of its number, so that asking reads no memory but the index's.
type grown struct {
	x      *Indexer
	runs   int
	first  uint64 // added to the number
	length int
}

func (g *grown) head(run int) uint64 { return (uint64(run) + g.first) * index.Golden }

// chain writes the chain that begins with head: hashes that a counter makes, which look like any.
func (g *grown) chain(head uint64, dst []kvpool.BlockHash) []kvpool.BlockHash {
	for i := range uint64(g.length) {
		dst = append(dst, kvpool.BlockHash(index.FactDigest(head, kvpool.BlockHash(i), 0)))
	}
	return dst
}

//nolint:lll // raw text that cannot be broken
func grow(n, length int) *grown {
	g := &grown{length: length}
	g.x, _ = New(index.Config{MaxBytes: 1 << 40})
	for h := range index.HostID(64) {
		g.x.Admit(h)
	}
	chain := make([]kvpool.BlockHash, 0, length)
	for i := range n / length {
		h := index.HostID(i % 64)
		g.runs++
		chain = g.chain(g.head(i), chain[:0])
		g.x.Apply(index.Batch{Host: h, Seq: uint64(i/64 + 1), Ops: []index.Op{{Kind: index.Store, Blocks: chain, RootKnown: true}}})
	}
	return g
}

// BenchmarkIndexGrowth asks indexes of growing size for prompts of 16 and of 512 blocks, each one run, and reports what
// a block takes. Any prompt that is held may be asked for (any), or one of as many as the smallest index has (few),
// whose lines then are in the processor's caches whatever the size. The floor is the time of two loads that wait for
// each other, far apart in as much memory.
func BenchmarkIndexGrowth(b *testing.B) {
	sizes := []int{1e6, 1e7}
	if *bigIndex {
		sizes = append(sizes, 1e8)
	}
	for _, length := range []int{16, 512} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("runs=%d/blocks=%dM", length, n/1e6), func(b *testing.B) {
				runtime.GC()
				g := grow(n, length)
				b.Run("few", func(b *testing.B) { g.ask(b, sizes[0]/length) })
				b.Run("any", func(b *testing.B) {
					g.ask(b, g.runs)
					b.ReportMetric(float64(g.x.Stats().Bytes)/float64(n), "B/block")
				})
				floor := newFloor(int(g.x.Stats().Bytes))
				b.Run("floor", floor.chase)
				floor.pages.unmap()
			})
		}
	}
}

// ask asks for one after the other of the first runs, in no order. The prompt's hashes are in the cache, as of one that
// was just hashed.
func (g *grown) ask(b *testing.B, runs int) {
	var out [index.MaxHosts]uint16
	rng := rand.New(rand.NewPCG(3, 3))
	chain := make([]kvpool.BlockHash, g.length)
	among := g.x.Alive()
	b.ResetTimer()
	began := cpuTime()
	for b.Loop() {
		head := g.head(rng.IntN(runs))
		chain[0] = kvpool.BlockHash(index.FactDigest(head, 0, 0))
		// all that is read where a whole run matches
		chain[g.length-1] = kvpool.BlockHash(index.FactDigest(head, kvpool.BlockHash(g.length-1), 0))
		g.x.Depths(chain, among, &out)
	}
	reportCPU(b, began)
	if int(slices.Max(out[:])) != g.length {
		b.Fatalf("depths %v of %d", out[:64], g.length)
	}
}

// floor is memory as large as an index, of huge pages where there are any, whose every line names another far away.
type floor struct {
	pages pages
	lines int
}

func newFloor(bytes int) floor {
	f := floor{lines: bytes / 64}
	f.pages, _ = mapPages(f.lines * 64)
	for i := range f.lines {
		*f.at(i) = uint64(i) * index.Golden
	}
	return f
}

func (f floor) at(i int) *uint64 { return (*uint64)(unsafe.Add(f.pages.base, i*64)) }

// chase does two loads a round, each of which tells where the next one is.
func (f floor) chase(b *testing.B) {
	began, at, n := cpuTime(), uint64(1), uint64(0)
	next := func() {
		n++
		line, _ := bits.Mul64(index.FactDigest(n, kvpool.BlockHash(at), 0), uint64(f.lines))
		at = *f.at(int(line))
	}
	for b.Loop() {
		next()
		next()
	}
	reportCPU(b, began)
	runtime.KeepAlive(at)
}

// BenchmarkIndexLength asks for prompts of 32 and of 1,024 blocks of one and the same index.
func BenchmarkIndexLength(b *testing.B) {
	g := grow(1<<20, 1024)
	short := &grown{x: g.x, runs: 1 << 15, first: 1 << 40, length: 32}
	chain := make([]kvpool.BlockHash, 0, 32)
	for i := range short.runs {
		chain = short.chain(short.head(i), chain[:0])
		g.x.Apply(index.Batch{Host: index.HostID(i % 64), Seq: uint64(1<<31 + i),
			Ops: []index.Op{{Kind: index.Store, Blocks: chain, RootKnown: true}}})
	}
	b.Run("32", func(b *testing.B) { short.ask(b, g.runs) })
	b.Run("1024", func(b *testing.B) { g.ask(b, g.runs) })
}

// BenchmarkIndexMixed is W3: queries while one goroutine applies events at full speed, and the same without.
// MOD2-04, MOD2-05
func BenchmarkIndexMixed(b *testing.B) {
	for _, k := range []int{1, 0} {
		name := "W3"
		if k == 1 {
			name = "reference/W3"
		}
		l := load(workloads[0].drawn(), kinds[k].build)
		b.Run(name+"/quiet", func(b *testing.B) { askAtRandom(b, l) })
		b.Run(name, func(b *testing.B) {
			var stop atomic.Bool
			var blocks atomic.Int64
			done := make(chan struct{})
			began := make(chan struct{})
			go func() {
				defer close(done)
				close(began)
				for !stop.Load() {
					blocks.Add(int64(l.evictAndRestore(1000)))
				}
			}()
			<-began
			from := threadTime()
			var out [index.MaxHosts]uint16
			rng := rand.New(rand.NewPCG(2, 2))
			among := l.x.Alive()
			for b.Loop() {
				l.x.Depths(l.prompts[rng.IntN(len(l.prompts))].chain, among, &out)
			}
			b.ReportMetric(float64(threadTime()-from)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(blocks.Load())/b.Elapsed().Seconds()/1e6, "Mblocks/s")
			stop.Store(true)
			<-done
		})
	}
}

// evictAndRestore takes prompts' own blocks off one of their replicas and gives them back, n prompts, and returns how
// many blocks that moved.
func (l *loaded) evictAndRestore(n int) (blocks int) {
	ops := make([]index.Op, 1)
	var gone []kvpool.BlockHash
	for i := range min(n, len(l.prompts)) {
		p := &l.prompts[i]
		gone = gone[:0]
		for j := len(p.chain) - 1; j >= p.own; j-- {
			gone = append(gone, p.chain[j])
		}
		ops[0] = index.Op{Kind: index.Remove, Blocks: gone}
		l.apply(p.on[0], ops)
		ops[0] = index.Op{Kind: index.Store, Blocks: p.chain[p.own:], Parent: p.chain[p.own-1], HasParent: true}
		l.apply(p.on[0], ops)
		blocks += 2 * len(gone)
	}
	return blocks
}
