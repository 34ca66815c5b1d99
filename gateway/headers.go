package gateway

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
)

// writeHead sends the head of a successful answer: the contract's headers, and nothing that the engine said about itself.
func (x *exchange) writeHead(contentType string) {
	h := x.w.Header()
	h["Content-Type"] = []string{contentType}
	if x.stream {
		h["Cache-Control"] = []string{"no-cache"}
		h["X-Accel-Buffering"] = []string{"no"}
	}
	x.identify(h)
	h["X-Specialist"] = []string{x.sp.Name}
	h["X-Replica"] = []string{x.turn.rep.Opaque}
	if x.verdict.Adapter != "" {
		h["X-Adapter"] = []string{x.verdict.Adapter}
	}
	h["X-Routed-By"] = []string{x.verdict.RoutedBy.String()}
	if !math.IsNaN(x.verdict.Confidence) {
		h["X-Confidence"] = []string{strconv.FormatFloat(x.verdict.Confidence, 'f', 3, 64)}
	}
	if name := x.shadow.name(); name != "" {
		h["X-Shadow"] = []string{name}
	}
	h["X-Attempts"] = []string{strconv.Itoa(x.attempts)}
	h["X-Queue-Ms"] = []string{strconv.FormatInt(x.queued.Milliseconds(), 10)}
	h["X-Cached-Tokens"] = []string{strconv.Itoa(x.cachedTokens())}
	for _, slo := range x.sp.Board.Headers() {
		h[slo.Name] = slo.Values
	}
	if x.intent.Explain {
		h["Server-Timing"] = []string{x.timings()}
	}
	x.started, x.status = true, http.StatusOK
	x.w.WriteHeader(http.StatusOK)
}

func (x *exchange) identify(h http.Header) {
	h["X-Request-Id"] = []string{x.id}
	if id := x.receiptID(); id != "" {
		h["X-Receipt-Id"] = []string{id}
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
