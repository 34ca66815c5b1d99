package events

import (
	"bufio"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/encoding/protowire"

	"octet/routing/events/octetkvpb"
)

// seedField is the field of a snapshot's Head that says under which seed its chains are hashed: a gateway that draws
// its seed takes up the one that its own snapshot was written under.
const seedField = 3

func carrySeed(head *octetkvpb.Head, seed uint64) {
	field := protowire.AppendTag(nil, seedField, protowire.Fixed64Type)
	head.ProtoReflect().SetUnknown(protowire.AppendFixed64(field, seed))
}

// SnapshotSeed reads the hash seed from the beginning of a snapshot. It fails with ErrSnapshot without one.
func SnapshotSeed(r io.Reader) (uint64, error) {
	var head octetkvpb.Head
	in := &summed{in: bufio.NewReader(r), sum: xxh3.New()}
	if err := in.message(&head, false); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	number, kind, n := protowire.ConsumeTag(head.ProtoReflect().GetUnknown())
	if n < 0 || number != seedField || kind != protowire.Fixed64Type {
		return 0, fmt.Errorf("%w: it does not say its hash seed", ErrSnapshot)
	}
	seed, n := protowire.ConsumeFixed64(head.ProtoReflect().GetUnknown()[n:])
	if n < 0 {
		return 0, fmt.Errorf("%w: its hash seed is cut off", ErrSnapshot)
	}
	return seed, nil
}
