package server

import (
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"octet/internal/http1/guard"
)

// handle answers the request that was parsed, and reports whether the connection goes on.
func (c *conn) handle() bool {
	c.waits.Store(0)
	if c.peer.Load()&leaving != 0 {
		c.server.stays(c)
	}
	c.answer.begin(c.last || c.leaves())
	c.inHead, c.resting, c.limit = false, false, time.Time{}
	c.writeBy = after(c.answer.began, c.server.WriteTimeout)
	switch {
	case c.body.whole():
		c.release()
	case !c.body.atHand():
		c.deferHangup()
	}
	whole := c.guard(c.call)
	if c.lent {
		c.lent = false
		c.release()
	}
	if !whole {
		c.detached = nil
		c.abandon()
		return false
	}
	return c.detached != nil || c.finish()
}

// guard runs f. It reports false where that gave up its answer by a panic, http.ErrAbortHandler or another.
func (c *conn) guard(f func()) (ok bool) {
	defer func() {
		if ok {
			return
		}
		if p := recover(); p != nil && p != any(http.ErrAbortHandler) {
			if c.server.Panics != nil { // else it is logged here alone
				c.server.Panics(guard.Request, p)
			}
			c.server.logf("front: panic serving %s: %v\n%s", c.req.RemoteAddr, p, debug.Stack())
		}
	}()
	f()
	return true
}

// call runs the handler.
func (c *conn) call() {
	if c.req.RequestURI == "*" && c.req.Method == http.MethodOptions {
		c.answerOptions()
		return
	}
	c.server.Handler.ServeHTTP(&c.answer, c.req)
}

// mostOptions is what is read of a body that OPTIONS * has no use for, in bytes.
const mostOptions = 4 << 10

// answerOptions answers a question about the server itself as net/http does.
func (c *conn) answerOptions() {
	c.limit = after(c.answer.began, c.server.ReadHeaderTimeout) // no handler bounds it
	if _, err := io.CopyN(io.Discard, c.req.Body, mostOptions+1); err == nil {
		c.answer.closing = true
	}
	c.answer.header["Content-Length"] = []string{"0"}
}

// finish ends the answer and makes room for the next request, if there is to be one.
func (c *conn) finish() bool {
	a := &c.answer
	c.body.closed = true
	if c.body.tooMuch() && !c.body.whole() {
		a.closing = true
	}
	a.finish()
	if !c.body.whole() {
		c.limit = after(time.Now(), c.server.ReadHeaderTimeout)
	}
	if a.err != nil || a.unlike() {
		return false
	}
	if a.closing {
		c.linger = !c.body.whole() || c.r < c.w
		return false
	}
	if !c.body.discard() {
		c.linger = true
		return false
	}
	if c.peer.Load()&bodyDue != 0 {
		c.peer.And(^bodyDue)
	}
	return !c.leaves()
}

// deferHangup keeps the context alive, though the client may hang up, until the body is read: its reader gets the error
// itself.
func (l *link) deferHangup() { l.peer.Or(bodyDue) }

// allowHangup ends what deferHangup began: the context ends now if the client has hung up meanwhile.
func (l *link) allowHangup() {
	if l.peer.Load()&bodyDue != 0 && l.peer.And(^bodyDue)&gone != 0 {
		l.ctx.Cancel(nil)
	}
}

// abandon makes sure that an answer that was given up does not look like a whole one.
func (c *conn) abandon() {
	c.body.closed = true
	if reset, ok := c.nc.(lingerer); ok && c.answer.untilClose() {
		_ = reset.SetLinger(0) // fails on a closed connection
	}
}
