package index_test

import (
	"fmt"
	"slices"
	"testing"

	"octet/internal/vectors"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// The cases of the index that the source documents name, with their own numbers, by every kind of index.
func TestIndexPlaysTheDocumentsCases(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			vectors.Run(t, "seeds.json", vectors.Plays{
				"prefix_binary_search_example": playDepths(k.build),
				"two_phase_shutdown":           playShutdown(k.build),
			})
		})
	}
}

func playDepths(build indextest.Make) vectors.Play {
	return func(t *testing.T, c *vectors.Case) vectors.Got {
		var given struct {
			Chain int
			Depth map[string]int
		}
		c.Given(&given)
		var names []string
		var held []int
		for name, depth := range given.Depth {
			names, held = append(names, name), append(held, depth)
		}
		chain := indextest.Chain(given.Chain, "")
		x := indextest.Seeded(t, build, chain, held...)
		depths, lookups := indextest.Ask(x, chain, len(held))
		found := vectors.Got{}
		for i, name := range names {
			found[name] = depths[i]
		}
		return vectors.Got{"depths": found, "shard_lookups_at_most": vectors.AtMost(lookups),
			"naive": len(chain) * len(held)}
	}
}

// One replica's shutdown comes, and leaves those alive that the case says.
func playShutdown(build indextest.Make) vectors.Play {
	return func(t *testing.T, c *vectors.Case) vectors.Got {
		var given struct{ Alive string }
		c.Given(&given)
		var alive index.HostBitmap
		for h, bit := range given.Alive {
			if bit == '1' {
				alive.Set(index.HostID(h))
			}
		}
		dead := index.HostID(slices.Index([]byte(given.Alive), '0'))
		chain, n := indextest.Chain(6, ""), len(given.Alive)
		depths := slices.Repeat([]int{3}, n)
		depths[dead] = len(chain) // holds some that no other does
		x := indextest.Seeded(t, build, chain, depths...)
		indextest.Apply(t, x, dead, 2, index.Op{Kind: index.Shutdown})
		after, _ := indextest.Ask(x, chain, n)
		got := vectors.Got{"query_excludes_dead_immediately": x.Alive() == alive && after[dead] == 0 && after[n-1] == 3}

		digest := x.Digest()
		again := x.Apply(index.Batch{Host: dead, Seq: 3, Ops: []index.Op{{Kind: index.Shutdown}}})
		got["repeat"] = said(again == index.Dead && x.Digest() == digest && x.Alive() == alive, "no-op")
		other := index.HostID(n - 1)
		indextest.Apply(t, x, other, 2, index.Op{Kind: index.Remove, Blocks: indextest.Chain(1, "unknown")})
		got["evict_missing"] = said(x.Digest() == digest && x.Host(other).Blocks == 3, "no-op")

		if err := x.Sweep(t.Context(), dead); err != nil {
			t.Fatal(err)
		}
		got["after_cleanup"] = vectors.Rule(x.Stats().Entries == 3 && x.Check() == nil)
		return got
	}
}

func said(so bool, word string) string {
	if !so {
		return fmt.Sprintf("not %s", word)
	}
	return word
}
