package runs

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
)

// facts is the slow, obvious index for many replicas: which hold a block.
type facts map[kvpool.BlockHash]*index.HostBitmap

func (f facts) set(h index.HostID, b kvpool.BlockHash, held bool) {
	m := f[b]
	if m == nil {
		m = &index.HostBitmap{}
		f[b] = m
	}
	m.Clear(h)
	if held {
		m.Set(h)
	}
}

func (f facts) depth(h index.HostID, chain []kvpool.BlockHash) int {
	for i, b := range chain {
		if m := f[b]; m == nil || !m.Has(h) {
			return i
		}
	}
	return len(chain)
}

// crowd is a fleet with the traffic of many: prompts that share beginnings, holes, evictions in every order, epochs,
// deaths.
type fleet struct {
	t      *testing.T
	rng    *rand.Rand
	x      *Indexer
	facts  facts
	chains [][]kvpool.BlockHash
	seq    [index.MaxHosts]uint64
	epoch  [index.MaxHosts]uint64
	hosts  int
}

func newFleet(t *testing.T, seed uint64, hosts, chains, length int) *fleet {
	f := &fleet{t: t, rng: rand.New(rand.NewPCG(seed, 9)), facts: facts{}, hosts: hosts}
	f.x, _ = New(index.Config{})
	for h := range hosts {
		if err := f.x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
	}
	var hasher kvpool.Hasher
	for i := range chains {
		var c []kvpool.BlockHash
		if i > 0 && f.rng.IntN(4) > 0 {
			from := f.chains[f.rng.IntN(i)]
			c = append(c, from[:1+f.rng.IntN(len(from))]...)
		}
		for n := len(c) + 1 + f.rng.IntN(length); len(c) < n; {
			last := kvpool.BlockHash(0)
			if len(c) > 0 {
				last = c[len(c)-1]
			}
			c = append(c, hasher.Next(last, []uint32{f.rng.Uint32()}))
		}
		f.chains = append(f.chains, c)
	}
	return f
}

// op draws an op on a stretch of a chain and notes what it does.
func (f *fleet) op(h index.HostID) index.Op {
	c := f.chains[f.rng.IntN(len(f.chains))]
	from := f.rng.IntN(2) * f.rng.IntN(len(c))
	to := from + 1 + f.rng.IntN(len(c)-from)
	if f.rng.IntN(3) == 0 {
		to = min(len(c), from+1+f.rng.IntN(3))
	}
	op := index.Op{Blocks: append([]kvpool.BlockHash(nil), c[from:to]...)}
	switch f.rng.IntN(10) {
	case 0, 1:
		op.Kind = index.Remove
	case 2, 3:
		op.Kind = index.Remove
		for i, j := 0, len(op.Blocks)-1; i < j; i, j = i+1, j-1 {
			op.Blocks[i], op.Blocks[j] = op.Blocks[j], op.Blocks[i]
		}
	case 4:
		op.Kind = index.Remove
		f.rng.Shuffle(len(op.Blocks), func(i, j int) { op.Blocks[i], op.Blocks[j] = op.Blocks[j], op.Blocks[i] })
	case 5:
		f.rng.Shuffle(len(op.Blocks), func(i, j int) { op.Blocks[i], op.Blocks[j] = op.Blocks[j], op.Blocks[i] })
	default:
		if op.RootKnown = from == 0; from > 0 {
			op.HasParent, op.Parent = true, c[from-1]
		}
	}
	for _, b := range op.Blocks {
		f.facts.set(h, b, op.Kind == index.Store)
	}
	return op
}

func (f *fleet) step() (ops int) {
	h := index.HostID(f.rng.IntN(f.hosts))
	switch f.rng.IntN(200) {
	case 0:
		f.wipe(h)
		f.epoch[h], f.seq[h] = f.epoch[h]+1, 0
	case 1:
		f.wipe(h)
		f.x.Retire(h)
		if err := f.x.Sweep(context.Background(), h); err != nil {
			f.t.Fatal(err)
		}
		if err := f.x.Admit(h); err != nil {
			f.t.Fatal(err)
		}
		f.epoch[h], f.seq[h] = 0, 0
	}
	b := index.Batch{Host: h, Epoch: f.epoch[h], Seq: f.seq[h] + 1}
	for range 1 + f.rng.IntN(4) {
		b.Ops = append(b.Ops, f.op(h))
	}
	f.seq[h]++
	if out := f.x.Apply(b); out != index.Applied {
		f.t.Fatalf("%+v: %s", b, out)
	}
	if f.rng.IntN(10) == 0 {
		if out := f.x.Apply(b); out != index.Duplicate {
			f.t.Fatalf("again: %s", out)
		}
	}
	return len(b.Ops)
}

func (f *fleet) wipe(h index.HostID) {
	for _, m := range f.facts {
		m.Clear(h)
	}
}

// compare asks for a chain, cut somewhere, and checks each replica's depth.
func (f *fleet) compare() {
	c := f.chains[f.rng.IntN(len(f.chains))]
	c = c[:1+f.rng.IntN(len(c))]
	if f.rng.IntN(3) == 0 {
		c = append(append([]kvpool.BlockHash(nil), c...), 1, 2, 3)
	}
	var out [index.MaxHosts]uint16
	f.x.Depths(c, f.x.Alive(), &out)
	for h := range index.HostID(f.hosts) {
		if want := f.facts.depth(h, c); int(out[h]) != want {
			f.t.Fatalf("host %d holds %d of %d, want %d", h, out[h], len(c), want)
		}
	}
}

func (f *fleet) check() {
	if err := f.x.Check(); err != nil {
		f.t.Fatal(err)
	}
	entries := 0
	for _, m := range f.facts {
		if !m.Empty() {
			entries++
		}
	}
	if got := f.x.Stats().Entries; got != entries {
		f.t.Fatalf("%d entries, want %d", got, entries)
	}
}

// A million ops with OCTET_LONG=1000000; by default as many as a test may take.
// MOD2-06, MOD2-10, MOD2-38, MOD2-50, MOD2-51
func TestIndexEqualsModelForManyReplicas(t *testing.T) {
	ops := patiently(20_000)
	if n, err := strconv.Atoi(os.Getenv("OCTET_LONG")); err == nil {
		ops = n
	}
	for i, size := range [][3]int{{40, 60, 40}, {index.MaxHosts, 12, 60}, {6, 300, 20}, {30, 6, 5000}} {
		f := newFleet(t, uint64(i), size[0], size[1], size[2])
		for n, checked := 0, 0; n < ops/4; {
			n += f.step()
			f.compare()
			f.compare()
			if n > checked+ops/40 {
				f.check()
				checked = n
			}
		}
		f.check()
	}
}
