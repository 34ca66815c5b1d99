package natsstream

import (
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// refusal is what the server has refused last without an answer to what asked for it, a connection included. Safe for
// concurrent use.
type refusal struct{ last atomic.Pointer[error] }

func (r *refusal) note(err error) {
	if err != nil {
		r.last.Store(&err)
	}
}

// because adds why something was not answered to an error that says only that it was not: there is no connection, or
// the server has refused something since the last call.
func (r *refusal) because(err error, conn *nats.Conn) error {
	if refused := r.last.Swap(nil); refused != nil {
		return fmt.Errorf("%w: %w", *refused, err)
	}
	if last := conn.LastError(); last != nil && !conn.IsConnected() {
		return fmt.Errorf("%w: %w", last, err)
	}
	return err
}
