package tiny

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"octet/kvpool"
)

// ErrTransfer is the sentinel of bytes that are no Snapshot of this model.
var ErrTransfer = errors.New("tiny: not the keys and values of this model")

// Tokens returns how many positions s holds.
func (s *Snapshot) Tokens() int { return len(s.tokens) }

// AppendBinary appends s for another engine of the same model. A hybrid's state is not part of it: hybrids share
// nothing.
func (s *Snapshot) AppendBinary(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.tokens)))
	for _, t := range s.tokens {
		dst = binary.LittleEndian.AppendUint32(dst, t)
	}
	for l := range layers {
		dst = appendRows(appendRows(dst, s.keys[l]), s.values[l])
	}
	return dst
}

func appendRows(dst []byte, rows [][kvWidth]float32) []byte {
	for i := range rows {
		for _, x := range rows[i] {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return dst
}

// ReadSnapshot is the inverse of AppendBinary. It takes nothing but whole snapshots of a model that is no hybrid.
func ReadSnapshot(b []byte) (*Snapshot, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("%w: %d bytes", ErrTransfer, len(b))
	}
	n := int(binary.LittleEndian.Uint32(b))
	if want := 4 + int64(n)*(4+TokenBytes(false)); int64(len(b)) != want {
		return nil, fmt.Errorf("%w: %d bytes for %d tokens, want %d", ErrTransfer, len(b), n, want)
	}
	s := &Snapshot{tokens: make([]uint32, n)}
	b = b[4:]
	for i := range s.tokens {
		s.tokens[i], b = binary.LittleEndian.Uint32(b), b[4:]
	}
	for l := range layers {
		s.keys[l], b = readRows(b, n)
		s.values[l], b = readRows(b, n)
	}
	return s, nil
}

func readRows(b []byte, n int) (rows [][kvWidth]float32, rest []byte) {
	rows = make([][kvWidth]float32, n)
	for i := range rows {
		for j := range rows[i] {
			rows[i][j], b = math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:]
		}
	}
	return rows, b
}

// Import puts positions from … to-1 of s, which another engine of the model computed, into the blocks of table.
func (e *Engine) Import(table []kvpool.BlockID, s *Snapshot, from, to int) {
	c := e.cache
	for at := from; at < to; at++ {
		cell := c.cell(table, at)
		c.tokens[cell] = s.tokens[at]
		for l := range layers {
			c.keys[l][cell], c.values[l][cell] = s.keys[l][at], s.values[l][at]
		}
	}
}
