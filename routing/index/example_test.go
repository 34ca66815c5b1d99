package index_test

import (
	"context"
	"fmt"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// Two replicas hold parts of a prompt; the one that holds more is asked where its blocks lie, and the other dies.
func Example() {
	var hasher kvpool.Hasher
	prompt := hasher.Chain(nil, hasher.Root("debug", "", ""), make([]uint32, 64), 16)

	x, _ := runs.New(index.Config{Hosts: 2})
	for h, held := range []int{4, 1} {
		_ = x.Admit(index.HostID(h))
		x.Apply(index.Batch{Host: index.HostID(h), Epoch: 1, Seq: 1, Ops: []index.Op{
			{Kind: index.Store, Tier: index.CPU, Blocks: prompt[:held], RootKnown: true},
		}})
	}
	x.Apply(index.Batch{Host: 0, Epoch: 1, Seq: 2, Ops: []index.Op{
		{Kind: index.Remove, Tier: index.CPU, Blocks: prompt[2:3]}, // a hole
	}})

	var depths [index.MaxHosts]uint16
	x.Depths(prompt, x.Alive(), &depths)
	for h := range x.Alive().All() {
		fmt.Printf("host %d holds %d of %d blocks\n", h, depths[h], len(prompt))
	}
	fmt.Println("by tier:", x.InTiers(0, prompt, int(depths[0]), 1))

	x.Retire(0)
	x.Depths(prompt, x.Alive(), &depths)
	fmt.Println("retired:", x.Alive().Has(0), x.Reusable(0))
	fmt.Println("swept:", x.Sweep(context.Background(), 0), x.Reusable(0))
	// Output:
	// host 0 holds 2 of 4 blocks
	// host 1 holds 1 of 4 blocks
	// by tier: [0 2 0]
	// retired: false false
	// swept: <nil> true
}
