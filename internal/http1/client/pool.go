package client

import (
	"sync"
	"time"
)

// pool keeps the idle connections to one replica, the one used last on top, so that those not needed grow old and go.
// No goroutine, and no clock is read: a timer runs while it holds any, and counts.
type pool struct {
	mu     sync.Mutex
	top    *conn // above the one that was put before it; nil for the first. Guarded by mu
	count  int
	limit  int    // of count; none when negative
	ticks  uint32 // of the timer: maxAge has ageTicks of them
	timing bool   // the timer will fire
	closed bool
	timer  *time.Timer
	maxAge time.Duration // when one that is older has gone
}

const ageTicks = 8

// take returns the connection that was put last, nil if the pool is empty.
func (p *pool) take() *conn {
	p.mu.Lock()
	c := p.top
	if c != nil {
		p.top, c.below = c.below, nil
		p.count--
	}
	p.mu.Unlock()
	return c
}

// put takes c over: it is kept, or closed where the pool is full or closed.
func (p *pool) put(c *conn) {
	c.reused = true
	p.mu.Lock()
	kept := !p.closed && p.count < p.limit
	if kept {
		c.below, c.ticks, p.top = p.top, p.ticks, c
		p.count++
		if !p.timing {
			p.arm()
		}
	}
	p.mu.Unlock()
	if !kept {
		c.close()
	}
}

// arm lets tick run. Under mu.
func (p *pool) arm() {
	after := max(p.maxAge/ageTicks, time.Millisecond)
	if p.timing = true; p.timer == nil {
		p.timer = time.AfterFunc(after, p.tick)
		return
	}
	p.timer.Reset(after)
}

// tick closes what would be too old at the next one, and comes back while there is a rest.
func (p *pool) tick() {
	p.mu.Lock()
	p.ticks++
	young := &p.top
	for *young != nil && p.ticks-(*young).ticks < ageTicks {
		young = &(*young).below
	}
	old := p.cut(young)
	if p.timing = false; p.count > 0 && !p.closed {
		p.arm()
	}
	p.mu.Unlock()
	closeAll(old)
}

// cut takes what is at a place and all below it. Under mu.
func (p *pool) cut(place **conn) *conn {
	below := *place
	*place = nil
	for c := below; c != nil; c = c.below {
		p.count--
	}
	return below
}

// close closes what is idle; what is put from now on is closed at once.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.cut(&p.top)
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	closeAll(idle)
}

// closeAll closes c and all below it.
func closeAll(c *conn) {
	for c != nil {
		below := c.below
		c.below = nil
		c.close()
		c = below
	}
}
