package server

import "time"

// left is told by the watch, on its goroutine, that the peer has closed its side.
func (c *conn) left() {
	if c.peer.Or(gone)&owing == 0 {
		c.ctx.Cancel(nil)
	}
	c.wake()
}

// wake has who waits for bytes look again whether to: the connection's goroutine finds out the truth by reading.
func (c *conn) wake() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) } // fails on a closed connection

// cut ends the connection from elsewhere, and does not wait for its handler: closing the descriptor would.
func (c *conn) cut() {
	c.peer.Or(closes)
	c.ctx.Cancel(nil)
	_ = c.nc.SetDeadline(time.Unix(1, 0)) // fails on a closed connection
	switch both := c.nc.(type) {
	case interface {
		CloseRead() error
		CloseWrite() error
	}:
		_, _ = both.CloseRead(), both.CloseWrite() // likewise; its goroutine does the rest
	default:
		_ = c.nc.Close() // its goroutine closes it again
	}
}
