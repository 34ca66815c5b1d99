package events

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"octet/routing/events/octetkvpb"
)

const (
	jsonDepth   = 32 // of the values that a decoder skips because it does not know them
	eventsField = 5  // of a Batch in octetkv.proto
	leastEvent  = 3  // bytes of an event's value: its length, and a kind
	leastObject = 11 // bytes of an event in JSON: {"kind":3},
)

// Marshal returns b in protobuf's binary form, the same bytes for the same batch. It fails with ErrBatch where
// Unmarshal would refuse the result.
func Marshal(b Batch) ([]byte, error) {
	if err := b.sendable(); err != nil {
		return nil, err
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(toWire(b))
	return bounded(data, err)
}

// MarshalJSON returns b in protobuf's JSON form, without insignificant spaces. It fails like Marshal.
func MarshalJSON(b Batch) ([]byte, error) {
	if err := b.sendable(); err != nil {
		return nil, err
	}
	data, err := protojson.Marshal(toWire(b))
	if err != nil {
		return nil, refuse(ErrInvalid, "%v", err)
	}
	var out bytes.Buffer
	out.Grow(len(data))
	err = json.Compact(&out, data) // protojson spaces its output at random, on purpose
	return bounded(out.Bytes(), err)
}

// sendable is Check, and the bound on what one message tells of. No message can say that a batch is lost: its gap does.
func (b *Batch) sendable() error {
	if b.Lost {
		return refuse(ErrInvalid, "batch %d is lost", b.Seq)
	}
	if len(b.Events) > MaxEvents {
		return refuse(ErrTooLarge, "%d events", len(b.Events))
	}
	return b.Check()
}

// bounded passes on what an encoder gave, when it can be sent.
func bounded(data []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, refuse(ErrInvalid, "%v", err) // a name that is not UTF-8
	}
	if len(data) > MaxMessageBytes {
		return nil, refuse(ErrTooLarge, "%d bytes", len(data))
	}
	return data, nil
}

// Unmarshal reads either form of a batch: a leading '{' tells JSON, and begins no binary form. Fields that it does not
// know are skipped. It fails with ErrBatch and one of ErrTooLarge, ErrMalformed and ErrInvalid, and holds at most a
// small multiple of len(data) in memory meanwhile. Single events that cannot be applied are left out, see Sift. What it
// returns shares nothing with data.
func Unmarshal(data []byte) (Batch, error) {
	if len(data) > 0 && data[0] == '{' {
		return UnmarshalJSON(data)
	}
	return unmarshal(data, decodeBinary)
}

// UnmarshalJSON is Unmarshal for what is known to be JSON, which may then begin with spaces.
func UnmarshalJSON(data []byte) (Batch, error) { return unmarshal(data, decodeJSON) }

func unmarshal(data []byte, decode func([]byte, *octetkvpb.Batch) error) (Batch, error) {
	if len(data) > MaxMessageBytes {
		return Batch{}, refuse(ErrTooLarge, "%d bytes", len(data))
	}
	var m octetkvpb.Batch
	if err := decode(data, &m); err != nil {
		return Batch{}, err
	}
	b, err := fromWire(&m)
	if err != nil {
		return Batch{}, err
	}
	b.Sift()
	return b, b.Check()
}

func decodeBinary(data []byte, m *octetkvpb.Batch) error {
	if err := countEvents(data); err != nil {
		return err
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, m); err != nil {
		return refuse(ErrMalformed, "%v", err)
	}
	return nil
}

// countEvents refuses a message with too many events, or with empty ones, before anything is allocated for them: an
// empty event takes two bytes on the wire and three hundred in memory.
func countEvents(data []byte) error {
	for count := 0; len(data) > 0; {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return refuse(ErrMalformed, "%v", protowire.ParseError(n))
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return refuse(ErrMalformed, "%v", protowire.ParseError(n))
		}
		if number == eventsField {
			if count++; count > MaxEvents {
				return refuse(ErrTooLarge, "more than %d events", MaxEvents)
			}
			if n < leastEvent {
				return refuse(ErrInvalid, "event %d is empty", count-1)
			}
		}
		data = data[n:]
	}
	return nil
}

// countObjects is countEvents for JSON, by the braces that events cannot do without. It is generous: names may hold
// some as well.
func countObjects(data []byte) error {
	n := bytes.Count(data, []byte{'{'})
	if n > 2*MaxEvents {
		return refuse(ErrTooLarge, "more than %d events", MaxEvents)
	}
	if n > len(data)/leastObject+3*MaxNameBytes {
		return refuse(ErrInvalid, "%d objects in %d bytes", n, len(data))
	}
	return nil
}

func decodeJSON(data []byte, m *octetkvpb.Batch) error {
	if err := countObjects(data); err != nil {
		return err
	}
	o := protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: jsonDepth}
	if err := o.Unmarshal(data, m); err != nil {
		return refuse(ErrMalformed, "%v", err)
	}
	return nil
}
