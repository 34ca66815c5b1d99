package openai

import (
	"sync"
	"time"
)

// pool keeps the idle connections to one replica, the one used last on top, so that those not needed grow old and go.
// No goroutine: a timer runs while it holds any.
type pool struct {
	limit  int           // connections; none when negative
	maxAge time.Duration // an older one is closed

	mu     sync.Mutex
	idle   []*conn // by idleSince, oldest first; guarded by mu
	timer  *time.Timer
	timing bool // the timer will fire
	closed bool
}

// take returns the connection that was put last, nil when there is none that is young enough.
func (p *pool) take(at moment) *conn {
	p.mu.Lock()
	var c *conn
	var old []*conn
	if n := len(p.idle); n > 0 {
		c = p.idle[n-1]
		if at.since(c.idleSince) < p.maxAge {
			p.idle[n-1] = nil
			p.idle = p.idle[:n-1]
		} else {
			c, old, p.idle = nil, p.idle, nil // the rest is older still
		}
	}
	p.mu.Unlock()
	closeAll(old)
	return c
}

// put takes c over: it is kept, or closed where the pool is full or closed.
func (p *pool) put(c *conn, at moment) {
	c.idleSince = at
	p.mu.Lock()
	kept := !p.closed && len(p.idle) < p.limit
	if kept {
		p.idle = append(p.idle, c)
		p.arm(p.maxAge)
	}
	p.mu.Unlock()
	if !kept {
		c.close()
	}
}

// arm lets reap run in d, unless it will run already. Under mu.
func (p *pool) arm(d time.Duration) {
	switch {
	case p.timing:
		return
	case p.timer == nil:
		p.timer = time.AfterFunc(d, p.reap)
	default:
		p.timer.Reset(d)
	}
	p.timing = true
}

// reap closes what is too old, and comes back when the oldest of the rest will be.
func (p *pool) reap() {
	at := now()
	p.mu.Lock()
	p.timing = false
	n := 0
	for n < len(p.idle) && at.since(p.idle[n].idleSince) >= p.maxAge {
		n++
	}
	old := append([]*conn(nil), p.idle[:n]...)
	rest := copy(p.idle, p.idle[n:])
	clear(p.idle[rest:])
	p.idle = p.idle[:rest]
	if rest > 0 && !p.closed {
		p.arm(p.maxAge - at.since(p.idle[0].idleSince))
	}
	p.mu.Unlock()
	closeAll(old)
}

// close closes what is idle; what is put from now on is closed at once.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	closeAll(idle)
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}
