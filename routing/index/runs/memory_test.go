package runs

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// What comes takes the room of what was there, and of what is recorded, nothing is said that is not so. Room that was
// given back is used again.
//
//nolint:lll // raw text that cannot be broken
func TestMemoryCapIsKeptAndAnswersNeverSayTooMuch(t *testing.T) {
	const limit = 9 << 20
	f := newFleet(t, 3, 30, 3000, 300)
	f.x, _ = New(index.Config{MaxBytes: limit})
	for h := range index.HostID(30) {
		f.x.Admit(h)
	}
	var out [index.MaxHosts]uint16
	for round := range patiently(20_000) {
		h := index.HostID(f.rng.IntN(f.hosts))
		f.seq[h]++
		if out := f.x.Apply(index.Batch{Host: h, Seq: f.seq[h], Ops: []index.Op{f.op(h), f.op(h)}}); out != index.Applied {
			t.Fatal(out)
		}
		if got := f.x.Stats().Bytes; got > limit {
			t.Fatalf("round %d: %d bytes, %d allowed", round, got, limit)
		}
		c := f.chains[f.rng.IntN(len(f.chains))]
		f.x.Depths(c, f.x.Alive(), &out)
		for h := range index.HostID(f.hosts) {
			if truth := f.facts.depth(h, c); int(out[h]) > truth {
				t.Fatalf("round %d: host %d holds %d, want at most %d", round, h, out[h], truth)
			}
		}
		if round%4000 == 0 {
			if err := f.x.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	full := f.x.Stats()
	if full.Evicted == 0 && !lockedReads || full.Refused > full.Evicted/100 {
		t.Fatalf("nothing was evicted, or much was refused: %+v", full)
	}
	for h := range index.HostID(30) {
		f.seq[h]++
		f.x.Apply(index.Batch{Host: h, Seq: f.seq[h], Ops: []index.Op{{Kind: index.Clear}}})
	}
	if st := f.x.Stats(); st.Entries != 0 || st.Blocks != 0 || st.Runs != 0 {
		t.Fatalf("after all was cleared: %+v", st)
	}
	for _, c := range f.chains[:200] {
		f.seq[0]++
		f.x.Apply(index.Batch{Seq: f.seq[0], Ops: []index.Op{{Kind: index.Store, Blocks: c, RootKnown: true}}})
	}
	if st := f.x.Stats(); st.Refused != full.Refused || st.Evicted != full.Evicted || st.Bytes > limit {
		t.Fatalf("an index that was emptied evicted %d and refused %d more", st.Evicted-full.Evicted,
			st.Refused-full.Refused)
	}
	if err := f.x.Check(); err != nil {
		t.Fatal(err)
	}
}

// Other tiers' maps count too.
func TestMemoryCapCoversTierMaps(t *testing.T) {
	const limit = 16 << 20
	x, _ := New(index.Config{MaxBytes: limit})
	x.Admit(0)
	for i := range uint64(500) {
		c := indextest.Chain(1000, fmt.Sprint(i))
		x.Apply(index.Batch{Seq: i + 1,
			Ops: []index.Op{{Kind: index.Store, Tier: index.CPU, Blocks: c, RootKnown: true}}})
		if st := x.Stats(); st.Bytes > limit {
			t.Fatalf("%+v", st)
		}
	}
	if st := x.Stats(); st.Evicted == 0 || st.Refused > 0 || st.Blocks < 50_000 ||
		uint64(st.Blocks)+st.Evicted != 500_000 {
		t.Fatalf("%+v", st)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// MOD2-50
func TestMemoryStaysFlatUnderChurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	x, _ := New(index.Config{})
	const hosts = 16
	keep := patiently(200)
	var seq [hosts]uint64
	var held [hosts][][]kvpool.BlockHash
	send := func(h int, op index.Op) {
		seq[h]++
		x.Apply(index.Batch{Host: index.HostID(h), Seq: seq[h], Ops: []index.Op{op}})
	}
	var warm index.Stats
	top := uint32(0)
	rounds := patiently(100_000)
	for round := range rounds {
		h := rng.IntN(hosts)
		c := indextest.Chain(1+rng.IntN(60), fmt.Sprint(rng.IntN(20_000)))
		send(h, index.Op{Kind: index.Store, Blocks: c, RootKnown: true})
		if n := len(c); n > 4 && rng.IntN(3) == 0 { // a hole, which stays
			send(h, index.Op{Kind: index.Remove, Blocks: c[n/2 : n/2+1]})
		}
		if held[h] = append(held[h], c); len(held[h]) > keep {
			i := rng.IntN(keep)
			send(h, index.Op{Kind: index.Remove, Blocks: held[h][i]})
			held[h][i] = held[h][keep]
			held[h] = held[h][:keep]
		}
		if round%500 == 99 {
			id := index.HostID(rng.IntN(hosts))
			x.Retire(id)
			if err := x.Sweep(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			x.Admit(id)
			held[id], seq[id] = nil, 0
		}
		if round == rounds/2 {
			warm, top = x.Stats(), x.tree.top*3/2
		}
	}
	st := x.Stats()
	if st.Bytes > warm.Bytes*5/4 || x.tree.top > top {
		t.Fatalf("%d bytes half way, %d in the end; %d run ids for %d runs", warm.Bytes, st.Bytes, x.tree.top, st.Runs)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// One block that many replicas hold without what is before it, and one that makes a run too small for all its isles.
func TestRunIsCutWhenItsIslesOrPartsAreTooMany(t *testing.T) {
	chain := indextest.Chain(400, "")
	x := indextest.Seeded(t, New, chain, 400)
	seq := uint64(1)
	for h := 1; h < index.MaxHosts; h++ {
		if err := x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
		at := 1 + h%7*50
		indextest.Apply(t, x, index.HostID(h), seq, index.Op{Kind: index.Store, Blocks: chain[at : at+30]},
			index.Op{Kind: index.Store, Blocks: chain[at+32 : at+34]})
		if err := x.Check(); err != nil {
			t.Fatalf("after host %d: %v", h, err)
		}
	}
	for h := 1; h < index.MaxHosts; h++ {
		indextest.Apply(t, x, index.HostID(h), 2,
			index.Op{Kind: index.Store, Blocks: chain[:min(h, 400)], RootKnown: true})
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
	depths, _ := indextest.Ask(x, chain, index.MaxHosts)
	for h := 1; h < index.MaxHosts; h++ {
		want := min(h, 400)
		for at := 1 + h%7*50; want >= at && want < at+30 || want >= at+32 && want < at+34; {
			want++
		}
		if int(depths[h]) != want {
			t.Fatalf("host %d: %d, want %d", h, depths[h], want)
		}
	}
}
