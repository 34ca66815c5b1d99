package conn

import (
	"net/netip"

	"octet/internal/http1/server"
)

// AddressOf returns the address by which a client's connection counts, whichever server has it.
func AddressOf(remote string) netip.Addr { return server.SourceOf(remote) }
