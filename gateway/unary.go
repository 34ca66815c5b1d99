package gateway

import (
	"fmt"

	"octet/engine"
	"octet/gateway/place"
)

// relayUnary reads the engine's whole answer, then passes it on unchanged. Nothing is sent before all of it is here, so
// that an engine that dies half way costs the client time but never a broken answer.
func (x *exchange) relayUnary() error {
	body, err := x.collect(x.turn.resp)
	if err != nil {
		return x.lateDeadline(err)
	}
	answer, err := x.turn.rep.Answers.Scan(body)
	if err != nil {
		return x.unusable(err)
	}
	usage, since := x.extent().believe(answer.Usage), x.since()
	now := x.at(since)
	if !x.turn.place.Complete(usage.CompletionTokens, x.cachedFor(usage), now) {
		return place.ErrPreempted
	}
	x.usage, x.finish, x.handedOut = usage, answer.Finish, usage.CompletionTokens
	x.observeFirstToken(now)
	x.noteDelivered(usage)
	x.said.whole(answer.Text)
	if len(x.held) > 0 {
		x.releaseHeld()
	}
	x.writeHead(now, len(body))
	x.armWrite(since)
	if _, err := x.w.Write(body); err != nil {
		return x.clientGone(err)
	}
	if len(body) <= mostHeld {
		x.turn.ended = since
	}
	return nil
}

// mostHeld is the size of an answer that servers keep until their handler is done, in bytes: writing it takes no time.
const mostHeld = 2 << 10

// collect reads a whole body, at most response_bytes of it.
func (x *exchange) collect(resp engine.Response) ([]byte, error) {
	if x.answer == nil {
		x.answer = answers.Get().(*[]byte)
	}
	body, most := (*x.answer)[:0], x.rt.Limits.ResponseBytes
	err := engine.Read(resp, func(piece []byte) error {
		if int64(len(body)+len(piece)) > most {
			return fmt.Errorf("%w has more than %d bytes", errLongAnswer, most)
		}
		body = append(body, piece...)
		*x.answer = body
		return nil
	})
	return body, err
}
