package server

import "octet/internal/contain"

// Later has f called when the handler has returned, on a goroutine whose stack is as deep as f needs it and no deeper:
// what an answer that stays open for long keeps of the handler is what f keeps. The answer ends when f returns true; f
// may panic as a handler may. The connection is f's alone meanwhile: there is still one goroutine.
//
// When f returns false the answer stays open and there is no goroutine, until Again.
func (a *answer) Later(f func() (over bool)) { a.c.later = f }

// Again has f called as Later does, once what was called before has returned false, or is about to without another look
// at the answer.
func (a *answer) Again(f func() (over bool)) {
	c := a.c
	go c.carryOn(f)
}

// carryOn is what is left of the connection's life once its handler has returned before its answer was whole.
func (c *conn) carryOn(f func() (over bool)) {
	sound := false
	defer func() {
		if !sound {
			c.wreck()
		}
	}()
	defer contain.End(contain.Connection, nil)
	c.carry(f)
	sound = true
}

func (c *conn) carry(f func() (over bool)) {
	over := true
	if !c.guard(func() { over = f() }) {
		c.abandon()
		c.end()
		return
	}
	if !over { // and c is somebody else's by now
		return
	}
	if !c.finish() {
		c.end()
		return
	}
	c.serve()
}
