package replay

import (
	"context"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
)

// AppendPrompt appends the tokens of request i under seed.
func (t *Trace) AppendPrompt(dst []uint32, i int, seed uint64) []uint32 {
	r := &t.Requests[i]
	end := len(dst) + r.Input
	for _, s := range r.Blocks {
		for k := range s.Count {
			dst = appendBlock(dst, (s.First+uint64(k)^seed)*0x9E3779B97F4A7C15, min(t.Block, end-len(dst)))
		}
	}
	// what no id stands for is the request's own
	return appendBlock(dst, (uint64(i)^seed)*0xBF58476D1CE4E5B9, end-len(dst))
}

func appendBlock(dst []uint32, x uint64, tokens int) []uint32 {
	for j := range tokens {
		dst = append(dst, uint32((x+uint64(j)*0xD1B54A32D192ED03)>>32))
	}
	return dst
}

// tokenizer knows the prompt of the request that is being routed.
type tokenizer struct{ run *run }

// Tokenize implements plugins.Tokenizer.
func (t tokenizer) Tokenize(_ context.Context, _ string, _ *routing.Facts, dst []uint32) ([]uint32, error) {
	return append(dst, t.run.prompt...), nil
}

// endless is one cache for all that forgets nothing. It answers as the index does.
type endless struct {
	hasher    kvpool.Hasher
	blockSize int
	holds     map[kvpool.BlockHash]bool
	coming    map[*life][]kvpool.BlockHash
}

func newEndless(h kvpool.Hasher, blockSize int) *endless {
	return &endless{h, blockSize, map[kvpool.BlockHash]bool{}, map[*life][]kvpool.BlockHash{}}
}

// cached returns how many tokens of a prompt need not be computed; the last always is.
func (x *endless) cached(chain []kvpool.BlockHash, input int) int {
	n := 0
	for n < len(chain) && (n+1)*x.blockSize < input && x.holds[chain[n]] {
		n++
	}
	return n * x.blockSize
}

func (x *endless) expect(l *life, chain []kvpool.BlockHash) {
	x.coming[l] = append([]kvpool.BlockHash(nil), chain...)
}

// add notes that l's prompt is computed.
func (x *endless) add(l *life) {
	for _, h := range x.coming[l] {
		x.holds[h] = true
	}
	delete(x.coming, l)
}

// Depths implements plugins.Index.
func (x *endless) Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16) {
	n := 0
	for n < len(chain) && x.holds[chain[n]] {
		n++
	}
	for h := range among.All() {
		out[h] = uint16(n)
	}
}

// Stale implements plugins.Index.
func (x *endless) Stale() (none index.HostBitmap) { return none }
