package cmd

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// spread hands each connection of l to the next of the addresses until ctx ends, and then waits for the end of those
// that are open. It stands for the load balancer that real gateways have before them: it knows nothing of them.
func spread(ctx context.Context, l net.Listener, addresses []string) {
	var open sync.WaitGroup
	defer open.Wait()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var turn atomic.Uint64
	for {
		client, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		to := addresses[turn.Add(1)%uint64(len(addresses))]
		open.Go(func() { join(ctx, client, to) })
	}
}

// join carries what comes on one connection to the other, both ways, until both sides have ended. ctx bounds the
// dialling alone: a gateway that drains ends its connections itself.
func join(ctx context.Context, client net.Conn, to string) {
	defer client.Close()
	var dialer net.Dialer
	gateway, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return // the client sees its connection end
	}
	defer gateway.Close()
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, gateway}, {gateway, client}} {
		ways.Go(func() {
			if _, err := io.Copy(way[1], way[0]); err != nil {
				_, _ = client.Close(), gateway.Close() // a reset of one is the end of the other
				return
			}
			if half, ok := way[1].(*net.TCPConn); ok {
				_ = half.CloseWrite() // the other way may still be open
			}
		})
	}
	ways.Wait()
}
