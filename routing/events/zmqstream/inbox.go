package zmqstream

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// message is one batch as it is on the wire.
type message struct {
	seq     uint64
	payload []byte
}

// inbox reads a connection, so that nothing is lost while a gap before it is read again. It is bounded: what finds no
// room is dropped and its gap shows.
type inbox struct {
	queue chan message // cap == inboxSize; closed when the connection has failed
	bytes atomic.Int64 // queued
	err   error        // why; to be read after queue was closed
}

func newInbox() *inbox { return &inbox{queue: make(chan message, inboxSize)} }

// fill reads until the connection fails.
func (b *inbox) fill(conn *zmtp.Conn, meter *events.Meter) {
	defer close(b.queue)
	if b.err = events.Guard(func() error { return b.read(conn, meter) }); errors.Is(b.err, events.ErrPanic) {
		meter.Panicked(b.err)
	}
}

func (b *inbox) read(conn *zmtp.Conn, meter *events.Meter) error {
	for {
		frames, err := conn.Receive()
		if err != nil {
			return err
		}
		m, ok := parse(frames)
		if !ok {
			meter.Skipped()
			continue
		}
		if b.bytes.Load()+int64(len(m.payload)) > inboxBytes {
			meter.Lost()
			continue
		}
		select {
		case b.queue <- m:
			b.bytes.Add(int64(len(m.payload)))
		default:
			meter.Lost()
		}
	}
}

// took is called for every message that was taken out.
func (b *inbox) took(m message) { b.bytes.Add(-int64(len(m.payload))) }

// parse reads a message from its back: what stands before the number and the batch differs from version to version.
func parse(frames [][]byte) (message, bool) {
	n := len(frames)
	if n < 2 || len(frames[n-2]) != 8 {
		return message{}, false
	}
	return message{binary.BigEndian.Uint64(frames[n-2]), frames[n-1]}, true
}
