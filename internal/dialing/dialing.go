// Package dialing says which addresses the gateway never connects to, whatever a name resolves to.
package dialing

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ErrLinkLocal is why a connection was not opened: link-local addresses are those of the machine's own surroundings,
// such as a cloud's metadata service, and no engine's.
var ErrLinkLocal = errors.New("a link-local address")

// LinkLocal reports whether an IP address is link-local: 169.254.0.0/16 or fe80::/10, also as IPv6 writes the former.
func LinkLocal(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast()
}

// Control is a net.Dialer's: it is asked with every address that a name has resolved to, before a packet is sent there.
func Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && LinkLocal(at.Addr()) {
		return fmt.Errorf("dial %s: %w", address, ErrLinkLocal)
	}
	return nil
}
