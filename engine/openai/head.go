package openai

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"octet/engine"
	"octet/internal/field"
)

// maxFields bounds the header lines of a response.
const maxFields = 128

// head is the head of a response. Lines end in CRLF and nothing else, none is folded, no field name holds a space, and how
// long the body is follows from at most one statement of the engine's.
type head struct {
	status    int
	length    int64 // Content-Length; -1 when not stated
	chunked   bool
	old       bool // HTTP/1.0
	close     bool // the connection ends with this answer
	keepAlive bool // said in so many words
}

const versionPrefix = "HTTP/1."

// headEnd returns the length of the head that b begins with, its empty line included; 0 when more must come. The first seen
// bytes were looked at by an earlier call. What cannot become a head is refused as soon as it shows.
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

// parseHead reads a head as headEnd found it. It returns its header lines, too, each with its CRLF, as they lie in b.
func parseHead(b []byte) (head, []byte, error) {
	h, end := head{length: -1}, lineEnd(b, 0)
	if err := h.statusLine(b[:end]); err != nil {
		return head{}, nil, err
	}
	fields := b[end+2 : len(b)-2]
	for n, at := 0, 0; at < len(fields); n++ {
		if n == maxFields {
			return head{}, nil, fmt.Errorf("%w: more than %d header lines", engine.ErrTooLarge, maxFields)
		}
		end := lineEnd(fields, at)
		if err := h.field(fields[at:end]); err != nil {
			return head{}, nil, err
		}
		at = end + 2
	}
	switch {
	case h.chunked && h.length >= 0:
		return head{}, nil, protocolError("Content-Length beside Transfer-Encoding")
	case h.chunked && h.old:
		return head{}, nil, protocolError("Transfer-Encoding in HTTP/1.0")
	}
	return h, fields, nil
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

func (h *head) field(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 || !field.IsName(line[:colon]) || !field.IsValue(line[colon+1:]) {
		return protocolError("bad header line")
	}
	name, value := line[:colon], line[colon+1:]
	switch {
	case field.Fold(name, "content-length"):
		return h.contentLength(field.Trim(value))
	case field.Fold(name, "transfer-encoding"):
		if h.chunked || !field.Fold(field.Trim(value), "chunked") {
			return protocolError("unsupported Transfer-Encoding")
		}
		h.chunked = true
	case field.Fold(name, "connection"):
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
	n, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil || h.length >= 0 && h.length != int64(n) {
		return protocolError("bad Content-Length")
	}
	h.length = int64(n)
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

// valueOf returns the first value of a field, "" when there is none. One pass over the lines.
func valueOf(fields []byte, name string) string {
	for line := range bytes.SplitSeq(fields, []byte("\r\n")) {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(string(line[:len(name)]), name) {
			return string(field.Trim(line[len(name)+1:]))
		}
	}
	return ""
}
