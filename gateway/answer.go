package gateway

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/decide"
	"octet/gateway/doors"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/head"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/gateway/stream"
)

// answer is what a request's client has been told.
type answer struct {
	status  int // 0 before the head
	failure *apierr.Error
	abort   bool // the connection is closed without a proper end
	judged  bool // the verifier judges it
}

// whole reports whether the answer came to its proper end.
func (a *answer) whole() bool { return a.failure == nil && !a.abort && a.status == http.StatusOK }

// faulty reports whether the answer failed for a server's fault: with a status of 5xx, or broken off after its status.
// It is no server's fault that a deadline passes that the client has set. An answer whose client leaves or does not
// read has not failed.
func (a *answer) faulty() bool {
	e := a.failure
	if e == nil || e.Code == apierr.DeadlineExceeded {
		return false
	}
	return a.status == http.StatusOK || a.status >= http.StatusInternalServerError
}

// What heads of answers begin with, and what those have that were neither refused nor kept waiting.
const (
	jsonAnswer = "Content-Type: application/json\r\n"
	atOnce     = "X-Attempts: 1\r\nX-Queue-Ms: 0\r\n"
	//nolint:lll // one literal, as it goes over the wire
	eventAnswer = "Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
)

// The field of an answer that came by a door: whether its engine serves the door itself.
const (
	native     = "X-Door: native\r\n"
	translated = "X-Door: translated\r\n"
)

// usualHead is how long heads are at most, in bytes, but for those with unusual fields.
const usualHead = 512

// Head implements dispatch.Client: the contract's headers, and nothing that the engine said about itself.
func (x *exchange) Head(rep *ensemble.Replica, now time.Time, length int) {
	kind, done, sp := jsonAnswer, &x.dispatch.Progress, x.dispatch.Plan.Specialist
	if x.request.Stream {
		kind = eventAnswer
	}
	f := identify(append(make(head.Lines, 0, usualHead), kind...), x.request.ID, found(&x.receipt, &x.request))
	f = append(append(f, sp.HeadLine()...), rep.HeadLine()...)
	f = decided(f, &x.decision, x.shadow.Name())
	if done.Attempts == 1 && done.Queued < time.Millisecond {
		f = append(f, atOnce...)
	} else {
		f = f.Number("X-Attempts: ", done.Attempts).Number("X-Queue-Ms: ", int(done.Queued.Milliseconds()))
	}
	if done.Cached >= 0 {
		f = f.Number("X-Cached-Tokens: ", done.Cached)
	}
	f = append(f, sp.Board.LinesAt(now)...)
	if x.request.Intent.Explain {
		f = f.Text("Server-Timing: ", fmt.Sprintf("route;dur=%.3f, queue;dur=%.3f, first;dur=%.3f",
			receipt.Ms(done.Routed), receipt.Ms(done.Queued), receipt.Ms(x.Since())))
	}
	switch {
	case x.request.Door == nil:
	case x.dispatch.Native():
		f = append(f, native...)
	default:
		f = append(f, translated...)
		if prompt := &x.dispatch.Plan.Prompt; prompt.Exact {
			x.request.CountedPrompt(prompt.Tokens)
		}
	}
	x.answer.status = http.StatusOK
	x.trace.Began(now.Sub(x.request.Arrival), x.dispatch.Native())
	x.w.Start(http.StatusOK, int64(length), f)
}

// identify appends by what a request and its receipt are found.
func identify(f head.Lines, request, receipt string) head.Lines {
	f = f.Line("X-Request-Id: ", request)
	if receipt != "" {
		f = f.Line("X-Receipt-Id: ", receipt)
	}
	return f
}

// decided appends which way a request was decided, and the specialist that was sent its shadow, if any.
func decided(f head.Lines, d *decide.Decision, shadow string) head.Lines {
	if d.Adapter != "" {
		f = f.Text("X-Adapter: ", d.Adapter)
	}
	f = f.Line("X-Routed-By: ", d.RoutedBy.String())
	if d.Classifier != "" {
		f = f.Line("X-Classifier: ", d.Classifier)
	}
	if !math.IsNaN(d.Confidence) {
		f = f.Line("X-Confidence: ", strconv.FormatFloat(d.Confidence, 'f', 3, 64))
	}
	if shadow != "" {
		f = f.Text("X-Shadow: ", shadow)
	}
	return f
}

// found returns the id by which clients find the receipt of a request; "" if it leaves none.
func found(d *receipt.Draft, r *intake.Request) string {
	if !d.Opened() || r.Dry {
		return ""
	}
	return d.ID()
}

// fail ends the answer with a typed error: as the whole of it, or, once it has begun, as the last event of the stream
// and an abnormal close. A client that has left, or does not read, is told nothing.
func (x *exchange) fail(err error) {
	if errors.Is(err, stream.ErrSlowClient) ||
		x.Left() && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, intake.ErrUnread) {
		// a body that is late, or that is broken, looks to net/http like a client that left
		x.answer.abort = true
		return
	}
	e := x.inItsWords(promising(fault.Of(err), x.dispatch.Plan.Specialist, x.Now))
	x.answer.failure = e
	x.Note(0)
	if !x.relay.Begun() {
		x.relay.ArmWrite(x.Since())
		writeError(x.w, x.request.Door, identity{x.request.ID, found(&x.receipt, &x.request), x.chosen()}, e)
		x.relay.Closed()
		x.answer.status = e.Status()
		return
	}
	x.answer.abort = true
	if !x.request.Stream {
		return
	}
	x.relay.Adopt()
	x.relay.Fail(failure(x.request.Answer, e, x.request.ID))
}

// inItsWords returns e with the path of its field in the words of the request's door. What is wrong with a body that
// could not be translated was found there.
func (x *exchange) inItsWords(e *apierr.Error) *apierr.Error {
	if x.request.Answer == nil || e.Param == "" {
		return e
	}
	named := *e
	named.Param = x.request.Door.Param(nil, e.Param)
	return &named
}

// failure returns the last event of a stream that broke, in the words of its door; nil stands for OpenAI's.
func failure(door doors.Answer, e *apierr.Error, requestID string) []byte {
	if door != nil {
		return door.Failure(e, requestID)
	}
	return append(e.AppendJSON([]byte("data: "), requestID), "\n\n"...)
}

// chosen returns the specialist that was asked, or that was to be asked; nil if none was chosen.
func (x *exchange) chosen() *ensemble.Specialist {
	if sp := x.dispatch.Plan.Specialist; sp != nil {
		return sp
	}
	return x.decision.In(x.rt)
}

// promising adds when a replica of the specialist may serve again to an error that none does, as far as probes and
// breakers tell. sp is nil if none was chosen.
func promising(e *apierr.Error, sp *ensemble.Specialist, now func() time.Time) *apierr.Error {
	none := e.Code == apierr.NoHealthyReplica || e.Code == apierr.BreakerOpen || e.Code == apierr.Overloaded
	if none && e.RetryAfter == 0 && sp != nil {
		e.RetryAfter = decide.Jittered(sp.Snapshot().Recovery(now()))
	}
	return e
}

// identity is what a refused request is known by.
type identity struct {
	request, receipt string               // ids; receipt is "" if there is none
	specialist       *ensemble.Specialist // that was chosen; nil if there is none
}

// writeError sends a typed error as the whole answer, in the words of a door; nil stands for OpenAI's.
func writeError(w http.ResponseWriter, door doors.Door, of identity, e *apierr.Error) {
	f := append(make(head.Lines, 0, 512), jsonAnswer...).Text("X-Request-Id: ", of.request)
	if of.receipt != "" {
		f = f.Text("X-Receipt-Id: ", of.receipt)
	}
	if of.specialist != nil {
		f = append(f, of.specialist.HeadLine()...)
	}
	if after := e.RetryAfterHeader(); after != "" {
		f = f.Text("Retry-After: ", after)
	}
	if e.Code == apierr.InvalidAPIKey {
		f = f.Text("Www-Authenticate: ", "Bearer")
	}
	if door != nil {
		f = append(f, translated...)
	}
	body := append(errorBody(door, of.request, e), '\n')
	conn.Start(w, e.Status(), int64(len(body)), f)
	_, _ = w.Write(body) // the client has left
}

// errorBody returns an error as a door tells it; nil stands for OpenAI's.
func errorBody(door doors.Door, requestID string, e *apierr.Error) []byte {
	if door == nil {
		return e.AppendJSON(nil, requestID)
	}
	return door.AppendError(nil, e, requestID)
}
