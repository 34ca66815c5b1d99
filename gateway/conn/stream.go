package conn

import (
	"net/http"
	"sync"
	"time"
)

// stream is a stream of HTTP/2. When its deadline for writes passes, net/http resets it, whether something is being
// written or not. Here the deadline binds writes alone, as over HTTP/1.1: a stream may be silent for longer.
type stream struct {
	std
	until time.Time // writes may wait until then; zero means no limit

	late *time.Timer // nil before the first write with a deadline

	mu   sync.Mutex
	ends time.Time // of the write at hand, while the handler has not returned; zero without one; guarded by mu
}

var _ Conn = (*stream)(nil)

// SetWriteDeadline implements Writer.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.until = t
	return nil
}

// Write implements http.ResponseWriter.
func (s *stream) Write(p []byte) (int, error) {
	s.begin()
	defer s.end()
	return s.std.Write(p)
}

// Send implements Writer.
func (s *stream) Send(p []byte) error {
	s.begin()
	defer s.end()
	return s.std.Send(p)
}

// TrySend implements Parker, for an answer that is never parked.
func (s *stream) TrySend(p []byte) error { return s.Send(p) }

// begin has the stream reset unless end is called in time.
func (s *stream) begin() {
	if s.until.IsZero() {
		return
	}
	s.mu.Lock()
	s.ends = s.until
	s.mu.Unlock()
	if wait := time.Until(s.until); s.late == nil {
		s.late = time.AfterFunc(wait, s.reset)
	} else {
		s.late.Reset(wait)
	}
}

func (s *stream) end() {
	if s.late == nil {
		return
	}
	s.late.Stop()
	s.mu.Lock()
	s.ends = time.Time{}
	s.mu.Unlock()
}

// reset has the write fail that waits.
func (s *stream) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ends.IsZero() && !time.Now().Before(s.ends) {
		_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(past) // HTTP/2 has deadlines
	}
}
