package cmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"octet/gateway/front"
)

// stopMargin is what a gateway may take to end beyond limits.drain and limits.stop.
const stopMargin = 5 * time.Second

// supervise tells the service manager that the gateway is ready, that it is alive as long as every listener answers,
// and that it stops as soon as ctx ends. The caller calls end when the gateway has ended.
func (g *begun) supervise(ctx context.Context) (end func()) {
	ended, cancel := context.WithCancel(context.Background())
	var telling sync.WaitGroup
	telling.Go(func() {
		g.unit.Watch(ended, func(ctx context.Context) error { return alive(ctx, g.watched...) })
	})
	telling.Go(func() {
		select {
		case <-ctx.Done():
			limits := &g.Config().Limits
			g.unit.Stopping(limits.Drain + limits.Stop + stopMargin)
		case <-ended.Done():
		}
	})
	g.unit.Ready()
	return func() {
		cancel()
		telling.Wait()
	}
}

// watched is a listener that is asked for a sign of life.
type watched struct {
	net.Addr
	tls  bool
	told *front.Watched // told that a question is this program's own; nil if there is nothing to tell
}

// alive returns nil if each listener shows a sign of life.
func alive(ctx context.Context, listeners ...watched) error {
	for _, l := range listeners {
		if err := l.reacts(ctx); err != nil {
			return fmt.Errorf("no answer at %s: %w", l, err)
		}
	}
	return nil
}

// reacts returns nil if a listener accepts a connection and then answers on it or ends it: a gateway that refuses
// because of its load, or that demands a client's certificate, is alive. Silence and a closed port are no life.
func (l watched) reacts(ctx context.Context) error {
	at := reachable(l.Addr)
	tcp, err := new(net.Dialer).DialContext(ctx, "tcp", at)
	if err != nil {
		return err
	}
	defer tcp.Close()
	if until, limited := ctx.Deadline(); limited {
		_ = tcp.SetDeadline(until) // a TCP connection has deadlines
	}
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Now()) })
	defer stop()
	conn := tcp
	if l.told != nil {
		l.told.Asks(tcp.LocalAddr())
	}
	if l.tls { // the certificate may be for any name, and of any authority: it is this program's own
		conn = tls.Client(tcp, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	}
	_, err = fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", at)
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.told.Ended(tcp.LocalAddr())
		return err
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
