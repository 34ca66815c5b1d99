package client

import (
	"sync"
	"time"

	"octet/internal/http1/guard"
	"octet/internal/http1/poll"
)

// hangups tells connections of a Client when their engine has closed or reset them: those on which a goroutine has
// waited for the rest of a stream. No other needs it, and each arrival on a watched one costs the kernel a look at two
// lists. It runs while there are any.
type hangups struct {
	panics guard.Report

	mu    sync.Mutex
	watch *poll.Watch      // nil without connections, or where it cannot be had
	conns map[uint64]*conn // by id
	last  uint64           // id
}

// add watches c, which is read lazily, until it is closed, where that can be done.
func (h *hangups) add(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watch == nil {
		w, err := poll.NewWatch(h.left, h.panics)
		if err != nil {
			return // what could be told by a watch is asked for in vain at each read
		}
		h.watch, h.conns = w, map[uint64]*conn{}
	}
	h.last++
	c.id, c.hangups = h.last, h
	h.conns[c.id] = c
	c.watched = h.watch.Add(c.raw, c.id)
}

// drop forgets c.
func (h *hangups) drop(c *conn) {
	h.mu.Lock()
	delete(h.conns, c.id)
	unused := h.watch
	if len(h.conns) > 0 {
		unused = nil
	} else {
		h.watch = nil
	}
	h.mu.Unlock()
	if unused != nil {
		unused.Close() // which waits for a report under way
	}
}

// left is told by the watch.
func (h *hangups) left(id uint64) {
	h.mu.Lock()
	c := h.conns[id]
	h.mu.Unlock()
	if c != nil {
		c.gone.Store(true)
		_ = c.nc.SetReadDeadline(time.Unix(1, 0)) // ends the wait of the reader, which finds out what has happened
	}
}
