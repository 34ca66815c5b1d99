package kvpool_test

import (
	"fmt"

	"octet/kvpool"
)

// Two requests share the blocks of their common prompt; the adapter keeps a third apart.
func Example() {
	pool, err := kvpool.NewPool(8, 4)
	if err != nil {
		panic(err)
	}
	var hasher kvpool.Hasher
	prompt := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	chain := hasher.Chain(nil, hasher.Root("debug", "", ""), prompt, pool.BlockSize())

	var first kvpool.Table
	pool.Extend(&first, pool.Blocks(len(prompt)))
	for i, h := range chain { // computed, so they can be shared
		pool.Seal(&first, i, h)
	}

	var second kvpool.Table
	shared := pool.Share(&second, chain)
	pool.Extend(&second, pool.Blocks(len(prompt)))
	fmt.Println(first.Blocks(), second.Blocks(), "shared", shared, "free", pool.Free())

	other := hasher.Chain(nil, hasher.Root("debug", "gdb-v2", ""), prompt, pool.BlockSize())
	fmt.Println("with an adapter", pool.Match(other))

	pool.Release(&first)
	pool.Release(&second)
	fmt.Println("free", pool.Free(), "still cached", pool.Cached())
	// Output:
	// [0 1 2] [0 1 3] shared 2 free 4
	// with an adapter 0
	// free 8 still cached 2
}
