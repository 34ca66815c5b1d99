package stream

import (
	"sync"

	"octet/internal/poison"
)

// Outbox holds what a stream has for its client until the engine has nothing more at hand, so that a burst of events
// goes out by one write. A lone event is held by reference and not copied.
type Outbox struct {
	lone   []byte // the first, while it is alone: the engine's memory, see Own
	staged []byte // in page
	page   *[outboxSize]byte

	unbound bool // it holds whatever it is given, and writes only when it is emptied
}

const outboxSize = 32 << 10

// outboxes are used again: a page is its Outbox's alone until Drop, which follows on a write that has returned; nothing
// else is given it.
var outboxes = sync.Pool{New: func() any { return new([outboxSize]byte) }}

// Put takes part, which must stay as it is until the next call of Own.
func (o *Outbox) Put(to Client, part []byte) error {
	if o.lone == nil && len(o.staged) == 0 {
		o.lone = part
		return nil
	}
	if err := o.Own(to); err != nil {
		return err
	}
	return o.stage(to, part)
}

// Own makes the outbox independent of the memory that it was given.
func (o *Outbox) Own(to Client) error {
	if o.lone == nil {
		return nil
	}
	lone := o.lone
	o.lone = nil
	return o.stage(to, lone)
}

func (o *Outbox) stage(to Client, part []byte) error {
	if len(o.staged)+len(part) > outboxSize && !o.unbound {
		if err := o.Empty(to); err != nil {
			return err
		}
		if len(part) > outboxSize {
			_, err := to.Write(part)
			return err
		}
	}
	if o.page == nil {
		o.page = outboxes.Get().(*[outboxSize]byte)
		o.staged = o.page[:0]
	}
	o.staged = append(o.staged, part...)
	return nil
}

// Empty writes what is held.
func (o *Outbox) Empty(to Client) (err error) {
	switch {
	case o.lone != nil:
		_, err = to.Write(o.lone)
	case len(o.staged) > 0:
		_, err = to.Write(o.staged)
	}
	o.Drop()
	return err
}

// Held is what waits to be written.
func (o *Outbox) Held() []byte {
	if o.lone != nil {
		return o.lone
	}
	return o.staged
}

// Send is Empty, at once.
func (o *Outbox) Send(to Client) error {
	err := to.Send(o.Held())
	o.Drop()
	return err
}

// TrySend is Send that does not wait: to keeps what there is no room for.
func (o *Outbox) TrySend(to Parker) error {
	err := to.TrySend(o.Held())
	o.Drop()
	return err
}

// Drop lets go of what is held.
func (o *Outbox) Drop() {
	if o.page != nil {
		poison.Bytes(o.page[:])
		outboxes.Put(o.page)
	}
	o.lone, o.staged, o.page = nil, nil, nil
}

// Unbound makes the outbox hold whatever it is given until it is emptied, or ends that.
func (o *Outbox) Unbound(on bool) { o.unbound = on }
