package picker

import "time"

// keep keeps a piece of the body for pass. Beyond what all calls may keep, this one keeps nothing any more.
func (c *call) keep(piece []byte) {
	if !c.keeps {
		return
	}
	c.kept = append(c.kept, piece)
	if held := c.held.Add(int64(len(piece))); c.mostHeld > 0 && held > c.mostHeld {
		c.forget()
		c.keeps = false
	}
}

// forget gives back what is kept.
func (c *call) forget() {
	for _, piece := range c.kept {
		c.held.Add(-int64(len(piece)))
	}
	c.kept = nil
}

// pass sends a request on as it came, to an endpoint, and its answer back as it comes. The line has failed with it.
func (c *call) pass(to string) error {
	if err := c.send(headed(to, nil, nil), time.Time{}); err != nil {
		return err
	}
	for i, piece := range c.kept {
		last := c.whole && !c.trailers && i == len(c.kept)-1
		if err := c.send(requestPiece(piece, last), time.Time{}); err != nil {
			return err
		}
	}
	c.forget()
	if c.trailers {
		if err := c.send(requestTrailers(), time.Time{}); err != nil {
			return err
		}
	}
	for {
		m, err := c.next(c.ctx, time.Time{})
		if err != nil {
			return err
		}
		echo, last := echoOf(m)
		if echo == nil {
			return c.misplaced(m, "what is passed on")
		}
		if err := c.send(echo, time.Time{}); err != nil || last {
			return err
		}
	}
}
