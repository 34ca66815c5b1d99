package events

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"octet/internal/allocs"
	"octet/routing/events/octetkvpb"
)

// snapshotAllowed is what reading a snapshot of that many bytes may allocate.
func snapshotAllowed(bytes int) uint64 { return 40*uint64(bytes) + 256<<10 }

// written is a snapshot of these parts, with a right sum, or what was made in its place.
func written(t *testing.T, f *Feed, tail string, parts ...*octetkvpb.Part) []byte {
	t.Helper()
	var out bytes.Buffer
	all := []proto.Message{&octetkvpb.Head{Version: snapshotVersion, Root: f.root()}}
	for _, p := range parts {
		all = append(all, p)
	}
	for _, m := range all {
		if _, err := protodelim.MarshalTo(&out, m); err != nil {
			t.Fatal(err)
		}
	}
	out.WriteString(tail)
	_, _ = protodelim.MarshalTo(&out, &octetkvpb.Part{Sum: xxh3.Hash(out.Bytes())})
	return out.Bytes()
}

func TestASnapshotAllocatesByItsBytes(t *testing.T) {
	feed := NewFeed(newIndex(t, 4), hasher, only("e", debug0))
	long := &octetkvpb.Part{Replica: "e", End: true, Spans: []uint32{1 << 18}, Hashes: []uint64{1}, Flags: []uint32{0},
		Copies: []uint32{1, 0, 0}, Ours: make([]uint64, 1<<18+1)}
	for name, text := range map[string][]byte{
		"a length and nothing":      append(written(t, feed, ""), "\xff\xff\xff\x03"...),
		"only a length":             []byte("\xff\xff\xff\x03"),
		"replicas without a block":  written(t, feed, strings.Repeat("\x05\x0a\x01e\x38\x01", 200_000)),
		"strangers without a block": written(t, feed, strings.Repeat("\x05\x0a\x01x\x38\x01", 200_000)),
		"parts without a block":     written(t, feed, strings.Repeat("\x03\x0a\x01e", 200_000)),
		"a span that is not there": written(t, feed,
			"\x20\x0a\x01e\x42\x08aaaaaaaa\x4a\x05\xff\xff\xff\xff\x0f\x5a\x03\x01\x01\x01\x62\x01\x00\x38\x01"),
		"columns of loose numbers":  written(t, feed, "\x83\x80\x40\x0a\x01e"+strings.Repeat("\x48\x01", 1<<19)),
		"unknown fields":            written(t, feed, "\x83\x80\x40\x0a\x01e"+strings.Repeat("\x78\x01", 1<<19)),
		"one block of many of ours": written(t, feed, "", long),
		"a stranger with many names": written(t, feed, "",
			&octetkvpb.Part{Replica: strings.Repeat("x", 1<<20), Specialist: strings.Repeat("y", 1<<20), End: true}),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			got := allocs.Least(func() { _, err = feed.read(bytes.NewReader(text), everything) })
			if got > snapshotAllowed(len(text)) {
				t.Errorf("%d bytes made %d, %.1f times as many (%v)", len(text), got, float64(got)/float64(len(text)),
					err)
			}
			got = allocs.Least(func() { _, err = SnapshotSeed(bytes.NewReader(text)) })
			if got > snapshotAllowed(len(text)) {
				t.Errorf("the seed of %d bytes made %d (%v)", len(text), got, err)
			}
		})
	}
}

// What there is no room for is left out, and the replica counts as full: less is known than it holds, never more.
func TestASnapshotTakesNoMoreThanItsRoom(t *testing.T) {
	feed := NewFeed(newIndex(t, 4), hasher, only("e", debug0))
	const blocks = 4000
	feed.Deliver(Batch{Replica: "e", Epoch: 1, Seq: 1,
		Events: []Event{{Kind: Registered, Hashes: upTo(blocks), Root: true, Tokens: tokens(1, 4*blocks),
			BlockSize: 4}}})
	var saved bytes.Buffer
	if err := feed.Save(&saved); err != nil {
		t.Fatal(err)
	}
	x := newIndex(t, 4)
	tight := NewFeed(x, hasher, only("e", debug0))
	tight.SnapshotRoom(64 << 10)
	if n, err := tight.Load(bytes.NewReader(saved.Bytes())); n != 1 || err != nil {
		t.Fatalf("%d replicas, %v", n, err)
	}
	kept := tight.Stats().Blocks
	if kept < 200 || kept > 64<<10/64 || !tight.known("e").held.full {
		t.Errorf("%d blocks, full: %v", kept, tight.known("e").held.full)
	}
	if err := x.Check(); err != nil {
		t.Error(err)
	}
	again := NewFeed(newIndex(t, 4), hasher, only("e", debug0))
	if n, err := again.Load(bytes.NewReader(saved.Bytes())); n != 1 || err != nil || again.Stats().Blocks != blocks ||
		again.known("e").held.full {
		t.Errorf("with room: %d replicas, %v, %d blocks", n, err, again.Stats().Blocks)
	}
}

func upTo(n int) (all []uint64) {
	for i := range n {
		all = append(all, uint64(i+1))
	}
	return all
}
