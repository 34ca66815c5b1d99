package server

import (
	"net/http"
	"time"
)

// An Answer also knows the request that it answers, as it lies in the connection's memory.

// IsTo returns true if r, which a handler has, still has the body that came with the request that is answered.
func (a *Answer) IsTo(r *http.Request) bool { return r.Body == a.c.req.Body }

// Fields returns the request's header without its map: names, and their values beside them. It returns false if that
// would not tell all. It is what came, whatever a handler has made of the map.
func (a *Answer) Fields() (names, values []string, ok bool) {
	c := a.c
	return c.names, c.values, !c.twice && len(c.values) == len(c.header)
}

// AtHand returns true if the whole body was received: reading it cannot wait.
func (a *Answer) AtHand() bool { return a.c.body.atHand() }

// Lend returns all of the body if it was received and nothing of it was read. It lies in the connection's buffer, and
// is the handler's until that returns. Lend returns false if the body is to be read: it is not at hand, or much shorter
// than the buffer that it would hold.
func (a *Answer) Lend() ([]byte, bool) { return a.c.body.lend() }

// Interrupt has a read that waits for more of the body fail, and the next one that would wait, with
// os.ErrDeadlineExceeded. Any goroutine may call it while the handler runs.
func (a *Answer) Interrupt() {
	a.c.peer.Or(interrupted)
	a.c.wake()
}

// SetReadDeadline bounds how long reads of the request's body wait; zero means no limit.
func (a *Answer) SetReadDeadline(t time.Time) error {
	a.c.limit = t
	return nil
}
