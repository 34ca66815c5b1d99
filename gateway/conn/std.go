package conn

import (
	"net/http"
	"time"
)

// std is a connection of net/http's server, or of any that is not ours.
type std struct{ http.ResponseWriter }

var _ Conn = (*std)(nil)

var past = time.Unix(1, 0)

// Began implements Head.
func (*std) Began() time.Time { return time.Time{} }

// Fields implements Head.
func (*std) Fields() (names, values []string, ok bool) { return nil, nil, false }

// AtHand implements Body.
func (*std) AtHand() bool { return false }

// Lend implements Body.
func (*std) Lend() ([]byte, bool) { return nil, false }

// Interrupt implements Body.
func (s *std) Interrupt() { _ = s.SetReadDeadline(past) } // without deadlines the read waits on

// SetReadDeadline implements Body.
func (s *std) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(s.ResponseWriter).SetReadDeadline(t)
}

// Start implements Writer.
func (s *std) Start(status int, length int64, lines []byte) {
	start(s.ResponseWriter, status, length, lines)
}

// Send implements Writer.
func (s *std) Send(p []byte) error { return send(s.ResponseWriter, p) }

// SetWriteDeadline implements Writer.
func (s *std) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(s.ResponseWriter).SetWriteDeadline(t)
}

// Detach implements Parker.
func (*std) Detach(func() (over bool)) bool { return false }

// CanPark implements Parker.
func (*std) CanPark() bool { return false }

// TrySend implements Parker, for an answer that is never parked.
func (s *std) TrySend(p []byte) error { return s.Send(p) }

// Resume implements Parker, for an answer that is never parked.
func (*std) Resume(func() (over bool)) { panic("conn: Resume of an answer that cannot be parked") }
