package front

// Later has f called when the handler has returned, on a goroutine whose stack is as deep as f needs it and no deeper: what an
// answer that stays open for long keeps of the handler is what f keeps. The answer ends when f returns; f may panic as a
// handler may. The connection is f's alone meanwhile: there is still one goroutine.
func (a *answer) Later(f func()) { a.c.later = f }

// carryOn is what is left of the connection's life once its handler has returned before its answer was whole.
func (c *conn) carryOn() {
	f := c.later
	c.later = nil
	if !c.guard(f) {
		c.abandon()
		c.end()
		return
	}
	if !c.finish() {
		c.end()
		return
	}
	c.serve()
}
