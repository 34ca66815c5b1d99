package stream

import (
	"context"
	"errors"
	"fmt"
	"io"

	"octet/engine"
)

// DoneEvent ends every stream that is complete.
var DoneEvent = []byte("data: [DONE]\n\n")

// end is what follows on the last piece, or on err.
func (r *Relay) end(done bool, err error) error {
	r.gaps.Flush()
	if kept := r.out.Own(r.client); kept != nil {
		return r.clientGone(kept)
	}
	if !done {
		return r.broken(err)
	}
	return r.complete()
}

// broken is what ends a stream whose engine ended with err.
func (r *Relay) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: the stream ended without [DONE]", engine.ErrReset)
	}
	return r.Late(r.FirstTokenBy, err)
}

// Unusable says that what an engine sent is no answer.
type Unusable struct {
	Begun bool // the client has something of the engine's answer
	Err   error
}

func (e *Unusable) Error() string { return "the engine's answer is unusable: " + e.Err.Error() }
func (e *Unusable) Unwrap() error { return e.Err }

// clientGone is why a write failed: the client left, or it does not read.
func (r *Relay) clientGone(err error) error {
	if !r.origin.Left() {
		return fmt.Errorf("%w: %w", ErrSlowClient, err)
	}
	return context.Canceled
}

// complete writes [DONE], then lets the connection to the engine come to its proper end so that it can be used again.
func (r *Relay) complete() error {
	usage, told := r.Told()
	switch { // events of other surfaces do not tell how many tokens they bring
	case r.Native == nil:
	case r.scanner.Cut():
		usage.CompletionTokens = r.delivered
	case told:
		r.delivered = usage.CompletionTokens
	}
	r.usage, r.finish = r.extent().Believe(r.Cont.Usage(usage)), r.scanner.FinishReason()
	if cached := r.Cont.Cached(usage, r.Handed); cached >= 0 {
		r.Place.Cached(cached)
	}
	r.observer.Usage(usage)
	r.Place.Vacate(r.delivered-r.Cont.Base(), r.origin.At(r.wrote))
	if err := r.out.Put(r.client, r.doneEvent()); err != nil {
		return r.clientGone(err)
	}
	if err := r.push(); err != nil {
		return err
	}
	if !r.scanner.Cut() { // else the engine has more to say, which the client does not get
		Drain(r.Response)
	}
	return nil
}

// doneEvent returns the end of a stream that is complete.
func (r *Relay) doneEvent() []byte {
	switch {
	case r.Native != nil && r.scanner.Cut():
		return r.cutShort()
	case r.Native != nil:
		return r.scanner.Last()
	case r.Door != nil:
		return r.Door.Done()
	}
	return DoneEvent
}

// cutShort returns the end of a native stream that its engine has not come to, in words of ours.
func (r *Relay) cutShort() []byte {
	r.Native.Adopt()
	end := []byte(`data: {"choices":[{"delta":{},"finish_reason":"length"}]`)
	if r.usage.PromptTokens > 0 {
		end = fmt.Appendf(end, `,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":`+
			`{"cached_tokens":%d}}`, r.usage.PromptTokens, r.delivered, r.usage.CachedTokens)
	}
	end = append(end, "}\n\n"...)
	if _, err := r.Door.Events(end); err != nil {
		return nil // it is a chunk
	}
	return r.Door.Done()
}

// Adopt has the client's door end, in words of ours, the stream that an engine has begun in its own.
func (r *Relay) Adopt() {
	if r.Native != nil {
		r.Native.Adopt()
	}
}

// Fail writes event behind what the client has been given, as the last that it gets of a stream that broke.
func (r *Relay) Fail(event []byte) {
	r.ArmWrite(r.origin.Since())
	_ = r.out.Put(r.client, event) // the close that follows says the same, less politely
	_ = r.push()
}

// Release gives back the memory of the answer.
func (r *Relay) Release() {
	r.out.Drop()
	r.dropBody()
}
