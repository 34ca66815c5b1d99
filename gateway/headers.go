package gateway

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// lines sets single-valued fields of a header, without an allocation while the room lasts.
type lines struct {
	h    http.Header
	room []string
}

// mostLines is how many fields writeHead sets itself.
const mostLines = 16

func (x *exchange) linesOf(h http.Header) lines { return lines{h, x.lines[:0]} }

// set takes a name that is canonical already.
func (l *lines) set(name, value string) {
	l.room = append(l.room, value)
	n := len(l.room)
	l.h[name] = l.room[n-1 : n : n]
}

// writeHead sends the head of a successful answer: the contract's headers, and nothing that the engine said about itself.
//
// The fields' values lie in the exchange: whoever sends the head must have it by the first Write.
func (x *exchange) writeHead(now time.Time, contentType string, length int) {
	h := x.linesOf(x.w.Header())
	h.set("Content-Type", contentType)
	if length >= 0 {
		h.set("Content-Length", strconv.Itoa(length))
	}
	if x.stream {
		h.set("Cache-Control", "no-cache")
		h.set("X-Accel-Buffering", "no")
	}
	x.identify(&h)
	h.set("X-Specialist", x.sp.Name)
	h.set("X-Replica", x.turn.rep.Opaque)
	if x.verdict.Adapter != "" {
		h.set("X-Adapter", x.verdict.Adapter)
	}
	h.set("X-Routed-By", x.verdict.RoutedBy.String())
	if !math.IsNaN(x.verdict.Confidence) {
		h.set("X-Confidence", strconv.FormatFloat(x.verdict.Confidence, 'f', 3, 64))
	}
	if name := x.shadow.name(); name != "" {
		h.set("X-Shadow", name)
	}
	h.set("X-Attempts", strconv.Itoa(x.attempts))
	h.set("X-Queue-Ms", strconv.FormatInt(x.queued.Milliseconds(), 10))
	h.set("X-Cached-Tokens", strconv.Itoa(x.cachedTokens()))
	for _, slo := range x.sp.Board.HeadersAt(now) {
		h.h[slo.Name] = slo.Values
	}
	if x.intent.Explain {
		h.h["Server-Timing"] = []string{x.timings()}
	}
	x.started, x.status = true, http.StatusOK
	x.w.WriteHeader(http.StatusOK)
}

func (x *exchange) identify(h *lines) {
	h.set("X-Request-Id", x.id)
	if id := x.receiptID(); id != "" {
		h.set("X-Receipt-Id", id)
	}
}

// cachedTokens is the prediction: from the index where the replica's events are followed, else from the Gate's model.
func (x *exchange) cachedTokens() int {
	if x.predicted > 0 {
		return x.predicted
	}
	return min(x.turn.ticket.Reused()*x.sp.BlockSize, x.prompt.Tokens)
}

// timings renders Server-Timing, in milliseconds since the request's arrival.
func (x *exchange) timings() string {
	return fmt.Sprintf("route;dur=%.3f, queue;dur=%.3f, first;dur=%.3f", toMs(x.routed), toMs(x.queued), toMs(x.since()))
}

// writeError sends a typed error as the whole answer.
func (s *Server) writeError(w http.ResponseWriter, requestID, receiptID string, e *Error) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["X-Request-Id"] = []string{requestID}
	if receiptID != "" {
		h["X-Receipt-Id"] = []string{receiptID}
	}
	if after := e.retryAfter(); after != "" {
		h["Retry-After"] = []string{after}
	}
	if e.Code == CodeInvalidAPIKey {
		h["Www-Authenticate"] = []string{"Bearer"}
	}
	body := append(e.appendJSON(nil, requestID), '\n')
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(e.Status())
	_, _ = w.Write(body) // nobody is left to tell
}
