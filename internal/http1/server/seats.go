package server

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"octet/internal/http1/guard"
)

// seats bound the connections of a server: all, and those of each address. Where all are taken, one that waits without
// a whole head makes room for a new one. Its fields are guarded by the server's mu, but for turned.
type seats struct {
	of      map[netip.Addr]int // without addresses that have none
	parting int                // connections that are making room, and are not gone yet
	turned  atomic.Int32       // connections that are being told why they are not served
	pace    Pace               // of connections that end
	refused Turned
}

// Turned is how many connections were not served.
type Turned struct {
	Full    uint64 // all places are taken
	Address uint64 // those of its address are
}

const (
	lookedAt   = 64 // connections at most are looked at for one that makes room
	mostTurned = 64 // connections at a time are told why they are not served; others are closed without a word
)

var (
	errSeats      = &refusal{503, "too many connections are open: limits.connections"}
	errParting    = &refusal{503, errSeats.text} // one is about to be free
	errSeatsOfOne = &refusal{503, "too many connections of this address are open: limits.connections_per_address"}
)

// seat counts c, or says why not. Under mu.
func (s *Server) seat(c *conn) *refusal {
	if most := s.MaxPerAddress; most > 0 && s.seats.of[c.source] >= most {
		return errSeatsOfOne
	}
	if most := s.MaxConnections; most > 0 && len(s.conns) >= most &&
		(len(s.conns) >= most+mostParting(most) || !s.makeRoom()) {
		if s.seats.parting > 0 {
			return errParting
		}
		return errSeats
	}
	if s.seats.of == nil {
		s.seats.of = map[netip.Addr]int{}
	}
	s.seats.of[c.source]++
	return nil
}

// mostParting is how many connections beyond the bound there may be at most, while those that make room are not gone
// yet.
func mostParting(most int) int { return min(max(most/8, 1), 64) }

// stays has a connection that was to make room not do so, as its request came first.
func (s *Server) stays(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.peer.And(^leaving)&leaving != 0 {
		s.seats.parting--
	}
}

// unseat is seat's end. Under mu.
func (s *Server) unseat(c *conn) {
	s.seats.pace.Freed(time.Now())
	if c.peer.And(^leaving)&leaving != 0 {
		s.seats.parting--
	}
	if s.seats.of[c.source]--; s.seats.of[c.source] <= 0 {
		delete(s.seats.of, c.source)
	}
}

// makeRoom has the connection leave that has waited for longest without a whole head, of some that are looked at. It
// returns false if none waits. Under mu.
func (s *Server) makeRoom() bool {
	var longest *conn
	looked, since := 0, int64(0)
	for _, c := range s.conns {
		at := c.waits.Load()
		if at != 0 && c.peer.Load()&leaving == 0 && (longest == nil || at < since) {
			longest, since = c, at
		}
		if looked++; looked == lookedAt {
			break
		}
	}
	if longest == nil {
		return false
	}
	longest.peer.Or(leaving)
	s.seats.parting++
	longest.wake()
	return true
}

// Bound sets MaxConnections and MaxPerAddress from now on. What is open stays.
func (s *Server) Bound(connections, perAddress int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.MaxConnections, s.MaxPerAddress = connections, perAddress
}

// Turned returns how many connections were not served.
func (s *Server) Turned() Turned {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seats.refused
}

// countTurned returns how long a connection that is not served had better wait; zero if that is unknown.
func (s *Server) countTurned(why *refusal) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why == errSeatsOfOne {
		s.seats.refused.Address++
	} else {
		s.seats.refused.Full++
	}
	return s.seats.pace.Wait(time.Now())
}

// turnAway answers a connection that has no seat, and closes it.
func (s *Server) turnAway(c *conn, why *refusal) {
	wait := s.countTurned(why)
	if s.seats.turned.Add(1) > mostTurned {
		s.seats.turned.Add(-1)
		_ = c.nc.Close() // never served
		return
	}
	go func() {
		defer s.seats.turned.Add(-1)
		defer c.wreck()
		defer s.Panics.End(guard.Connection, nil)
		c.refuseFor(why, nil, wait)
		c.sayGoodbye()
	}()
}

func sourceOf(addr net.Addr) netip.Addr {
	if addr == nil {
		return netip.Addr{}
	}
	return SourceOf(addr.String())
}

// SourceOf returns the address by which a connection counts, from its remote address: of IPv6 the network of 64 bits,
// since one host has all of it. It is zero if remote is no address.
func SourceOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	source := at.Addr().Unmap().WithZone("")
	if source.Is6() {
		network, _ := source.Prefix(64) // 64 bits are not too many
		return network.Addr()
	}
	return source
}
