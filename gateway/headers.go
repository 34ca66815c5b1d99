package gateway

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"octet/gateway/apierr"
)

// fields are those of an answer's head as they go over the wire, "Name: value\r\n" each. No name comes twice.
type fields []byte

// text appends a field, of a name with ": ". Whatever the value is, one line comes of it: what net/http would send.
func (f fields) text(name, value string) fields {
	if !isLine(value) {
		value = strings.Trim(oneLine.Replace(value), " \t")
	}
	return f.line(name, value)
}

// line is text for a value that cannot be anything but a line, as ids are.
func (f fields) line(name, value string) fields {
	return append(append(append(f, name...), value...), "\r\n"...)
}

// isLine says whether a value is sent as it is. It may say no of one that is.
func isLine(value string) bool {
	for i := range len(value) {
		if value[i] < ' ' {
			return false
		}
	}
	n := len(value)
	return n == 0 || value[0] != ' ' && value[n-1] != ' '
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// number appends a field, of a name with ": ".
func (f fields) number(name string, n int) fields {
	f = append(f, name...)
	switch {
	case n < 0 || n > 9999:
		f = strconv.AppendInt(f, int64(n), 10)
	case n > 999:
		f = append(f, digit(n/1000), digit(n/100), digit(n/10), digit(n))
	case n > 99:
		f = append(f, digit(n/100), digit(n/10), digit(n))
	case n > 9:
		f = append(f, digit(n/10), digit(n))
	default:
		f = append(f, digit(n))
	}
	return append(f, "\r\n"...)
}

// digit is the last one of n.
func digit(n int) byte { return byte('0' + n%10) }

// into sets the fields in a header.
func (f fields) into(h http.Header) {
	room := make([]string, 0, bytes.Count(f, newLine))
	for line := range strings.SplitSeq(string(f), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			room = append(room, value)
			n := len(room)
			h[name] = room[n-1 : n : n]
		}
	}
}

var newLine = []byte{'\n'}

// starter is the writer of a server that takes an answer's fields as they go over the wire.
type starter interface {
	Start(status int, length int64, lines []byte)
}

// sendHead sends the head of an answer with a body of length bytes, -1 being unknown: f, and what who stands between
// has set in w's header.
func sendHead(w http.ResponseWriter, status, length int, f fields) {
	h := w.Header()
	if s, ok := w.(starter); ok && len(h) == 0 {
		s.Start(status, int64(length), f)
		return
	}
	f.into(h)
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}
	w.WriteHeader(status)
}

// What heads of answers begin with, and what those have that were neither refused nor kept waiting.
const (
	jsonAnswer  = "Content-Type: application/json\r\n"
	atOnce      = "X-Attempts: 1\r\nX-Queue-Ms: 0\r\n"
	eventAnswer = "Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
)

// writeHead sends the head of a successful answer: the contract's headers, and nothing that the engine said about
// itself.
func (x *exchange) writeHead(now time.Time, length int) {
	kind := jsonAnswer
	if x.stream {
		kind = eventAnswer
	}
	f := x.identify(append(x.head[:0], kind...))
	f = append(append(f, x.sp.field...), x.turn.rep.field...)
	if x.verdict.Adapter != "" {
		f = f.text("X-Adapter: ", x.verdict.Adapter)
	}
	f = f.line("X-Routed-By: ", x.verdict.RoutedBy.String())
	if !math.IsNaN(x.verdict.Confidence) {
		f = f.line("X-Confidence: ", strconv.FormatFloat(x.verdict.Confidence, 'f', 3, 64))
	}
	if name := x.shadow.name(); name != "" {
		f = f.text("X-Shadow: ", name)
	}
	if x.attempts == 1 && x.queued < time.Millisecond {
		f = append(f, atOnce...)
	} else {
		f = f.number("X-Attempts: ", x.attempts).number("X-Queue-Ms: ", int(x.queued.Milliseconds()))
	}
	if x.foretold >= 0 {
		f = f.number("X-Cached-Tokens: ", x.foretold)
	}
	f = append(f, x.sp.Board.LinesAt(now)...)
	if x.intent.Explain {
		f = f.text("Server-Timing: ", x.timings())
	}
	x.head = f
	x.started, x.status = true, http.StatusOK
	sendHead(x.w, http.StatusOK, length, f)
}

func (x *exchange) identify(f fields) fields {
	f = f.line("X-Request-Id: ", x.id)
	if id := x.receiptID(); id != "" {
		f = f.line("X-Receipt-Id: ", id)
	}
	return f
}

// timings renders Server-Timing, in milliseconds since the request's arrival.
func (x *exchange) timings() string {
	return fmt.Sprintf("route;dur=%.3f, queue;dur=%.3f, first;dur=%.3f", toMs(x.routed), toMs(x.queued),
		toMs(x.since()))
}

// writeError sends a typed error as the whole answer.
func (s *Server) writeError(w http.ResponseWriter, requestID, receiptID string, e *apierr.Error) {
	f := append(make(fields, 0, 512), jsonAnswer...).text("X-Request-Id: ", requestID)
	if receiptID != "" {
		f = f.text("X-Receipt-Id: ", receiptID)
	}
	if after := e.RetryAfterHeader(); after != "" {
		f = f.text("Retry-After: ", after)
	}
	if e.Code == apierr.InvalidAPIKey {
		f = f.text("Www-Authenticate: ", "Bearer")
	}
	body := append(e.AppendJSON(nil, requestID), '\n')
	sendHead(w, e.Status(), len(body), f)
	_, _ = w.Write(body) // nobody is left to tell
}
