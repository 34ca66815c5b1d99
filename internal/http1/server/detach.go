package server

import "octet/internal/http1/guard"

// Detach has f go on with the answer when the handler has returned, on a goroutine of its own: its stack is as deep as
// f needs it, where the handler's is deeper. The answer ends when f returns true; f may panic as a handler may. The
// connection belongs to f meanwhile: there is still one goroutine.
//
// When f returns false the answer is parked: it stays open and there is no goroutine, until Resume.
func (a *Answer) Detach(f func() (over bool)) { a.c.detached = f }

// Resume goes on with a parked answer by f, as Detach does. It is called once what was called before has returned
// false, or is about to without another look at the answer.
func (a *Answer) Resume(f func() (over bool)) {
	c := a.c
	go c.goOn(f)
}

// goOn is the rest of the connection's life after its handler has returned before its answer was whole.
func (c *conn) goOn(f func() (over bool)) {
	sound := false
	defer func() {
		if !sound {
			c.wreck()
		}
	}()
	defer c.server.Panics.End(guard.Connection, nil)
	c.goOnGuarded(f)
	sound = true
}

func (c *conn) goOnGuarded(f func() (over bool)) {
	over := true
	if !c.guard(func() { over = f() }) {
		c.abandon()
		c.end()
		return
	}
	if !over { // parked: the connection may be another goroutine's by now
		return
	}
	if !c.finish() {
		c.end()
		return
	}
	c.serve()
}
