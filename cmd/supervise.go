package cmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"octet/app"
	"octet/internal/systemd"
)

// stopMargin is what a gateway may take to end beyond limits.drain and limits.stop.
const stopMargin = 5 * time.Second

// supervise tells the service manager that the gateway is ready, that it is alive as long as both listeners answer,
// and that it stops as soon as ctx ends. The caller calls end when the gateway has ended.
func supervise(ctx context.Context, unit *systemd.Unit, a *app.App, data, admin net.Addr) (end func()) {
	ended, cancel := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	telling.Go(func() {
		unit.Watch(ended, func(ctx context.Context) error { return alive(ctx, data, admin) })
	})
	telling.Go(func() {
		select {
		case <-ctx.Done():
			limits := &a.Config().Limits
			unit.Stopping(limits.Drain + limits.Stop + stopMargin)
		case <-ended.Done():
		}
	})
	unit.Ready()
	return func() {
		cancel()
		telling.Wait()
	}
}

// alive returns nil if an HTTP server answers at every address. What it answers does not matter: a gateway that
// refuses because of its load is alive, and so is one that wants TLS.
func alive(ctx context.Context, addresses ...net.Addr) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: stay}
	for _, addr := range addresses {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(addr)+"/livez", nil)
		if err != nil {
			return fmt.Errorf("asking %s: %w", addr, err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return fmt.Errorf("no answer at %s: %w", addr, err)
		}
		_ = resp.Body.Close() // what it says is not read
	}
	return nil
}

// reachable is addr, by loopback where it is every interface.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	host := "127.0.0.1"
	if tcp.IP.To4() == nil {
		host = "::1"
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}
