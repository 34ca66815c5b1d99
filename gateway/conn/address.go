package conn

import "net/netip"

// AddressOf returns the address by which a client's connection counts, from its remote address: of IPv6 the network of
// 64 bits, since one host has all of it. It is zero if remote is no address.
func AddressOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is6() {
		net, _ := addr.Prefix(64) // an IPv6 address has 128 bits
		return net.Addr()
	}
	return addr
}
