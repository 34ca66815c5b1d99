package index_test

import (
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
	"octet/routing/index/reference"
	"octet/routing/index/runs"
)

type subject = indextest.Subject

// kinds are the indexes that keep the contract.
var kinds = []struct {
	name  string
	build indextest.Make
}{
	{"runs", func(c index.Config) (subject, error) { return runs.New(c) }},
	{"reference", func(c index.Config) (subject, error) { return reference.New(c) }},
}

// eachKind runs test on both.
func eachKind(t *testing.T, test func(t *testing.T, build indextest.Make)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k.build) })
	}
}

// place is one copy of a block.
type place struct {
	block kvpool.BlockHash
	tier  index.Tier
}
