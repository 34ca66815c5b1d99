package server

import "time"

// left is told by the watch, on its goroutine, that the peer has closed its side.
func (l *link) left() {
	if l.peer.Or(gone)&bodyDue == 0 {
		l.ctx.Cancel(nil)
	}
	l.wake()
}

// wake ends a wait for bytes, so that the connection's goroutine reads and finds out what has happened.
func (l *link) wake() { _ = l.nc.SetReadDeadline(time.Unix(1, 0)) } // fails on a closed connection

// cut ends the connection from elsewhere, and does not wait for its handler: closing the descriptor would.
func (l *link) cut() {
	l.peer.Or(closes)
	l.ctx.Cancel(nil)
	_ = l.nc.SetDeadline(time.Unix(1, 0)) // fails on a closed connection
	switch both := l.nc.(type) {
	case bothCloser:
		_, _ = both.CloseRead(), both.CloseWrite() // likewise; its goroutine does the rest
	default:
		_ = l.nc.Close() // its goroutine closes it again
	}
}
