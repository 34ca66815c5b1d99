package slo

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// remember is how long a class of priority counts as one that asks: between one and two of it.
const remember = 10 * time.Second

// classes knows which priorities have lately asked: a bit each, in two halves that take turns. note takes no lock; the
// rest is called under the owner's.
type classes struct {
	halves [2][4]atomic.Uint64
	now    atomic.Uint32 // the half that is written
	turned time.Time
}

// note notes that a priority from -100 to 100 asked; others count as the nearest.
func (c *classes) note(priority int) {
	at := min(max(priority-LeastPriority, 0), 255)
	word := &c.halves[c.now.Load()&1][at/64]
	if bit := uint64(1) << (at % 64); word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// turn forgets what is older than two halves.
func (c *classes) turn(now time.Time) {
	for range 2 {
		if now.Sub(c.turned) < remember {
			return
		}
		if c.turned = c.turned.Add(remember); now.Sub(c.turned) >= 2*remember {
			c.turned = now
		}
		next := (c.now.Load() + 1) & 1
		for i := range c.halves[next] {
			c.halves[next][i].Store(0)
		}
		c.now.Store(next)
	}
}

func (c *classes) word(i int) uint64 { return c.halves[0][i].Load() | c.halves[1][i].Load() }

// above returns the floor that shuts out one class more than floor does: the second of the classes that pass it now.
// Where fewer than two pass, floor.
func (c *classes) above(floor int) int {
	passing := 0
	for at := max(floor-LeastPriority, 0); at < 256; at++ {
		if c.word(at/64)>>(at%64)&1 == 0 {
			continue
		}
		if passing++; passing == 2 {
			return at + LeastPriority
		}
	}
	return floor
}

// below returns the floor that lets one class more pass than floor does, LeastPriority if no class would be left
// outside.
func (c *classes) below(floor int) int {
	at := floor - LeastPriority - 1
	for i := at / 64; i >= 0 && at >= 0; i-- {
		w := c.word(i)
		if i == at/64 {
			w &= 1<<(at%64+1) - 1
		}
		if w != 0 {
			return c.lowest(i*64 + bits.Len64(w) - 1)
		}
	}
	return LeastPriority
}

// lowest is the floor of the class at, LeastPriority where no class is below it.
func (c *classes) lowest(at int) int {
	for i := range at {
		if c.word(i/64)>>(i%64)&1 != 0 {
			return at + LeastPriority
		}
	}
	return LeastPriority
}
