package events

import (
	"bytes"
	"fmt"
	"testing"

	"octet/routing/index"
)

// million is a feed that knows 2^20 blocks of 16 replicas, in chains of 512, and where each replica is.
func million(b *testing.B) (saved []byte, place func(string) (Target, bool)) {
	b.Helper()
	const replicas, chains, length, size = 16, 128, 512, 16
	places := map[string]Target{}
	for h := range replicas {
		places[fmt.Sprint("r", h)] = Target{Host: index.HostID(h), Specialist: "debug", BlockSize: size}
	}
	place = func(name string) (Target, bool) { t, ok := places[name]; return t, ok }
	f := NewFeed(newIndex(b, replicas), hasher, place)
	tokens, hash := make([]uint32, length*size), uint64(1)
	for name := range places {
		for c := range chains {
			hashes := make([]uint64, length)
			for i := range hashes {
				hash++
				hashes[i] = hash
			}
			for i := range tokens {
				tokens[i] = uint32(int(hash)*31 + i)
			}
			f.Deliver(Batch{Replica: name, Epoch: 1, Seq: uint64(c + 1),
				Events: []Event{{Kind: Registered, Hashes: hashes, Root: true, Tokens: tokens, BlockSize: size}}})
		}
	}
	var out bytes.Buffer
	if err := f.Save(&out); err != nil {
		b.Fatal(err)
	}
	return out.Bytes(), place
}

// BenchmarkSnapshotLoad is what a gateway that starts again does before it is ready: 2^20 blocks of 16 replicas.
func BenchmarkSnapshotLoad(b *testing.B) {
	saved, place := million(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(saved)))
	for b.Loop() {
		x := newIndex(b, 16)
		n, err := NewFeed(x, hasher, place).Load(bytes.NewReader(saved))
		if n != 16 || err != nil || x.Stats().Entries != 1<<20 {
			b.Fatal(n, err, x.Stats().Entries)
		}
	}
}
