package zmqstream

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tinylib/msgp/msgp"

	"octet/routing/events"
)

// ErrPayload is what a decoder says of bytes that are no batch of an engine.
var ErrPayload = errors.New("zmqstream: not a batch")

// maxDepth bounds the nesting of what is skipped.
const maxDepth = 32

// decoder reads the batches of one publisher: arrays and maps, of every version, told apart by shape.
type decoder struct {
	sparse  map[int64]struct{} // cache groups whose blocks are no prefix: sliding windows, states. At most maxGroups
	refused int                // events of the batch decoded last that could not be read and were left out
	rank    int64              // that the batch decoded last says; noRank if it says none
}

// noRank is the rank of a batch that does not say one.
const noRank = -1

const maxGroups = 64

// decode returns the events of a batch and when it was made, by the engine's clock. What it returns shares nothing with
// payload. Events of kinds that it does not know are left out, and so are registrations that cannot be read; the latter
// count in refused.
func (d *decoder) decode(payload []byte) (at time.Time, out []events.Event, err error) {
	d.refused, d.rank = 0, noRank
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}()
	fields, rest, err := msgp.ReadArrayHeaderBytes(payload)
	if err != nil {
		return at, nil, err
	}
	if fields < 2 {
		return at, nil, fmt.Errorf("an array of %d", fields)
	}
	at, rest, err = readTime(rest)
	if err != nil {
		return at, nil, err
	}
	n, rest, err := msgp.ReadArrayHeaderBytes(rest)
	if err != nil {
		return at, nil, err
	}
	for range n {
		var r raw
		event := rest
		if rest, err = r.read(event); err == nil {
			out = d.translate(out, &r)
		} else if rest, err = r.leaveOut(event, err); err != nil {
			return at, nil, err
		} else {
			d.refused++
		}
	}
	if fields > 2 {
		d.rank = rankAt(rest)
	}
	for range fields - 2 { // the rank, and what later versions add
		if rest, err = skip(rest, 0); err != nil {
			return at, nil, err
		}
	}
	if len(rest) > 0 {
		return at, nil, fmt.Errorf("%d bytes after the end", len(rest))
	}
	return at, out, nil
}

// rankAt returns the rank that b begins with; noRank if it is nil, or nothing that a rank can be.
func rankAt(b []byte) int64 {
	if msgp.NextType(b) != msgp.IntType && msgp.NextType(b) != msgp.UintType {
		return noRank
	}
	n, _, err := msgp.ReadInt64Bytes(b)
	if err != nil || n < 0 {
		return noRank
	}
	return n
}

// readTime reads seconds since 1970.
func readTime(b []byte) (time.Time, []byte, error) {
	var seconds float64
	var err error
	switch msgp.NextType(b) {
	case msgp.Float64Type, msgp.Float32Type:
		seconds, b, err = msgp.ReadFloat64Bytes(b)
	default:
		var whole int64
		whole, b, err = msgp.ReadInt64Bytes(b)
		seconds = float64(whole)
	}
	if err != nil {
		return time.Time{}, b, err
	}
	if !(seconds >= 0 && seconds < 1<<33) {
		return time.Time{}, b, fmt.Errorf("made at %v", seconds)
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), b, nil
}

// skip passes over one value.
func skip(b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	var n uint32
	var err error
	switch msgp.NextType(b) {
	case msgp.ArrayType:
		n, b, err = msgp.ReadArrayHeaderBytes(b)
	case msgp.MapType:
		n, b, err = msgp.ReadMapHeaderBytes(b)
		if err == nil && uint64(n)*2 > uint64(len(b)) {
			return b, msgp.ErrShortBytes
		}
		n *= 2
	default:
		return msgp.Skip(b)
	}
	for ; err == nil && n > 0; n-- {
		b, err = skip(b, depth+1)
	}
	return b, err
}

// isNil reports whether the next value is nil, and passes over it.
func isNil(b []byte) ([]byte, bool) {
	if !msgp.IsNil(b) {
		return b, false
	}
	return b[1:], true
}
