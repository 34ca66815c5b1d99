package zmqstream

import (
	"encoding/binary"
	"slices"
)

// number returns the sequence number as it is sent.
func (m message) number() []byte { return binary.BigEndian.AppendUint64(nil, m.seq) }

// ring is what can be replayed: the last batches, in order.
type ring struct {
	most  int // batches; and no more than bufferBytes
	kept  []message
	bytes int
}

func (r *ring) add(m message) {
	r.kept = append(r.kept, m)
	r.bytes += len(m.payload)
	for len(r.kept) > 1 && (len(r.kept) > r.most || r.bytes > bufferBytes) {
		r.bytes -= len(r.kept[0].payload)
		r.kept[0] = message{} // its payload is free although the array is not
		r.kept = r.kept[1:]
	}
}

// from returns the batches from number seq on. They are not changed any more.
func (r *ring) from(seq uint64) []message {
	i, _ := slices.BinarySearchFunc(r.kept, seq, func(m message, seq uint64) int {
		switch {
		case m.seq < seq:
			return -1
		case m.seq > seq:
			return 1
		}
		return 0
	})
	return slices.Clone(r.kept[i:])
}
