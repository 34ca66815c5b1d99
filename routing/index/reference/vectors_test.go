package reference

import (
	"strconv"
	"testing"

	"octet/internal/vectors"
	"octet/kvpool"
	"octet/routing/index"
)

// The document's shards of four hashes, by its multiplier.
func TestShardsPlayTheDocumentsCase(t *testing.T) {
	vectors.Run(t, "seeds.json", vectors.Plays{"fibonacci_shard": playShards})
}

func playShards(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Multiplier string
		Shards     int
	}
	c.Given(&given)
	multiplier, err := strconv.ParseUint(given.Multiplier, 0, 64)
	if err != nil || multiplier != index.Golden || given.Shards != Shards {
		t.Fatalf("%+v, want %#x and %d: %v", given, uint64(index.Golden), Shards, err)
	}
	got := vectors.Got{}
	for hash := range kvpool.BlockHash(4) {
		got["hash_"+strconv.Itoa(int(hash))] = shardOf(hash)
	}
	return got
}
