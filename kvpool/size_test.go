package kvpool

import (
	"errors"
	"testing"
)

const (
	kib = int64(1) << 10
	gib = int64(1) << 30
)

var device = Memory{HBM: 80 * gib, Weights: 14 * gib, ActivationReserve: 6 * gib}

// MEGA-31, MEGA-32: the table in Size's comment.
func TestPoolSizeFollowsMemoryAndGeometry(t *testing.T) {
	for _, c := range []struct {
		name     string
		geometry Geometry
		perToken int64
		blocks   int
	}{
		{"7B dense, MHA", Geometry{Layers: 32, KVHeads: 32, HeadDim: 128, DTypeBytes: 2}, 512 * kib, 7_680},
		{"7B dense, GQA", Geometry{Layers: 32, KVHeads: 8, HeadDim: 128, DTypeBytes: 2}, 128 * kib, 30_720},
		{"7B hybrid", Geometry{Layers: 32, KVHeads: 8, HeadDim: 128, DTypeBytes: 2, AttentionLayers: 4}, 16 * kib,
			245_760},
		{"7B dense, GQA, fp8", Geometry{Layers: 32, KVHeads: 8, HeadDim: 128, DTypeBytes: 1}, 64 * kib, 61_440},
	} {
		if got := c.geometry.BytesPerToken(); got != c.perToken {
			t.Errorf("%s: %d bytes a token, want %d", c.name, got, c.perToken)
		}
		if got, err := Size(device, c.geometry, 16); err != nil || got != c.blocks {
			t.Errorf("%s: %d blocks (%v), want %d", c.name, got, err, c.blocks)
		}
		if got, err := Size(device, c.geometry, 8); err != nil || got != 2*c.blocks {
			t.Errorf("%s: %d blocks of 8 (%v), want %d", c.name, got, err, 2*c.blocks)
		}
	}
}

func TestPoolSizeRoundsDown(t *testing.T) {
	g := Geometry{Layers: 1, KVHeads: 1, HeadDim: 1, DTypeBytes: 1} // 2 bytes a token
	for left, want := range map[int64]int{32: 1, 63: 1, 64: 2} {
		if got, err := Size(Memory{HBM: 100 + left, Weights: 60, ActivationReserve: 40}, g, 16); err != nil ||
			got != want {
			t.Errorf("%d bytes: %d blocks (%v), want %d", left, got, err, want)
		}
	}
}

func TestImpossibleSizesAreRefused(t *testing.T) {
	g := Geometry{Layers: 32, KVHeads: 8, HeadDim: 128, DTypeBytes: 2}
	for name, c := range map[string]struct {
		memory    Memory
		geometry  Geometry
		blockSize int
	}{
		"no layers":    {device, Geometry{KVHeads: 8, HeadDim: 128, DTypeBytes: 2}, 16},
		"no heads":     {device, Geometry{Layers: 32, HeadDim: 128, DTypeBytes: 2}, 16},
		"no dimension": {device, Geometry{Layers: 32, KVHeads: 8, DTypeBytes: 2}, 16},
		"no bytes":     {device, Geometry{Layers: 32, KVHeads: 8, HeadDim: 128}, 16},
		"more attention than layers": {device,
			Geometry{Layers: 32, KVHeads: 8, HeadDim: 128, DTypeBytes: 2, AttentionLayers: 33}, 16},
		"no block":                       {device, g, 0},
		"negative weights":               {Memory{HBM: gib, Weights: -gib}, g, 16},
		"weights larger than the device": {Memory{HBM: gib, Weights: 2 * gib}, g, 16},
		"less than a block is left":      {Memory{HBM: 15*gib + 128*kib*16 - 1, Weights: 15 * gib}, g, 16},
	} {
		if blocks, err := Size(c.memory, c.geometry, c.blockSize); !errors.Is(err, ErrSize) {
			t.Errorf("%s: %d blocks, %v", name, blocks, err)
		}
	}
}
