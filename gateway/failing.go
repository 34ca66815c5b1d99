package gateway

import (
	"errors"
	"os"

	"octet/gateway/apierr"
	"octet/gateway/decide"
	"octet/gateway/stream"
	"octet/internal/contain"
)

// finishWith ends an answer, for which no more is expected: with err, where it failed.
func (x *exchange) finishWith(err error) {
	x.handBack()
	if err != nil {
		x.fail(err)
	}
}

// fail ends the exchange with a typed error: as the whole answer, or, once an answer has begun, as the last event of
// the stream and an abnormal close.
func (x *exchange) fail(err error) {
	if x.Left() && !errors.Is(err, os.ErrDeadlineExceeded) {
		// a body that is late looks to net/http like a client that left
		x.gone, x.abort = true, true
		return
	}
	e := x.promising(asError(err))
	x.failure, x.seen = e, 0
	if !x.relay.Begun() {
		x.relay.ArmWrite(x.Since())
		x.s.writeError(x.w, x.request.ID, x.receiptID(), e)
		x.relay.Closed()
		x.status = e.Status()
		return
	}
	x.abort = true
	if !x.request.Stream || errors.Is(err, stream.ErrSlowClient) {
		return
	}
	x.relay.Fail(x.errorEvent(e))
}

// promising adds when a replica of the specialist may serve again to an error that none does, as far as probes and
// breakers tell.
func (x *exchange) promising(e *apierr.Error) *apierr.Error {
	none := e.Code == apierr.NoHealthyReplica || e.Code == apierr.BreakerOpen || e.Code == apierr.Overloaded
	if none && e.RetryAfter == 0 && x.sp != nil {
		e.RetryAfter = decide.Jittered(x.sp.Snapshot().Recovery(x.Now()))
	}
	return e
}

func (x *exchange) receiptID() string {
	if !x.receipt.Opened() || x.request.Dry {
		return ""
	}
	return x.receipt.ID()
}

func (x *exchange) errorEvent(e *apierr.Error) []byte {
	event := append([]byte("data: "), e.AppendJSON(nil, x.request.ID)...)
	return append(event, "\n\n"...)
}

// recover turns a panic into internal_error for this request alone.
func (x *exchange) recover() {
	if p := recover(); p != nil {
		contain.Note(contain.Request, p, "request_id", x.request.ID)
		x.fail(apierr.New(apierr.Internal, "", "internal error"))
	}
}
