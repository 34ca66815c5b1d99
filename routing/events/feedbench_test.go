package events

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkFeed applies batches of 16 blocks of 16 tokens, which come and go: by tokens and by names, with and without
// a publisher that is bound.
func BenchmarkFeed(b *testing.B) {
	for _, named := range []bool{false, true} {
		for _, patience := range []time.Duration{0, time.Minute} {
			b.Run(fmt.Sprintf("named=%v/bound=%v", named, patience > 0), func(b *testing.B) {
				to := Target{Host: 1, Specialist: "debug", BlockSize: 16, Named: named, Patience: patience}
				feed := NewFeed(newIndex(b, 4), hasher, only("e", to))
				session := feed.From("redis").Open()
				text := tokens(1, 256)
				seq := uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					seq++
					text[0] = uint32(seq)
					in := Event{Kind: Registered, Root: true, Tokens: text, BlockSize: 16}
					out := Event{Kind: Evicted}
					for i := range uint64(16) {
						in.Hashes = append(in.Hashes, seq<<8|i)
						if seq > 1000 {
							out.Hashes = append(out.Hashes, (seq-1000)<<8|i)
						}
					}
					batch := Batch{Replica: "e", Epoch: 1, Seq: seq,
						Events: []Event{in, out}[:min(2, 1+len(out.Hashes))]}
					session.Deliver(batch)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/block")
				if st := feed.Stats(); st.Applied != seq {
					b.Fatalf("%+v", st)
				}
			})
		}
	}
}
