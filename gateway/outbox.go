package gateway

import (
	"net/http"
	"sync"

	"octet/gateway/conn"
	"octet/internal/poison"
)

// outbox holds what a stream has for its client until the engine has nothing more at hand, so that a burst of events
// goes out by one write. A lone event is held by reference and copied by nobody here.
type outbox struct {
	lone   []byte // the first, while it is alone: the engine's memory, see settle
	staged []byte // in page
	page   *[outboxSize]byte

	boundless bool // it holds whatever it is given, and writes only when it is emptied
}

const outboxSize = 32 << 10

// outboxes are used again: a page is its outbox's alone until drop, which follows on a write that has returned; nothing
// else is given it.
var outboxes = sync.Pool{New: func() any { return new([outboxSize]byte) }}

// put takes part, which must stay as it is until the next call of settle.
func (o *outbox) put(w http.ResponseWriter, part []byte) error {
	if o.lone == nil && len(o.staged) == 0 {
		o.lone = part
		return nil
	}
	if err := o.settle(w); err != nil {
		return err
	}
	return o.stage(w, part)
}

// settle makes the outbox independent of the memory that it was given.
func (o *outbox) settle(w http.ResponseWriter) error {
	if o.lone == nil {
		return nil
	}
	lone := o.lone
	o.lone = nil
	return o.stage(w, lone)
}

func (o *outbox) stage(w http.ResponseWriter, part []byte) error {
	if len(o.staged)+len(part) > outboxSize && !o.boundless {
		if err := o.empty(w); err != nil {
			return err
		}
		if len(part) > outboxSize {
			_, err := w.Write(part)
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

// empty writes what is held.
func (o *outbox) empty(w http.ResponseWriter) (err error) {
	switch {
	case o.lone != nil:
		_, err = w.Write(o.lone)
	case len(o.staged) > 0:
		_, err = w.Write(o.staged)
	}
	o.drop()
	return err
}

// held is what waits to be written.
func (o *outbox) held() []byte {
	if o.lone != nil {
		return o.lone
	}
	return o.staged
}

// send is empty, at once.
func (o *outbox) send(to conn.Writer) error {
	err := to.Send(o.held())
	o.drop()
	return err
}

// trySend is send that does not wait: to keeps what there is no room for.
func (o *outbox) trySend(to conn.Parker) error {
	err := to.TrySend(o.held())
	o.drop()
	return err
}

// drop lets go of what is held.
func (o *outbox) drop() {
	if o.page != nil {
		poison.Bytes(o.page[:])
		outboxes.Put(o.page)
	}
	o.lone, o.staged, o.page = nil, nil, nil
}
