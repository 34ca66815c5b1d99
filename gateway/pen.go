package gateway

import (
	"encoding/binary"
	"math"
)

// pen writes what is kept of a receipt at the end of b, and reads it from its beginning. What is read was written: it
// is not checked.
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

func (p *pen) text(s string) { p.b = putText(p.b, s) }

func putText(b []byte, s string) []byte {
	if len(s) < long {
		b = append(b, byte(len(s)))
	} else {
		b = le.AppendUint32(append(b, long), uint32(len(s)))
	}
	return append(b, s...)
}

func (p *pen) readText() string { return string(p.take(p.readCount())) }

// words writes three texts that are mostly empty.
func (p *pen) words(a, b, c string) {
	if a == "" && b == "" && c == "" {
		p.b = append(p.b, 0)
		return
	}
	p.b = append(p.b, 1)
	p.text(a)
	p.text(b)
	p.text(c)
}

func (p *pen) readWords() (a, b, c string) {
	if p.take(1)[0] != 0 {
		a, b, c = p.readText(), p.readText(), p.readText()
	}
	return a, b, c
}

// pair writes two numbers in a word.
func (p *pen) pair(a, b int) { p.b = le.AppendUint64(p.b, uint64(uint32(a))|uint64(b)<<32) }

func (p *pen) readPair() (a, b int) {
	n := p.readFigure()
	return int(int32(n)), int(int32(n >> 32))
}

// take returns the next n bytes.
func (p *pen) take(n int) []byte {
	taken := p.b[:n:n]
	p.b = p.b[n:]
	return taken
}
