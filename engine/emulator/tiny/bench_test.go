package tiny

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"octet/kvpool"
)

// BenchmarkDecode measures tokens a second of steps of one token of each of a batch's sequences.
func BenchmarkDecode(b *testing.B) {
	for _, context := range []int{64, 1024} {
		for _, batch := range []int{1, 8} {
			b.Run(fmt.Sprintf("context=%d/batch=%d", context, batch),
				func(b *testing.B) { benchDecode(b, context, batch) })
		}
	}
}

func benchDecode(b *testing.B, context, batch int) {
	const size = 16
	rng := rand.New(rand.NewPCG(1, 1))
	blocks := context/size + 1
	e := NewEngine(NewModel(1, vocabulary(256), false), batch*blocks, size)
	ids := someTable(rng, batch*blocks, batch*blocks)
	tables := make([][]kvpool.BlockID, batch)
	for i := range tables {
		tables[i] = ids[i*blocks : (i+1)*blocks]
		e.Compute(nil, Span{Table: tables[i], Tokens: somePrompt(rng, context)})
	}
	said, last := []uint32(nil), somePrompt(rng, 1)
	b.ReportAllocs()
	for b.Loop() {
		said = said[:0]
		for _, table := range tables {
			said, _ = e.Compute(said, Span{Table: table, Start: context, Tokens: last, Samples: true})
		}
	}
	b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkPrefill(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	e := NewEngine(NewModel(1, vocabulary(256), false), 64, 16)
	table, prompt := someTable(rng, 64, 64), somePrompt(rng, 1024)
	b.ReportAllocs()
	for b.Loop() {
		e.Compute(nil, Span{Table: table, Tokens: prompt})
	}
	b.ReportMetric(float64(b.N*len(prompt))/b.Elapsed().Seconds(), "tokens/s")
}
