package client

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"octet/internal/http1/field"
)

// maxFields bounds the header lines of a response.
const maxFields = 128

// head is the head of a response. Lines end in CRLF and nothing else, none is folded, no field name holds a space, and
// how long the body is follows from at most one statement of the engine's.
type head struct {
	status    int
	length    int64 // Content-Length; -1 when not stated
	chunked   bool
	old       bool // HTTP/1.0
	close     bool // the connection ends with this answer
	keepAlive bool // said in so many words
}

const versionPrefix = "HTTP/1."

// headEnd returns the length of the head that b begins with, its empty line included; 0 when more must come. The first
// seen bytes were looked at by an earlier call. What cannot become a head is refused as soon as it shows.
func headEnd(b []byte, seen int) (int, error) {
	if n := min(len(b), len(versionPrefix)); string(b[:n]) != versionPrefix[:n] {
		return 0, protocolError("not an HTTP/1 answer")
	}
	for at := seen; ; at++ {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0, nil
		}
		at += i
		if b[at-1] != '\r' {
			return 0, protocolError("bare LF in the head")
		}
		if b[at-2] == '\n' {
			return at + 1, nil
		}
	}
}

// Fields of a head that matter, as kinds of a field.Habit.
const (
	otherField uint8 = iota
	lengthField
	codingField
	connectionField
)

func kindOf(name []byte) uint8 {
	switch {
	case field.Fold(name, "content-length"):
		return lengthField
	case field.Fold(name, "transfer-encoding"):
		return codingField
	case field.Fold(name, "connection"):
		return connectionField
	}
	return otherField
}

// parseHead reads a head as headEnd found it, and has the habit, unless it is nil, be like it.
func parseHead(b []byte, habit *field.Habit) (head, error) {
	var learnt string // its parts, side by side
	if habit != nil {
		habit.Forget()
		learnt = string(b)
	}
	h, at := head{length: -1}, lineEnd(b, 0)
	if err := h.statusLine(b[:at]); err != nil {
		return head{}, err
	}
	line := at + 2
	at = line
	for n := 0; at < len(b)-2; n++ {
		if n == maxFields {
			return head{}, fmt.Errorf("%w: more than %d header lines", ErrTooLarge, maxFields)
		}
		end := lineEnd(b, at)
		colon := bytes.IndexByte(b[at:end], ':') + at
		if colon < at || !field.IsName(b[at:colon]) || !field.IsValue(b[colon+1:end]) {
			return head{}, protocolError("bad header line")
		}
		kind := kindOf(b[at:colon])
		if err := h.note(kind, b[colon+1:end]); err != nil {
			return head{}, err
		}
		if habit != nil {
			habit.Learn(learnt[at:colon+1], kind)
		}
		at = end + 2
	}
	if habit != nil {
		habit.Keep(learnt[:line])
	}
	return h, h.check()
}

// repeat reads a head as the habit has located it: like h, which is the one before.
func (h *head) repeat(b []byte, habit *field.Habit) error {
	*h = head{status: h.status, old: h.old, length: -1}
	for _, f := range habit.Fields() {
		if f.Kind == otherField {
			continue
		}
		if err := h.note(f.Kind, b[f.From:f.To]); err != nil {
			return err
		}
	}
	return h.check()
}

// check refuses contradictions.
func (h *head) check() error {
	switch {
	case h.chunked && h.length >= 0:
		return protocolError("Content-Length beside Transfer-Encoding")
	case h.chunked && h.old:
		return protocolError("Transfer-Encoding in HTTP/1.0")
	}
	return nil
}

// lineEnd returns where the CRLF is that ends the line at at.
func lineEnd(b []byte, at int) int {
	for ; ; at++ {
		at = field.Control(b, at)
		if at+1 >= len(b) || b[at] == '\r' && b[at+1] == '\n' {
			return at
		}
	}
}

// statusLine reads "HTTP/1.1 200" with or without a reason.
func (h *head) statusLine(line []byte) error {
	if len(line) < len("HTTP/1.1 200") || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return protocolError("bad status line")
	}
	switch string(line[:8]) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.old = true
	default:
		return protocolError("unknown HTTP version")
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return protocolError("bad status line")
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < 100 || h.status > 599 || !field.IsValue(line[12:]) {
		return protocolError("bad status line")
	}
	return nil
}

// note takes down a field's value.
func (h *head) note(kind uint8, value []byte) error {
	switch kind {
	case lengthField:
		return h.contentLength(field.Trim(value))
	case codingField:
		if h.chunked || !field.Fold(field.Trim(value), "chunked") {
			return protocolError("unsupported Transfer-Encoding")
		}
		h.chunked = true
	case connectionField:
		for option := range bytes.SplitSeq(value, []byte(",")) {
			option = field.Trim(option)
			h.close = h.close || field.Fold(option, "close")
			h.keepAlive = h.keepAlive || field.Fold(option, "keep-alive")
		}
	}
	return nil
}

// contentLength takes one statement of the length. Repetitions must agree.
func (h *head) contentLength(value []byte) error {
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' || n > math.MaxInt64/10 {
			return protocolError("bad Content-Length")
		}
		if n = 10*n + int64(c-'0'); n < 0 { // it was too large for one digit more
			break
		}
	}
	if len(value) == 0 || n < 0 || h.length >= 0 && h.length != n {
		return protocolError("bad Content-Length")
	}
	h.length = n
	return nil
}

// framing returns how the body of an answer to method ends.
func (h *head) framing(method string) frame {
	switch {
	case method == "HEAD" || h.status == 204 || h.status == 304:
		return frame{state: counted}
	case h.chunked:
		return frame{state: size}
	case h.length >= 0:
		return frame{state: counted, left: h.length}
	}
	return frame{state: untilClose}
}

// reusable reports whether the engine keeps the connection open after a whole answer.
func (h *head) reusable() bool { return !h.close && (!h.old || h.keepAlive) }

// valueOf returns the first value of a field in a head, "" if it is absent. One pass over its lines.
func valueOf(head []byte, name string) string {
	_, fields, _ := bytes.Cut(head, []byte("\r\n"))
	for line := range bytes.SplitSeq(fields, []byte("\r\n")) {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(string(line[:len(name)]), name) {
			return string(field.Trim(line[len(name)+1:]))
		}
	}
	return ""
}
