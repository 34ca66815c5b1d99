package zmqstream

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy carries connections to one address, and can cut them.
type proxy struct {
	l    net.Listener
	to   string
	mu   sync.Mutex
	open []net.Conn
	done sync.WaitGroup
}

func startProxy(t *testing.T, to net.Addr) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, to: to.String()}
	p.done.Go(p.run)
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
		p.done.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.l.Addr().String() }

func (p *proxy) run() {
	for {
		a, err := p.l.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = a.Close()
			continue
		}
		p.mu.Lock()
		p.open = append(p.open, a, b)
		p.mu.Unlock()
		p.done.Go(func() { _, _ = io.Copy(a, b); _ = a.Close() })
		p.done.Go(func() { _, _ = io.Copy(b, a); _ = b.Close() })
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

// subscribed returns how many subscribers a publisher has that want everything.
func subscribed(p *Publisher) (n int) {
	p.peers.mu.Lock()
	defer p.peers.mu.Unlock()
	for s := range p.peers.subscribers {
		if s.wants(p.config.Topic) {
			n++
		}
	}
	return n
}
