package gateway

import (
	"sync"

	"octet/classifier"
	"octet/gateway/wire"
	"octet/internal/poison"
)

// question is what the client sent and what is made of it for an engine. A stream that has begun has no more use for
// it.
type question struct {
	body     []byte // as received: in room, or the server's until the handler returns
	room     []byte
	req      wire.Request
	turns    []wire.Turn
	asTurns  []classifier.Turn
	prompt   [][]byte // in pieces
	segments [][]byte // the body as the engine gets it
	marks    []mark   // the beginnings by which its conversation is looked for
	counted  int64    // bytes of the body that count among those that are held
}

// questions are used again: an engine's client is done with the body when its Do has returned, and whatever else
// outlives the handler (a shadow, a leg beside the last one, a receipt, a stream that could be resumed) has copied what
// it keeps.
var questions = sync.Pool{New: func() any { return new(question) }}

// dropQuestion lets go of the body. Only the buffers are kept, for another request.
func (x *exchange) dropQuestion() {
	q := x.question
	if q == nil {
		return
	}
	x.question = nil
	x.s.bodies.Add(-q.counted)
	q.wipe()
	questions.Put(q)
}

// wipe leaves nothing but room.
func (q *question) wipe() {
	q.counted = 0
	clear(q.prompt)
	clear(q.segments)
	clear(q.turns)
	clear(q.asTurns)
	q.req.Reset()
	q.body, q.room, q.turns, q.asTurns, q.marks = nil, reuse(q.room), q.turns[:0], q.asTurns[:0], q.marks[:0]
	q.prompt, q.segments = q.prompt[:0], q.segments[:0]
	poison.Bytes(q.room)
	poison.Values(q.marks)
}

// keepBuffer is the largest buffer that stays in the pool, in bytes; larger ones go back to the collector.
const keepBuffer = 256 << 10

func reuse(buf []byte) []byte {
	if cap(buf) > keepBuffer {
		return nil
	}
	return buf[:0]
}
