package openai

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"octet/engine"
	"octet/internal/http1/field"
)

// check refuses what could be read as anything but one request with the given fields.
func check(r *engine.Request) error {
	switch {
	case !field.IsName(r.Method):
		return fmt.Errorf("%w: bad method", ErrRequest)
	case len(r.Path) == 0 || r.Path[0] != '/' || !field.IsVisible(r.Path):
		return fmt.Errorf("%w: bad path", ErrRequest)
	case r.Bearer != "" && !field.IsVisible(r.Bearer):
		return fmt.Errorf("%w: bad bearer key", ErrRequest)
	}
	return checkOwn(r)
}

// checkOwn is check of what no opening holds.
func checkOwn(r *engine.Request) error {
	if r.RequestID != "" && !field.IsVisible(r.RequestID) {
		return fmt.Errorf("%w: bad request id", ErrRequest)
	}
	return checkFields(r.Fields)
}

// checkFields refuses fields that could be read as anything else, or that say how the message is framed.
func checkFields(fields []engine.Field) error {
	for _, f := range fields {
		if !field.IsName(f.Name) || f.Value == "" || !strings.HasPrefix(f.Name, "X-") || !field.IsValue(f.Value) {
			return fmt.Errorf("%w: bad field %q", ErrRequest, f.Name)
		}
	}
	return nil
}

// opening is how the heads of requests of one kind begin. They are few, as paths and keys are configured, and alike to
// the byte.
type opening struct {
	text                 string
	method, path, bearer string // parts of text
	stream               bool
}

func (o *opening) fits(r *engine.Request) bool {
	return o.stream == r.Stream && o.path == r.Path && o.method == r.Method && o.bearer == r.Bearer
}

// openings are those of requests sent before, each at one place.
type openings [16]atomic.Pointer[opening]

// of returns the place of r's opening: those of an engine's usual requests have one each.
func (o *openings) of(r *engine.Request) *atomic.Pointer[opening] {
	at := len(r.Path)
	if r.Stream {
		at++
	}
	return &o[at%len(o)]
}

// openingOf checks r and returns its opening.
func (c *Client) openingOf(r *engine.Request) (*opening, error) {
	place := c.openings.of(r)
	if o := place.Load(); o != nil && o.fits(r) {
		return o, checkOwn(r)
	}
	if err := check(r); err != nil {
		return nil, err
	}
	o := c.open(r)
	place.Store(o)
	return o, nil
}

// open makes r's opening.
func (c *Client) open(r *engine.Request) *opening {
	line := r.Method + " " + c.at.prefix + r.Path
	text := []byte(line + " HTTP/1.1\r\nHost: " + c.at.host + "\r\nUser-Agent: octet\r\n")
	text = appendLine(text, engine.Via+": ", c.cfg.Via)
	if r.Stream {
		text = append(text, "Accept: text/event-stream\r\n"...)
	}
	key := r.Bearer
	if key == "" {
		key = c.cfg.Bearer
	}
	o := &opening{text: string(appendLine(text, "Authorization: Bearer ", key)), stream: r.Stream}
	o.method, o.path = o.text[:len(r.Method)], o.text[len(line)-len(r.Path):len(line)]
	if r.Bearer != "" {
		end := len(o.text) - len("\r\n")
		o.bearer = o.text[end-len(r.Bearer) : end]
	}
	return o
}

// appendHead appends the request's head, which begins as o says, to dst.
func appendHead(dst []byte, o *opening, r *engine.Request) []byte {
	dst = appendLine(append(dst, o.text...), "X-Request-Id: ", r.RequestID)
	for _, f := range r.Fields {
		dst = append(append(append(append(append(dst, f.Name...), ": "...), f.Value...), '\r'), '\n')
	}
	if size := bodySize(r.Segments); size > 0 || carriesBody(r.Method) {
		dst = append(dst, "Content-Type: application/json\r\nContent-Length: "...)
		dst = appendNumber(dst, size)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// appendNumber appends n, which is not negative.
func appendNumber(dst []byte, n int) []byte {
	at := len(dst) + 1
	for rest := n; rest >= 10; rest /= 10 {
		at++
	}
	dst = slices.Grow(dst, at-len(dst))[:at]
	for {
		at--
		dst[at] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return dst
		}
	}
}

// appendLine appends a header line, name with its colon; nothing when value is empty.
func appendLine(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, name...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

func bodySize(segments [][]byte) (size int) {
	for _, s := range segments {
		size += len(s)
	}
	return size
}

// carriesBody reports whether the method's requests state a length when it is 0, too.
func carriesBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }
