package stream

import (
	"fmt"
	"sync"

	"octet/engine"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/internal/poison"
)

// ErrLongAnswer says that an answer in one piece has more bytes than limits.response_bytes.
var ErrLongAnswer = fmt.Errorf("%w: the answer", engine.ErrTooLarge)

// Whole reads an engine's whole answer, then passes it on unchanged. Nothing is sent before all of it is here, so that
// an engine that dies half way costs the client time but never a broken answer.
func (r *Relay) Whole(src Source) error {
	r.Source = src
	r.Request = nil
	body, err := r.Collect(src.Response)
	if err != nil {
		return err
	}
	answer, told, err := r.read(body)
	if err != nil {
		return &Unusable{Err: err}
	}
	usage, since := r.extent().Believe(answer.Usage), r.origin.Since()
	now := r.origin.At(since)
	if !src.Place.Complete(usage.CompletionTokens, r.Cont.Cached(usage, r.Handed), now) {
		return place.ErrPreempted
	}
	r.usage, r.finish, r.delivered = usage, answer.Finish, usage.CompletionTokens
	r.observer.FirstToken(now)
	r.observer.Usage(usage)
	r.Transcript.Whole(body, &answer)
	r.observer.Answered()
	r.Begin(now, len(told))
	r.ArmWrite(since)
	if _, err := r.client.Write(told); err != nil {
		return r.clientGone(err)
	}
	if len(told) <= mostHeld {
		r.ended = since
	}
	return nil
}

// read returns what an answer in one piece says, and what the client gets for it.
func (r *Relay) read(body []byte) (answer sse.Unary, told []byte, err error) {
	if r.Native != nil {
		answer, err = r.Native.ReadWhole(body)
		return answer, body, err
	}
	if answer, err = r.Shape.Scan(body); err != nil || r.Door == nil {
		return answer, body, err
	}
	told, err = r.Door.Whole(body)
	return answer, told, err
}

// mostHeld is the size of an answer that servers keep until their handler is done, in bytes: writing it takes no time.
const mostHeld = 2 << 10

// bodies are buffers for answers in one piece. They are used again: a buffer belongs to one Relay from Collect to
// Release, and what gets its bytes (the client's writer, a Protocol, the scanner, a Transcript) has copied or sent them
// when the call returns.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer is the largest buffer that stays in the pool, in bytes; larger ones go back to the collector.
const keepBuffer = 256 << 10

// Collect reads a whole body, of at most limits.response_bytes. It is valid until the next call and Release.
func (r *Relay) Collect(resp engine.Response) ([]byte, error) {
	if r.body == nil {
		r.body = bodies.Get().(*[]byte)
	}
	*r.body = (*r.body)[:0]
	err := engine.Read(resp, (*collecting)(r))
	return *r.body, err
}

// dropBody gives the buffer back.
func (r *Relay) dropBody() {
	if r.body == nil {
		return
	}
	if cap(*r.body) > keepBuffer {
		*r.body = nil
	}
	*r.body = (*r.body)[:0]
	poison.Bytes(*r.body)
	bodies.Put(r.body)
	r.body = nil
}
