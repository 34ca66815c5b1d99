package runs

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
)

// steady are the replicas of the concurrent test that no batch touches while it runs; the others change all the time.
const steady = 12

// Guarantee 4: the depth of a replica that no change touches during a query is exact, whatever happens to the runs it
// shares with others: of a million queries, with holes and while everything else changes, none is wrong. Under the race
// detector, which makes everything slow, fewer are asked; OCTET_LONG says how many. MOD2-04, MOD2-05, MOD2-48
func TestDepthsOfUntouchedReplicasAreExactUnderChurn(t *testing.T) {
	queries := 1_000_000
	if lockedReads {
		queries = 4000
	}
	if n, err := strconv.Atoi(os.Getenv("OCTET_LONG")); err == nil {
		queries = n
	}
	f := newFleet(t, 5, 40, 40, 200)
	for range 600 {
		f.step()
	}
	fixed := facts{}
	for b, m := range f.facts {
		held := *m
		fixed[b] = &held
	}
	var asked, looks atomic.Int64
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 2 {
		writers.Go(func() { churnOthers(f, w, stop) })
	}
	for r := range 3 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(r), 3))
			var out [index.MaxHosts]uint16
			for asked.Add(1) <= int64(queries) {
				c := f.chains[rng.IntN(len(f.chains))]
				c = c[:1+rng.IntN(len(c))]
				f.x.Depths(c, f.x.Alive(), &out)
				for h := range index.HostID(steady) {
					if want := fixed.depth(h, c); int(out[h]) != want {
						t.Errorf("host %d holds %d of %d, want %d", h, out[h], len(c), want)
						asked.Store(int64(queries))
						return
					}
				}
				looks.Add(1)
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	if err := f.x.Check(); err != nil {
		t.Fatal(err)
	}
}

// churnOthers changes its half of the replicas that are not steady until stop: batches, new epochs, deaths, sweeps, and
// new prompts, which make tables and slabs grow.
func churnOthers(f *fleet, writer int, stop chan struct{}) {
	g := &fleet{t: f.t, rng: rand.New(rand.NewPCG(uint64(writer), 4)), x: f.x, facts: facts{}, chains: f.chains,
		hosts: f.hosts}
	g.epoch, g.seq = f.epoch, f.seq
	var hasher kvpool.Hasher
	for n := uint64(0); ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		h := index.HostID(steady + writer + 2*g.rng.IntN((f.hosts-steady)/2))
		switch g.rng.IntN(300) {
		case 0:
			g.epoch[h], g.seq[h] = g.epoch[h]+1, 0
		case 1:
			g.x.Retire(h)
			err := g.x.Sweep(f.t.Context(), h)
			if left := g.x.Host(h).Blocks; err != nil || left != 0 || g.x.Admit(h) != nil {
				f.t.Errorf("%v, %d blocks left after a sweep", err, left)
				return
			}
			g.epoch[h], g.seq[h] = 0, 0
		}
		b := index.Batch{Host: h, Epoch: g.epoch[h], Seq: g.seq[h] + 1, Ops: []index.Op{g.op(h), g.op(h)}}
		if n%8 == 0 && n < 40_000 {
			c := f.chains[g.rng.IntN(len(f.chains))]
			at := g.rng.IntN(len(c))
			op := index.Op{Parent: c[at], HasParent: true}
			for last := c[at]; len(op.Blocks) < 40; op.Blocks = append(op.Blocks, last) {
				last = hasher.Next(last, []uint32{uint32(n), uint32(writer)})
			}
			b.Ops = append(b.Ops, op)
		}
		g.seq[h]++
		if out := g.x.Apply(b); out != index.Applied {
			f.t.Errorf("%s", out)
			return
		}
	}
}
