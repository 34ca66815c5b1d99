package gateway

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/head"
	"octet/gateway/receipt"
)

// What heads of answers begin with, and what those have that were neither refused nor kept waiting.
const (
	jsonAnswer = "Content-Type: application/json\r\n"
	atOnce     = "X-Attempts: 1\r\nX-Queue-Ms: 0\r\n"
	//nolint:lll // one literal, as it goes over the wire
	eventAnswer = "Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
)

// Head implements stream.Observer: it sends the head of a successful answer: the contract's headers, and nothing that
// the engine said about itself.
func (x *exchange) Head(now time.Time, length int) {
	kind := jsonAnswer
	if x.request.Stream {
		kind = eventAnswer
	}
	f := x.identify(append(x.head[:0], kind...))
	f = append(append(f, x.sp.HeadLine()...), x.turn.rep.HeadLine()...)
	if x.decision.Adapter != "" {
		f = f.Text("X-Adapter: ", x.decision.Adapter)
	}
	f = f.Line("X-Routed-By: ", x.decision.RoutedBy.String())
	if !math.IsNaN(x.decision.Confidence) {
		f = f.Line("X-Confidence: ", strconv.FormatFloat(x.decision.Confidence, 'f', 3, 64))
	}
	if name := x.shadow.name(); name != "" {
		f = f.Text("X-Shadow: ", name)
	}
	if x.attempts == 1 && x.queued < time.Millisecond {
		f = append(f, atOnce...)
	} else {
		f = f.Number("X-Attempts: ", x.attempts).Number("X-Queue-Ms: ", int(x.queued.Milliseconds()))
	}
	if x.foretold >= 0 {
		f = f.Number("X-Cached-Tokens: ", x.foretold)
	}
	f = append(f, x.sp.Board.LinesAt(now)...)
	if x.request.Intent.Explain {
		f = f.Text("Server-Timing: ", x.timings())
	}
	x.head = f
	x.status = http.StatusOK
	x.w.Start(http.StatusOK, int64(length), f)
}

func (x *exchange) identify(f head.Lines) head.Lines {
	f = f.Line("X-Request-Id: ", x.request.ID)
	if id := x.receiptID(); id != "" {
		f = f.Line("X-Receipt-Id: ", id)
	}
	return f
}

// timings renders Server-Timing, in milliseconds since the request's arrival.
func (x *exchange) timings() string {
	return fmt.Sprintf("route;dur=%.3f, queue;dur=%.3f, first;dur=%.3f", receipt.Ms(x.routed), receipt.Ms(x.queued),
		receipt.Ms(x.Since()))
}

// writeError sends a typed error as the whole answer.
func (s *Server) writeError(w http.ResponseWriter, requestID, receiptID string, e *apierr.Error) {
	f := append(make(head.Lines, 0, 512), jsonAnswer...).Text("X-Request-Id: ", requestID)
	if receiptID != "" {
		f = f.Text("X-Receipt-Id: ", receiptID)
	}
	if after := e.RetryAfterHeader(); after != "" {
		f = f.Text("Retry-After: ", after)
	}
	if e.Code == apierr.InvalidAPIKey {
		f = f.Text("Www-Authenticate: ", "Bearer")
	}
	body := append(e.AppendJSON(nil, requestID), '\n')
	conn.Start(w, e.Status(), int64(len(body)), f)
	_, _ = w.Write(body) // the client has left
}
