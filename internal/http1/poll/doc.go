// Package poll waits for many descriptors at once, over epoll.
//
// A Loop calls the owner of each descriptor in place, one after the other, on one goroutine: a stream that waits costs
// no stack, and bytes that come cost no switch of goroutines. A Watch reports only that a peer has hung up.
//
//  1. A Stream belongs to its Loop from Add until End is called, once. Nothing else touches it, or closes its
//     descriptor, meanwhile.
//  2. A turn of a Stream is one read, so that none starves another; it never waits.
//  3. A panic in a turn ends its Stream alone.
//  4. A Watch reports each connection's end once, after it has happened and never before.
//  5. A Loop or a Watch holds one descriptor and one goroutine, however many connections it has.
package poll

import (
	"errors"
	"fmt"
	"time"
)

// Stream is what a Loop waits for.
type Stream interface {
	// Ready reads once, into page, which is its own during the call, and handles what came. hung says that the peer has
	// closed its side, or reset: then it is called until it leaves.
	Ready(page []byte, hung bool) Next

	// End is called when the stream has left; why is nil where that was its own decision. It must not wait.
	End(why error)
}

// Next is what a Stream wants after its turn.
type Next uint8

// What a Stream may want.
const (
	Wait  Next = iota // to be called when more has come
	More              // another turn, for there may be more
	Leave             // to be called no more
)

// Why a Stream that has not left by itself is ended.
var (
	ErrIdle   = errors.New("poll: nothing came in time")
	ErrClosed = errors.New("poll: the loop is closed")
)

// Panic is why a Stream ends whose turn has panicked.
type Panic struct {
	Value any
	Stack []byte
}

// Error implements error.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Panicked says that this is a panic, contained.
func (p *Panic) Panicked() any { return p.Value }

// PageSize is what one turn reads at most, in bytes.
const PageSize = 32 << 10

// Sweep is how often the loop looks for streams that have been silent for too long; idle timeouts strike up to two of
// them late.
const Sweep = 100 * time.Millisecond
