package intake

import (
	"fmt"
	"sync"
	"sync/atomic"

	"octet/classifier"
	"octet/gateway/apierr"
	"octet/gateway/wire"
	"octet/internal/poison"
)

// Body is the body of a request, and the memory of what is made of it for an engine.
type Body struct {
	Bytes    []byte // as engines get it, but for edits: in room, inlined, or the server's until the handler returns
	Parsed   wire.Request
	Turns    []wire.Turn       // the messages, once the cascade has read them
	AsTurns  []classifier.Turn // likewise, for the classifier
	Segments [][]byte          // the body as the engine gets it

	room    []byte
	inlined []byte   // a body whose repo snippets and tool outputs were put into its prompt
	pieces  [][]byte // of the prompt
	counted int64    // bytes that count in a Memory
}

// bodies are used again. An engine's client is done with a body when its Do has returned, and what outlives the handler
// (a shadow, a leg beside the last one, a receipt, a stream that may be resumed) has copied what it keeps.
var bodies = sync.Pool{New: func() any { return new(Body) }}

// Memory counts the bytes of all bodies that are held. The zero value is ready; safe for concurrent use.
type Memory struct{ held atomic.Int64 }

// Held returns the bytes of all bodies that are held.
func (m *Memory) Held() int64 { return m.held.Load() }

// take counts n more bytes of b, and refuses what all bodies together must not exceed. Zero means no limit.
func (m *Memory) take(b *Body, n int, most int64) *apierr.Error {
	b.counted += int64(n)
	if held := m.held.Add(int64(n)); held > most && most > 0 {
		return apierr.New(apierr.Overloaded, "",
			fmt.Sprintf("open requests hold %d bytes, limits.queue_bytes is %d", held, most))
	}
	return nil
}

// give ends the use of b. Only its buffers are kept, for another request.
func (m *Memory) give(b *Body) {
	m.held.Add(-b.counted)
	b.wipe()
	bodies.Put(b)
}

// wipe leaves nothing but room.
func (b *Body) wipe() {
	b.counted = 0
	clear(b.pieces)
	clear(b.Segments)
	clear(b.Turns)
	clear(b.AsTurns)
	b.Parsed.Reset()
	b.Bytes, b.room, b.inlined, b.Turns, b.AsTurns = nil, Reuse(b.room), Reuse(b.inlined), b.Turns[:0], b.AsTurns[:0]
	b.pieces, b.Segments = b.pieces[:0], b.Segments[:0]
	poison.Bytes(b.room)
	poison.Bytes(b.inlined)
}

// keepBuffer is the largest buffer that stays in a pool, in bytes; larger ones are left to the collector.
const keepBuffer = 256 << 10

// Reuse returns buf, emptied, if it may go back into a pool; else nil.
func Reuse(buf []byte) []byte {
	if cap(buf) > keepBuffer {
		return nil
	}
	return buf[:0]
}
