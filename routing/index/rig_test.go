package index_test

import (
	"context"
	"math/bits"
	"slices"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
	"octet/routing/index/reference"
	"pgregory.net/rapid"
)

// rig drives the index and the model side by side.
type rig struct {
	t    rapid.TB
	roll dice
	x    subject
	m    model
	u    tree
	seq  [modelHosts]uint64
	past []index.Batch
}

func newRig(t rapid.TB, roll dice, build indextest.Make) *rig {
	x, err := build(index.Config{Hosts: modelHosts})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, roll: roll, x: x, u: growTree(roll)}
	for h := range index.HostID(modelHosts - 1) {
		r.admit(h)
	}
	return r
}

func (r *rig) host() index.HostID { return index.HostID(r.roll(modelHosts)) }

func (r *rig) admit(h index.HostID) {
	if err := r.x.Admit(h); (err == nil) != r.m.admit(h) {
		r.t.Fatalf("Admit(%d): %v", h, err)
	}
}

func (r *rig) batch(h index.HostID) index.Batch {
	b := index.Batch{Host: h, Epoch: r.m.hosts[h].epoch, Seq: r.seq[h] + 1}
	switch r.roll(40) {
	case 1:
		b.Seq += uint64(1 + r.roll(3))
	case 2:
		b.Epoch, b.Seq = b.Epoch+1, uint64(r.roll(3))
	case 3:
		b.Epoch -= min(b.Epoch, 1)
	}
	for range 1 + r.roll(3) {
		b.Ops = append(b.Ops, r.u.op(r.roll))
	}
	return b
}

func (r *rig) deliver(b index.Batch) {
	want := r.m.apply(b)
	if got := r.x.Apply(b); got != want {
		r.t.Fatalf("%+v: %s, want %s", b, got, want)
	}
	if want == index.Applied || want == index.Gap {
		r.seq[b.Host] = b.Seq
		r.past = append(r.past, b)
	}
}

func (r *rig) step() {
	h := r.host()
	switch r.roll(40) {
	case 1:
		if got, want := r.x.Retire(h), r.m.retire(h); got != want {
			r.t.Fatalf("Retire(%d): %v", h, got)
		}
	case 2, 3:
		r.sweep(h)
	case 4, 5, 6:
		r.admit(h)
	case 7:
		if len(r.past) > 0 {
			r.deliver(r.past[r.roll(len(r.past))])
		}
	case 8:
		r.resync(h)
	default:
		r.deliver(r.batch(h))
	}
}

func (r *rig) sweep(h index.HostID) {
	err := r.x.Sweep(context.Background(), h)
	if (err != nil) != r.m.hosts[h].alive {
		r.t.Fatalf("Sweep(%d): %v", h, err)
	}
	if err == nil {
		r.m.hosts[h] = modelHost{}
		r.seq[h] = 0
	}
}

// resync gives h a snapshot of what another replica holds, with nothing claimed.
func (r *rig) resync(h index.HostID) {
	s := &r.m.hosts[h]
	from := r.m.hosts[r.host()].held
	var snapshot []index.TierBlocks
	held := map[place]bool{}
	for _, b := range r.u.blocks {
		for tier := range index.Tier(index.Tiers) {
			if from[place{b, tier}] {
				snapshot = append(snapshot, index.TierBlocks{Tier: tier, Blocks: []kvpool.BlockHash{b}})
				held[place{b, tier}] = true
			}
		}
	}
	if out := r.x.Resync(h, s.epoch, r.seq[h], snapshot); (out == index.Applied) != s.alive {
		r.t.Fatalf("Resync(%d): %s", h, out)
	}
	if s.alive {
		s.held, s.stale, s.seqs = held, false, map[uint64]bool{r.seq[h]: true}
	}
}

// compare checks everything that can be seen from outside.
func (r *rig) compare() {
	if err := r.x.Check(); err != nil {
		r.t.Fatal(err)
	}
	r.compareState()
	for i := range r.u.blocks {
		r.compareDepths(r.u.path(i))
	}
	r.compareDepths(append(r.u.path(len(r.u.blocks)-1), 1, 2, 3))
	r.compareDepths(append([]kvpool.BlockHash{4}, r.u.path(0)...))
}

func (r *rig) compareState() {
	var digest uint64
	entries, each := r.m.living()
	for h := range index.HostID(modelHosts) {
		s, got := &r.m.hosts[h], r.x.Host(h)
		if got.Alive != s.alive || s.alive && (got.Stale != s.stale || got.Blocks != each[h]) {
			r.t.Fatalf("host %d: %+v, want %+v", h, got, s)
		}
		if r.x.Alive().Has(h) != s.alive || r.x.Stale().Has(h) != (s.stale && s.alive) ||
			r.x.Unswept().Has(h) != s.unswept || r.x.Reusable(h) != (!s.alive && !s.unswept) {
			r.t.Fatalf("host %d: marks differ from %+v", h, s)
		}
		for p := range s.held {
			if s.alive {
				digest += index.FactDigest(index.Salt(h), p.block, p.tier)
			}
		}
	}
	if got := r.x.Digest(); got != digest {
		r.t.Fatalf("digest %x, want %x", got, digest)
	}
	if got := r.x.Stats().Entries; got < entries || got > entries && r.x.Unswept().Empty() {
		r.t.Fatalf("%d entries for %d blocks that living replicas hold", got, entries)
	}
}

// compareDepths asks for all replicas and checks the answer and its price.
func (r *rig) compareDepths(chain []kvpool.BlockHash) {
	before := r.x.Stats().Lookups
	var out [index.MaxHosts]uint16
	for i := range out {
		out[i] = 999
	}
	r.x.Depths(chain, index.HostBitmap{1<<modelHosts - 1}, &out)
	distinct, clean := map[uint16]bool{}, true
	for h := range index.HostID(modelHosts) {
		if want := r.m.depth(h, chain); out[h] != want {
			r.t.Fatalf("host %d holds %d leading blocks of %x, want %d", h, out[h], chain, want)
		}
		if r.m.hosts[h].alive {
			distinct[out[h]] = true
			clean = clean && r.x.Host(h).Detached == 0
		}
	}
	if slices.ContainsFunc(out[modelHosts:], func(d uint16) bool { return d != 0 }) {
		r.t.Fatalf("a depth outside among is not 0")
	}
	price := int(r.x.Stats().Lookups - before)
	_, reference := r.x.(*reference.ShardedBlockIndexer)
	if price > len(chain) || reference && clean && price > len(distinct)*(bits.Len(uint(len(chain)-1))+1) {
		r.t.Fatalf("%d lookups for %d blocks and %d depths", price, len(chain), len(distinct))
	}
	r.compareTiers(chain)
}
