package gateway

import (
	"encoding/binary"
	"math"
)

// pen writes what is kept of a receipt at the end of b, and reads it from its beginning. What is read was written: it is not checked.
type pen struct{ b []byte }

var le = binary.LittleEndian

// long is the least number that a byte alone does not say.
const long = 0xff

// count writes a number from 0 on that is mostly small.
func (p *pen) count(n int) {
	if n < long {
		p.b = append(p.b, byte(n))
		return
	}
	p.b = le.AppendUint32(append(p.b, long), uint32(min(n, math.MaxUint32)))
}

func (p *pen) readCount() int {
	if n := p.take(1)[0]; n < long {
		return int(n)
	}
	return int(le.Uint32(p.take(4)))
}

func (p *pen) figure(n uint64) { p.b = le.AppendUint64(p.b, n) }

func (p *pen) readFigure() uint64 { return le.Uint64(p.take(8)) }

func (p *pen) text(s string) {
	p.count(len(s))
	p.b = append(p.b, s...)
}

func (p *pen) readText() string { return string(p.take(p.readCount())) }

// take returns the next n bytes.
func (p *pen) take(n int) []byte {
	taken := p.b[:n:n]
	p.b = p.b[n:]
	return taken
}
