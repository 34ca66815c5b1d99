package zmqstream

import (
	"net"
	"sync"

	"octet/routing/events/zmtp"
)

// seat is the place of the one engine that is listened to, where engines dial.
type seat struct {
	mu   sync.Mutex
	conn *zmtp.Conn // nil: it is free
}

// take gives the seat to a connection, and ends the one that had it. It reports false where that is another host's,
// which keeps it.
func (s *seat) take(conn *zmtp.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && host(s.conn.RemoteAddr()) != host(conn.RemoteAddr()) {
		return false
	}
	if s.conn != nil {
		_ = s.conn.Close() // it has been replaced
	}
	s.conn = conn
	return true
}

// leave frees the seat where it is still that connection's.
func (s *seat) leave(conn *zmtp.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
	}
}

func host(a net.Addr) string {
	if name, _, err := net.SplitHostPort(a.String()); err == nil {
		return name
	}
	return a.String()
}
