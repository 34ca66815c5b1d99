package runs

import (
	"math/rand/v2"
	"sync"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// workload is a fleet's cache as traffic leaves it: prompts that share system prompts, each prompt on four replicas out
// of the few that serve its system prompt.
type workload struct {
	hosts   int
	prompts []prompt
}

type prompt struct {
	chain []kvpool.BlockHash
	on    [4]index.HostID
	own   int // blocks of chain before this are the system prompt's
}

const systemPrompts = 50

func newWorkload(hosts, prompts, blocks, group int) workload {
	rng := rand.New(rand.NewPCG(1, uint64(hosts)))
	w := workload{hosts: hosts, prompts: make([]prompt, prompts)}
	var h kvpool.Hasher
	chain := func(prefix []kvpool.BlockHash, to int) []kvpool.BlockHash {
		c := append(make([]kvpool.BlockHash, 0, to), prefix...)
		last := kvpool.BlockHash(0)
		if len(c) > 0 {
			last = c[len(c)-1]
		}
		for len(c) < to {
			last = h.Next(last, []uint32{rng.Uint32()})
			c = append(c, last)
		}
		return c
	}
	var systems [systemPrompts][]kvpool.BlockHash
	var groups [systemPrompts][]int
	for i := range systems {
		systems[i], groups[i] = chain(nil, blocks/2), rng.Perm(hosts)[:group]
	}
	for i := range w.prompts {
		p, s := &w.prompts[i], i%systemPrompts
		p.chain, p.own = chain(systems[s], blocks), blocks/2
		for j, k := range rng.Perm(group)[:len(p.on)] {
			p.on[j] = index.HostID(groups[s][k])
		}
	}
	return w
}

// The workloads: 64 replicas, chains of 32, 0.16 M blocks; 256 replicas, chains of 1,024, 0.54 M blocks.
var workloads = []struct {
	name  string
	drawn func() workload
}{
	{"W1", sync.OnceValue(func() workload { return newWorkload(64, 10_000, 32, 24) })},
	{"W2", sync.OnceValue(func() workload { return newWorkload(256, 1_000, 1024, 24) })},
}

// loaded is an index that holds a workload.
type loaded struct {
	workload
	x   subject
	seq [index.MaxHosts]uint64
}

func load(w workload, build indextest.Make) *loaded {
	l := &loaded{workload: w}
	l.x, _ = build(index.Config{})
	for h := range w.hosts {
		l.x.Admit(index.HostID(h))
	}
	for i := range w.prompts {
		for _, h := range w.prompts[i].on {
			l.apply(h, []index.Op{{Kind: index.Store, Blocks: w.prompts[i].chain, RootKnown: true}})
		}
	}
	return l
}

func (l *loaded) apply(h index.HostID, ops []index.Op) index.Outcome {
	l.seq[h]++
	return l.x.Apply(index.Batch{Host: h, Seq: l.seq[h], Ops: ops})
}

// punch removes share of all residencies, one by one, which leaves holes.
func (l *loaded) punch(share float64) {
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range l.prompts {
		for _, h := range l.prompts[i].on {
			var gone []kvpool.BlockHash
			for _, b := range l.prompts[i].chain {
				if rng.Float64() < share {
					gone = append(gone, b)
				}
			}
			l.apply(h, []index.Op{{Kind: index.Remove, Blocks: gone}})
		}
	}
}

// eachIndex runs bench on the reference and on the index that serves.
func eachIndex(b *testing.B, bench func(*testing.B, *loaded)) {
	for _, k := range []int{1, 0} {
		for _, w := range workloads {
			name, l := w.name, (*loaded)(nil)
			if k == 1 {
				name = "reference/" + name
			}
			b.Run(name, func(b *testing.B) {
				if l == nil {
					l = load(w.drawn(), kinds[k].build)
				}
				b.ReportAllocs()
				b.ResetTimer()
				bench(b, l)
			})
		}
	}
}

// MOD2-02, MOD2-03
func BenchmarkIndexDepths(b *testing.B) { eachIndex(b, askAtRandom) }

// askAtRandom asks for one prompt after the other, in no order.
func askAtRandom(b *testing.B, l *loaded) {
	var out [index.MaxHosts]uint16
	rng := rand.New(rand.NewPCG(2, 2))
	among, before := l.x.Alive(), l.x.Stats().Lookups
	began := cpuTime()
	for b.Loop() {
		l.x.Depths(l.prompts[rng.IntN(len(l.prompts))].chain, among, &out)
	}
	reportCPU(b, began)
	b.ReportMetric(float64(l.x.Stats().Lookups-before)/float64(b.N), "lookups/op")
}

// BenchmarkIndexHoles asks the index that serves after 2 % of all residencies were removed one by one.
func BenchmarkIndexHoles(b *testing.B) {
	for _, w := range workloads {
		l := load(w.drawn(), kinds[0].build)
		b.Run(w.name+"/none", func(b *testing.B) { askAtRandom(b, l) })
		l.punch(0.02)
		b.Run(w.name+"/2%", func(b *testing.B) { askAtRandom(b, l) })
	}
}

// BenchmarkIndexApply evicts a prompt's own blocks from one of its replicas, tail first, and later stores them again:
// two batches.
func BenchmarkIndexApply(b *testing.B) {
	eachIndex(b, func(b *testing.B, l *loaded) {
		const lag = 500 // evicted prompts at any time
		gone := make([]kvpool.BlockHash, 0, 1024)
		ops := make([]index.Op, 1)
		evict := func(p *prompt) {
			gone = gone[:0]
			for i := len(p.chain) - 1; i >= p.own; i-- {
				gone = append(gone, p.chain[i])
			}
			ops[0] = index.Op{Kind: index.Remove, Blocks: gone}
			l.apply(p.on[0], ops)
		}
		restore := func(p *prompt) {
			ops[0] = index.Op{Kind: index.Store, Blocks: p.chain[p.own:], Parent: p.chain[p.own-1], HasParent: true}
			l.apply(p.on[0], ops)
		}
		n, blocks, began := 0, 0, cpuTime()
		for b.Loop() {
			evict(&l.prompts[n%len(l.prompts)])
			if n >= lag {
				restore(&l.prompts[(n-lag)%len(l.prompts)])
			}
			n++
			blocks += 2 * len(gone)
		}
		b.ReportMetric(float64(blocks)*1e3/float64(cpuTime()-began), "Mblocks/cpu-s")
		for i := max(0, n-lag); i < n; i++ {
			restore(&l.prompts[i%len(l.prompts)])
		}
	})
}
