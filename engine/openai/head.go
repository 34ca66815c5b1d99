package openai

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"octet/engine"
)

// maxFields bounds the header lines of a response.
const maxFields = 128

// head is the head of a response. Lines end in CRLF and nothing else, none is folded, no field name holds a space, and how
// long the body is follows from at most one statement of the engine's.
type head struct {
	fields    string // the header lines, each with its CRLF
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

// parseHead reads a head as headEnd found it.
func parseHead(b []byte) (head, error) {
	line, fields, _ := strings.Cut(string(b[:len(b)-2]), "\r\n")
	h := head{fields: fields, length: -1}
	if err := h.statusLine(line); err != nil {
		return head{}, err
	}
	for n := 0; len(fields) > 0; n++ {
		if n == maxFields {
			return head{}, fmt.Errorf("%w: more than %d header lines", engine.ErrTooLarge, maxFields)
		}
		line, fields, _ = strings.Cut(fields, "\r\n")
		if err := h.field(line); err != nil {
			return head{}, err
		}
	}
	switch {
	case h.chunked && h.length >= 0:
		return head{}, protocolError("Content-Length beside Transfer-Encoding")
	case h.chunked && h.old:
		return head{}, protocolError("Transfer-Encoding in HTTP/1.0")
	}
	return h, nil
}

// statusLine reads "HTTP/1.1 200" with or without a reason.
func (h *head) statusLine(line string) error {
	if len(line) < len("HTTP/1.1 200") || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return protocolError("bad status line")
	}
	switch line[:8] {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.old = true
	default:
		return protocolError("unknown HTTP version")
	}
	for _, c := range []byte(line[9:12]) {
		if c < '0' || c > '9' {
			return protocolError("bad status line")
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < 100 || h.status > 599 || !isValue(line[12:]) {
		return protocolError("bad status line")
	}
	return nil
}

func (h *head) field(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) || !isValue(value) {
		return protocolError("bad header line")
	}
	switch {
	case strings.EqualFold(name, "Content-Length"):
		return h.contentLength(trim(value))
	case strings.EqualFold(name, "Transfer-Encoding"):
		if h.chunked || !strings.EqualFold(trim(value), "chunked") {
			return protocolError("unsupported Transfer-Encoding")
		}
		h.chunked = true
	case strings.EqualFold(name, "Connection"):
		for option := range strings.SplitSeq(value, ",") {
			option = trim(option)
			h.close = h.close || strings.EqualFold(option, "close")
			h.keepAlive = h.keepAlive || strings.EqualFold(option, "keep-alive")
		}
	}
	return nil
}

// contentLength takes one statement of the length. Repetitions must agree.
func (h *head) contentLength(value string) error {
	n, err := strconv.ParseUint(value, 10, 63)
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

// value returns the first value of a field, "" when there is none. One pass over the head.
func (h *head) value(name string) string {
	for line := range strings.SplitSeq(h.fields, "\r\n") {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(line[:len(name)], name) {
			return trim(line[len(name)+1:])
		}
	}
	return ""
}

func isValue(s string) bool {
	for i := range len(s) {
		if !isValueByte(s[i]) {
			return false
		}
	}
	return true
}

// trim takes the white space off that may stand around a field's value.
func trim(s string) string { return strings.Trim(s, " \t") }
