package kvpool

import "fmt"

// Geometry is what a model's attention keeps of each token.
type Geometry struct {
	Layers          int
	KVHeads         int // key/value heads: fewer than attention heads under GQA
	HeadDim         int
	DTypeBytes      int // 2 for fp16 and bf16, 1 for fp8
	AttentionLayers int // hybrid models: only these layers hold KV; 0 is all
}

// Memory is one replica's device memory, in bytes.
type Memory struct {
	HBM               int64 // free before the weights are loaded
	Weights           int64
	ActivationReserve int64 // activations, graphs, and the per-sequence SSM state of a hybrid model
}

// BytesPerToken returns 2 (keys and values) × attention layers × KV heads × head dim × bytes an element.
func (g Geometry) BytesPerToken() int64 {
	layers := g.AttentionLayers
	if layers == 0 {
		layers = g.Layers
	}
	return 2 * int64(layers) * int64(g.KVHeads) * int64(g.HeadDim) * int64(g.DTypeBytes)
}

// Size returns how many blocks of blockSize tokens fit into what is left of the device: (HBM - weights - reserve) /
// (bytes a token × block size), rounded down. It is computed once: a pool never grows, since each growth would be a
// stall.
//
// Worked numbers for an 80 GiB device with 14 GiB of weights and 6 GiB of reserve, which leaves 60 GiB, at 16 tokens a
// block:
//
//	model                  layers  with KV  KV heads  head dim  dtype   a token    a block    blocks      tokens
//	7B dense, MHA              32       32        32       128   bf16   512 KiB      8 MiB     7,680     122,880
//	7B dense, GQA              32       32         8       128   bf16   128 KiB      2 MiB    30,720     491,520
//	7B hybrid, 1 of 8          32        4         8       128   bf16    16 KiB    256 KiB   245,760   3,932,160
//
// The hybrid holds eight times the tokens of the GQA model of its size; what it pays per sequence instead (SSM and
// convolution state, bytes a layer whatever the length) belongs into ActivationReserve, for as many sequences as may
// run.
func Size(m Memory, g Geometry, blockSize int) (blocks int, err error) {
	switch {
	case g.Layers < 1 || g.KVHeads < 1 || g.HeadDim < 1 || g.DTypeBytes < 1:
		return 0, fmt.Errorf("%w: geometry %+v", ErrSize, g)
	case g.AttentionLayers < 0 || g.AttentionLayers > g.Layers:
		return 0, fmt.Errorf("%w: %d attention layers of %d", ErrSize, g.AttentionLayers, g.Layers)
	case blockSize < 1:
		return 0, fmt.Errorf("%w: block of %d tokens", ErrSize, blockSize)
	case m.Weights < 0 || m.ActivationReserve < 0:
		return 0, fmt.Errorf("%w: memory %+v", ErrSize, m)
	}
	left := m.HBM - m.Weights - m.ActivationReserve
	per := g.BytesPerToken() * int64(blockSize)
	if left < per {
		return 0, fmt.Errorf("%w: %d bytes are left of %d, a block takes %d", ErrSize, left, m.HBM, per)
	}
	return int(left / per), nil
}
