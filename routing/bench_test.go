package routing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
)

// began is when the requests that are in flight began.
var began = time.Unix(1000, 0)

// BenchmarkSelect is the default profile's decision with the prompt's hashes given: 32 blocks, of which the first
// quarter is shared by one in 50 of all prompts, each prompt on 4 replicas.
func BenchmarkSelect(b *testing.B) {
	for _, replicas := range []int{8, 16, 32, 64, 128, 256} {
		b.Run(fmt.Sprintf("replicas=%d", replicas), func(b *testing.B) { benchmarkSelect(b, replicas, 32) })
	}
	b.Run("replicas=256/blocks=1024", func(b *testing.B) { benchmarkSelect(b, 256, 1024) })
}

func benchmarkSelect(b *testing.B, replicas, blocks int) {
	draw := rand.New(rand.NewPCG(9, 10))
	ix, err := runs.New(index.Config{Hosts: replicas})
	if err != nil {
		b.Fatal(err)
	}
	snapshot := benchFleet(b, replicas, draw)
	chains := make([][]kvpool.BlockHash, 32_000/blocks)
	for i := range chains {
		chains[i] = kvpool.Hasher{}.Chain(nil, 0, promptOf(i, 16*blocks), 16)
	}
	fill(b, ix, chains, replicas, draw)
	p := benchProfile(b, ix)
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := routing.Acquire(routing.Facts{Specialist: "debug", Now: began})
		plugins.Fleet.Put(c, snapshot)
		plugins.BlockHashes.Put(c, chains[i%len(chains)])
		plugins.PromptTokens.Put(c, 16*blocks)
		c.Candidates(snapshot.Hosts)
		if _, err := p.Select(ctx, c); err != nil {
			b.Fatal(err)
		}
		c.Release()
	}
}

// promptOf returns n tokens, of which the first quarter are those of every 50th prompt.
func promptOf(i, n int) []uint32 {
	tokens := make([]uint32, n)
	for at := range tokens {
		tokens[at] = uint32(i % 50)
		if at >= n/4 {
			tokens[at] = uint32(i*1000 + at)
		}
	}
	return tokens
}

// fill stores each chain on 4 replicas.
func fill(b *testing.B, ix *runs.Indexer, chains [][]kvpool.BlockHash, replicas int, draw *rand.Rand) {
	batches := make([]index.Batch, replicas)
	for h := range batches {
		if err := ix.Admit(index.HostID(h)); err != nil {
			b.Fatal(err)
		}
		batches[h] = index.Batch{Host: index.HostID(h), Epoch: 1, Seq: 1}
	}
	for _, chain := range chains {
		for range 4 {
			batch := &batches[draw.IntN(replicas)]
			batch.Ops = append(batch.Ops, index.Op{Kind: index.Store, Tier: index.GPU, Blocks: chain, RootKnown: true})
		}
	}
	for _, batch := range batches {
		if got := ix.Apply(batch); got != index.Applied {
			b.Fatalf("replica %d: %v", batch.Host, got)
		}
	}
}

func benchFleet(b *testing.B, replicas int, draw *rand.Rand) *fleet.Snapshot {
	f := fleet.New()
	for h := range replicas {
		r, err := f.Put(fleet.Spec{Name: fmt.Sprint("debug-", h), Specialist: "debug", Host: index.HostID(h),
			Blocks: 4096, BlockSize: 16, HasEvents: true})
		if err != nil {
			b.Fatal(err)
		}
		load := fleet.Load{Waiting: draw.IntN(8), Running: draw.IntN(64), KVUsage: draw.Float64()}
		r.SampleFrom(func() fleet.Load { return load })
		answered(r)
		for range draw.IntN(64) {
			f := r.Route(fleet.Demand{Prompt: 500, Uncached: draw.IntN(500)})
			f.Begin(began)
			if draw.IntN(2) == 0 {
				f.FirstToken(began.Add(time.Millisecond))
			}
		}
	}
	return f.Snapshot("debug")
}

// answered gives r a pace: answers of 100 tokens that took longer the more there were of them.
func answered(r *fleet.Replica) {
	var flights []fleet.Flight
	for range 8 {
		f := r.Route(fleet.Demand{Prompt: 500, Uncached: 100})
		f.Begin(began)
		f.FirstToken(began.Add(time.Millisecond))
		flights = append(flights, f)
	}
	for i := range flights {
		flights[i].Grow(100, began.Add(time.Duration(10-i)*time.Second))
		flights[i].Land()
	}
}

// benchProfile is the default preset without what makes hashes.
func benchProfile(b *testing.B, ix *runs.Indexer) *routing.Profile {
	spec, ok := plugins.Preset("default")
	if !ok {
		b.Fatal("no default preset")
	}
	spec.Prepare = []routing.PluginSpec{{Name: "prefix-depths"}, {Name: "tier-depths"}}
	spec = plugins.Complete(spec, false)
	spec.Given = append(spec.Given, plugins.BlockHashes, plugins.PromptTokens)
	p, err := routing.Build(spec, plugins.Registry(plugins.Deps{Index: ix, Tiers: ix}))
	if err != nil {
		b.Fatal(err)
	}
	return p
}
