package index

import (
	"context"
	"math/bits"
	"slices"
	"testing"

	"octet/kvpool"
	"pgregory.net/rapid"
)

// rig drives the index and the model side by side.
type rig struct {
	x    *ShardedBlockIndexer
	m    model
	u    tree
	seq  [modelHosts]uint64
	past []Batch
}

func newRig(t *rapid.T) *rig {
	x, err := New(Config{Hosts: modelHosts})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{x: x, u: drawTree(t)}
	for h := range HostID(modelHosts - 1) {
		r.admit(t, h)
	}
	return r
}

func (r *rig) admit(t *rapid.T, h HostID) {
	if err := r.x.Admit(h); (err == nil) != r.m.admit(h) {
		t.Fatalf("Admit(%d): %v", h, err)
	}
}

func (r *rig) batch(t *rapid.T, h HostID) Batch {
	b := Batch{Host: h, Epoch: r.m.hosts[h].epoch, Seq: r.seq[h] + 1}
	switch rapid.IntRange(0, 19).Draw(t, "order") {
	case 0:
		b.Seq += uint64(rapid.IntRange(1, 3).Draw(t, "lost"))
	case 1:
		b.Epoch, b.Seq = b.Epoch+1, uint64(rapid.IntRange(0, 2).Draw(t, "first"))
	case 2:
		b.Epoch -= min(b.Epoch, 1)
	}
	for range rapid.IntRange(1, 3).Draw(t, "ops") {
		b.Ops = append(b.Ops, r.u.drawOp(t))
	}
	return b
}

func (r *rig) deliver(t *rapid.T, b Batch) {
	want := r.m.apply(b)
	if got := r.x.Apply(b); got != want {
		t.Fatalf("%+v: %s, want %s", b, got, want)
	}
	if want == Applied || want == Gap {
		r.seq[b.Host] = b.Seq
		r.past = append(r.past, b)
	}
}

func (r *rig) step(t *rapid.T) {
	h := HostID(rapid.IntRange(0, modelHosts-1).Draw(t, "host"))
	switch rapid.IntRange(0, 29).Draw(t, "step") {
	case 0:
		if got, want := r.x.Retire(h), r.m.retire(h); got != want {
			t.Fatalf("Retire(%d): %v", h, got)
		}
	case 1, 2:
		r.sweep(t, h)
	case 3, 4, 5:
		r.admit(t, h)
	case 6:
		if len(r.past) > 0 {
			r.deliver(t, r.past[rapid.IntRange(0, len(r.past)-1).Draw(t, "again")])
		}
	case 7:
		r.resync(t, h)
	default:
		r.deliver(t, r.batch(t, h))
	}
}

func (r *rig) sweep(t *rapid.T, h HostID) {
	err := r.x.Sweep(context.Background(), h)
	if (err != nil) != r.m.hosts[h].alive {
		t.Fatalf("Sweep(%d): %v", h, err)
	}
	if err == nil {
		r.m.hosts[h] = modelHost{}
		r.seq[h] = 0
	}
}

// resync gives h a snapshot of what another replica holds, in no order.
func (r *rig) resync(t *rapid.T, h HostID) {
	s := &r.m.hosts[h]
	from := r.m.hosts[rapid.IntRange(0, modelHosts-1).Draw(t, "from")].held
	var snapshot []TierBlocks
	held := map[place]bool{}
	for _, b := range r.u.blocks {
		for tier := range Tier(Tiers) {
			if from[place{b, tier}] {
				snapshot = append(snapshot, TierBlocks{Tier: tier, Blocks: []kvpool.BlockHash{b}})
				held[place{b, tier}] = true
			}
		}
	}
	if out := r.x.Resync(h, s.epoch, r.seq[h], snapshot); (out == Applied) != s.alive {
		t.Fatalf("Resync(%d): %s", h, out)
	}
	if s.alive {
		s.held, s.stale, s.seqs = held, false, map[uint64]bool{r.seq[h]: true}
	}
}

// compare checks everything that can be seen from outside.
func (r *rig) compare(t *rapid.T) {
	if err := r.x.Check(); err != nil {
		t.Fatal(err)
	}
	r.compareState(t)
	for i := range r.u.blocks {
		r.compareDepths(t, r.u.path(i))
	}
	r.compareDepths(t, append(r.u.path(len(r.u.blocks)-1), 1, 2, 3))
	r.compareDepths(t, append([]kvpool.BlockHash{4}, r.u.path(0)...))
}

func (r *rig) compareState(t *rapid.T) {
	var digest uint64
	_, each := r.m.living()
	for h := range HostID(modelHosts) {
		s, got := &r.m.hosts[h], r.x.Host(h)
		if got.Alive != s.alive || got.Stale != s.stale && s.alive || got.Blocks != each[h] {
			t.Fatalf("host %d: %+v, want %+v", h, got, s)
		}
		if r.x.Alive().Has(h) != s.alive || r.x.Stale().Has(h) != (s.stale && s.alive) || r.x.Reusable(h) != (!s.alive && !s.unswept) {
			t.Fatalf("host %d: marks differ from %+v", h, s)
		}
		for p := range s.held {
			if s.alive {
				digest += factDigest(r.x.hosts[h].salt, p.block, p.tier)
			}
		}
	}
	if got := r.x.Digest(); got != digest {
		t.Fatalf("digest %x, want %x", got, digest)
	}
}

// compareDepths asks for all replicas and checks the answer and its price.
func (r *rig) compareDepths(t *rapid.T, chain []kvpool.BlockHash) {
	before := r.x.Stats().Lookups
	var out [MaxHosts]uint16
	for i := range out {
		out[i] = 999
	}
	among := HostBitmap{1<<modelHosts - 1}
	r.x.Depths(chain, among, &out)
	distinct, clean := map[uint16]bool{}, true
	for h := range HostID(modelHosts) {
		if want := r.m.depth(h, chain); out[h] != want {
			t.Fatalf("host %d holds %d leading blocks of %x, want %d", h, out[h], chain, want)
		}
		if r.m.hosts[h].alive {
			distinct[out[h]] = true
			clean = clean && r.x.Host(h).Detached == 0
		}
	}
	if slices.ContainsFunc(out[modelHosts:], func(d uint16) bool { return d != 999 }) {
		t.Fatal("a depth outside among was written")
	}
	price := int(r.x.Stats().Lookups - before)
	if price > len(chain) || clean && price > len(distinct)*(bits.Len(uint(len(chain)-1))+1) {
		t.Fatalf("%d lookups for %d blocks and %d depths", price, len(chain), len(distinct))
	}
}

func indexEqualsModel(t *rapid.T) {
	r := newRig(t)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		r.step(t)
		r.compare(t)
	}
}

// MOD2-06, MOD2-07, MOD2-10, MOD2-14, MOD2-15, MOD2-16, MOD2-38, MOD2-44, MOD2-51
func TestIndexEqualsModelUnderDisorder(t *testing.T) { rapid.Check(t, indexEqualsModel) }

func FuzzIndexEqualsModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(indexEqualsModel)) }

// MOD2-17
func TestReplayOfAnyPartLeavesTheSameState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		for range rapid.IntRange(1, 30).Draw(t, "batches") {
			r.deliver(t, r.batch(t, HostID(rapid.IntRange(0, modelHosts-2).Draw(t, "host"))))
		}
		digest, stats := r.x.Digest(), r.x.Stats()
		var hosts [modelHosts]HostState
		for h := range hosts {
			hosts[h] = r.x.Host(HostID(h))
		}
		from := rapid.IntRange(0, len(r.past)).Draw(t, "from")
		to := rapid.IntRange(from, len(r.past)).Draw(t, "to")
		for _, b := range r.past[from:to] {
			if out := r.x.Apply(b); out != Duplicate && out != OldEpoch && out != Dead {
				t.Fatalf("%+v again: %s", b, out)
			}
		}
		if r.x.Digest() != digest || r.x.Stats() != stats {
			t.Fatalf("replay of %d to %d changed %+v to %+v", from, to, stats, r.x.Stats())
		}
		for h := range hosts {
			if got := r.x.Host(HostID(h)); got != hosts[h] {
				t.Fatalf("replay changed host %d from %+v to %+v", h, hosts[h], got)
			}
		}
		r.compare(t)
	})
}
