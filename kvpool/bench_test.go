package kvpool

import (
	"bytes"
	"fmt"
	"testing"
)

const benchBlocks = 4096

// BenchmarkPoolAllocRelease takes and gives back tables of 64 blocks; ns/block is the figure. empty has nothing cached,
// evict takes only blocks whose content must go and caches new content in them.
func BenchmarkPoolAllocRelease(b *testing.B) {
	b.Run("empty", func(b *testing.B) { benchAllocRelease(b, false) })
	b.Run("evict", func(b *testing.B) { benchAllocRelease(b, true) })
}

func benchAllocRelease(b *testing.B, seal bool) {
	const n = 64
	p, err := NewPool(benchBlocks, 16)
	if err != nil {
		b.Fatal(err)
	}
	var t Table
	h := BlockHash(0)
	step := func() {
		p.Extend(&t, n)
		if seal {
			for i := range n {
				h += 0x9E3779B97F4A7C15
				p.Seal(&t, i, h)
			}
		}
		p.Release(&t)
	}
	for range benchBlocks / n {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/block")
}

// BenchmarkPrefixMatch looks up a chain that is cached whole, in a full cache; ns/block is the figure.
func BenchmarkPrefixMatch(b *testing.B) {
	for _, n := range []int{32, 1024} {
		b.Run(fmt.Sprintf("blocks=%d", n), func(b *testing.B) {
			p, err := NewPool(benchBlocks, 16)
			if err != nil {
				b.Fatal(err)
			}
			chain := chainOf(sequential(16*n, 0), 16)
			for i := range benchBlocks / n {
				var t Table
				p.Extend(&t, n)
				for j, h := range chainOf(sequential(16*n, uint32(1_000_000*i)), 16) {
					p.Seal(&t, j, h)
				}
				p.Release(&t)
			}
			b.ReportAllocs()
			for b.Loop() {
				if p.Match(chain) != n {
					b.Fatal("miss")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/block")
		})
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	f := newFixture(t, 64, 16)
	chain := chainOf(sequential(16*40, 0), 16)
	var table Table
	if n := testing.AllocsPerRun(100, func() {
		f.Share(&table, chain[:20])
		f.Extend(&table, 50)
		for i, h := range chain {
			f.Seal(&table, i, h)
		}
		m := f.Imagine(chain)
		m.Release(&table)
		m.Undo(&table)
		m.Close()
		f.Release(&table)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// BenchmarkTextChain hashes a prompt of 64 KB in chunks of 64 bytes; ns/block is the figure.
func BenchmarkTextChain(b *testing.B) {
	text := make([]byte, 64<<10)
	for i := range text {
		text[i] = byte(i * i >> 3)
	}
	for _, chunk := range []int{64, 128, 60} {
		b.Run(fmt.Sprintf("chunk=%d", chunk), func(b *testing.B) {
			var h Hasher
			var chain []BlockHash
			for b.Loop() {
				chain = h.TextChain(chain[:0], 1, text, chunk)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(chain)), "ns/block")
		})
	}
}

// BenchmarkShare takes and gives back a prompt that is cached whole, and two blocks for its answer; ns/block is the
// figure.
func BenchmarkShare(b *testing.B) {
	for _, n := range []int{16, 256, 1024} {
		b.Run(fmt.Sprintf("blocks=%d", n), func(b *testing.B) {
			p, err := NewPool(benchBlocks, 16)
			if err != nil {
				b.Fatal(err)
			}
			var t Table
			chain := chainOf(sequential(16*n, 0), 16)
			p.Extend(&t, n)
			for i, h := range chain {
				p.Seal(&t, i, h)
			}
			p.Release(&t)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := p.Fits(chain, n+2); !ok || p.Share(&t, chain) != n || !p.Extend(&t, n+2) {
					b.Fatal("miss")
				}
				p.Release(&t)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/block")
		})
	}
}

// BenchmarkPiecesChain hashes chats of two messages, of a prompt's usual pieces, as they lie and joined.
func BenchmarkPiecesChain(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		text := bytes.Repeat([]byte("0123456789abcdef"), size/32)
		pieces := [][]byte{[]byte("<|system|>\n"), text, []byte("<|end|>\n<|user|>\n"), text[3:],
			[]byte("<|end|>\n<|assistant|>\n")}
		for _, as := range []string{"pieces", "joined"} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, as), func(b *testing.B) {
				var h Hasher
				var chain []BlockHash
				var joined []byte
				for b.Loop() {
					if chain = chain[:0]; as == "pieces" {
						chain = h.PiecesChain(chain, 1, pieces, 64)
						continue
					}
					joined = joined[:0]
					for _, piece := range pieces {
						joined = append(joined, piece...)
					}
					chain = h.TextChain(chain, 1, joined, 64)
				}
			})
		}
	}
}
