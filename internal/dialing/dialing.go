// Package dialing says which addresses the gateway never connects to, whatever a name resolves to.
package dialing

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
)

// ErrLinkLocal is why a connection was not opened: link-local addresses are those of the machine's own surroundings,
// and no engine's. Those of clouds' metadata services are refused with them.
var ErrLinkLocal = errors.New("a link-local address")

// metadata are the addresses of clouds' metadata services that are not link-local: AWS, GCP, Azure, Alibaba, Oracle.
var metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192")}

// within are IPv6 prefixes of addresses whose last 32 bits are an IPv4 address that a packet may end at, beside the
// mapped ones: compatible, translated by a host, and by NAT64.
var within = []netip.Prefix{netip.MustParsePrefix("::/96"), netip.MustParsePrefix("::ffff:0:0:0/96"),
	netip.MustParsePrefix("64:ff9b::/96")}

// plain returns an address without its zone, and the IPv4 address in one that holds it.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if !slices.ContainsFunc(within, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return ip
	}
	last := ip.As16()
	return netip.AddrFrom4([4]byte(last[12:]))
}

// LinkLocal reports whether an IP address is refused: 169.254.0.0/16 or fe80::/10, or that of a cloud's metadata
// service; also as IPv6 writes an IPv4 one.
func LinkLocal(ip netip.Addr) bool {
	ip = plain(ip)
	return ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || slices.Contains(metadata, ip)
}

// Control is a net.Dialer's: it is asked with every address that a name has resolved to, before a packet is sent there.
func Control(network, address string, c syscall.RawConn) error {
	return (*Guard)(nil).Control(network, address, c)
}

// Guard is Control with addresses that are allowed all the same. Safe for concurrent use. A nil Guard allows none.
type Guard struct {
	allowed atomic.Pointer[[]netip.Prefix]
}

// Allow has the guard let through what is refused otherwise, if it lies in one of the prefixes, from now on.
func (g *Guard) Allow(prefixes []netip.Prefix) { g.allowed.Store(&prefixes) }

// Control is a net.Dialer's.
func (g *Guard) Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && LinkLocal(at.Addr()) && !g.lets(at.Addr()) {
		return fmt.Errorf("dial %s: %w", address, ErrLinkLocal)
	}
	return nil
}

func (g *Guard) lets(ip netip.Addr) bool {
	if g == nil || g.allowed.Load() == nil {
		return false
	}
	return Within(*g.allowed.Load(), ip)
}

// Within reports whether a refused IP address lies in one of the prefixes.
func Within(prefixes []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(plain(ip)) })
}
