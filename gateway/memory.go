package gateway

import (
	"time"

	"octet/classifier"
	"octet/engine"
	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/routing"
	"octet/slo"
)

// memory is what one exchange leaves to the next that has its place in the pool: room, and nothing that is told by it.
type memory struct {
	resting *routing.Context // nil is none
	draft   Receipt          // until it is put away
	result  Result           // of a request without a receipt
	turn    turn             // of nobody, but within an exchange
	spent   engine.Response  // closed, for the next answer's memory; nil is none
	past    past
	scanner sse.Scanner
	gaps    slo.Gaps // of a stream
	held    []turn   // places of earlier steps, kept for the last one's first token
	answer  []byte   // a unary answer
	undo    []func() // run last to first by end
	head    fields   // of the answer
	ids     string   // that nobody has yet
	calls   calls
}

// calls are methods as others call them, made once for the life of an exchange's memory.
type calls struct {
	since  func() time.Duration
	render func(dst []byte) []byte
	pieces func() [][]byte
	member func(name string) []byte
	retry  func() bool
}

// question is what the client sent and what is made of it for an engine. A stream that has begun has no more use for it.
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

// idsAtOnce is how many ids are made at a time: whoever keeps one keeps all of them, and receipts keep most.
const idsAtOnce = 16

func (m *memory) freshID() string {
	if m.ids == "" {
		m.ids = newIDs(idsAtOnce)
	}
	id := m.ids[:idLength]
	m.ids = m.ids[idLength:]
	return id
}

// wipe leaves nothing but room.
func (m *memory) wipe() {
	clear(m.undo)
	m.gaps.Reset(nil)
	m.answer, m.undo, m.held, m.head = reuse(m.answer), m.undo[:0], m.held[:0], m.head[:0]
}

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
	q.body, q.room, q.turns, q.asTurns, q.marks = nil, reuse(q.room), q.turns[:0], q.asTurns[:0], q.marks[:0]
	q.prompt, q.segments = q.prompt[:0], q.segments[:0]
}

// keepBuffer is the largest buffer that stays in the pool, in bytes; larger ones go back to the collector.
const keepBuffer = 256 << 10

func reuse(buf []byte) []byte {
	if cap(buf) > keepBuffer {
		return nil
	}
	return buf[:0]
}
