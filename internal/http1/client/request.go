package client

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"octet/internal/http1/field"
)

// Request is one HTTP exchange.
type Request struct {
	Method    string
	Path      string
	Segments  [][]byte // the body, in pieces that are written with one system call; never modified
	RequestID string   // sent as X-Request-Id unless empty
	Accept    string   // sent as Accept unless empty
	Bearer    string   // sent as Authorization unless empty, in place of the Config's
	Fields    []Field  // further header fields: see checkFields

	// about now, where the caller has looked at the clock (time.Now): HeaderTimeout counts from it. Zero is unknown
	At            time.Time
	HeaderTimeout time.Duration // until the response head; 0 is the Config's
	IdleTimeout   time.Duration // between reads of the body; 0 is the Config's

	// Again is asked whether the request may be sent once more where a kept connection was lost with it, so that the
	// server may have begun to work on it. Nil means that it may.
	Again func() bool
}

// Field is one header field: a name for a type that callers have too.
type Field = struct{ Name, Value string }

// check refuses what could be read as anything but one request with the given fields.
func check(r *Request) error {
	switch {
	case !field.IsName(r.Method):
		return fmt.Errorf("%w: bad method", ErrRequest)
	case len(r.Path) == 0 || r.Path[0] != '/' || !field.IsVisible(r.Path):
		return fmt.Errorf("%w: bad path", ErrRequest)
	case !field.IsValue(r.Accept):
		return fmt.Errorf("%w: bad Accept", ErrRequest)
	case r.Bearer != "" && !field.IsVisible(r.Bearer):
		return fmt.Errorf("%w: bad bearer key", ErrRequest)
	}
	return checkOwn(r)
}

// checkOwn is check of what no opening holds.
func checkOwn(r *Request) error {
	if r.RequestID != "" && !field.IsVisible(r.RequestID) {
		return fmt.Errorf("%w: bad request id", ErrRequest)
	}
	return checkFields(r.Fields)
}

// checkFields refuses fields that could be read as anything else, that say how the message is framed, or that the
// client itself sets.
func checkFields(fields []Field) error {
	for _, f := range fields {
		if !field.IsName(f.Name) || f.Value == "" || !field.IsValue(f.Value) || isOwn(f.Name) {
			return fmt.Errorf("%w: bad field %q", ErrRequest, f.Name)
		}
	}
	return nil
}

// ownNames are the names of fields that frame a message, that belong to a connection, or that Request has fields for.
var ownNames = []string{"Host", "Connection", "Keep-Alive", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Expect",
	"Authorization", "Accept", "Accept-Encoding", "User-Agent", "X-Request-Id"}

// isOwn reports whether the client itself sends fields of a name, which is of ASCII.
func isOwn(name string) bool {
	if name == "" || name[0]|0x20 == 'x' && len(name) != len("X-Request-Id") {
		return false
	}
	for _, prefix := range [...]string{"Content-", "Proxy-"} {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			return true
		}
	}
	return slices.ContainsFunc(ownNames, func(own string) bool {
		return len(own) == len(name) && strings.EqualFold(own, name)
	})
}

// opening is how the heads of requests of one kind begin. They are few, as paths and keys are configured, and alike to
// the byte.
type opening struct {
	text                 string
	method, path, bearer string // parts of text
	accept               string
	entity               string // the lines before a body's length
}

func (o *opening) fits(r *Request) bool {
	return o.accept == r.Accept && o.path == r.Path && o.method == r.Method && o.bearer == r.Bearer
}

// openings are those of requests sent before, each at one place.
type openings [16]atomic.Pointer[opening]

// of returns the place of r's opening: those of an engine's usual requests have one each.
func (o *openings) of(r *Request) *atomic.Pointer[opening] {
	at := len(r.Path)
	if r.Accept != "" {
		at++
	}
	return &o[at%len(o)]
}

// openingOf checks r and returns its opening.
func (c *Client) openingOf(r *Request) (*opening, error) {
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
func (c *Client) open(r *Request) *opening {
	line := r.Method + " " + c.at.prefix + r.Path
	text := []byte(line + " HTTP/1.1\r\nHost: " + c.at.host + "\r\n")
	text = appendLine(text, "User-Agent: ", c.cfg.Agent)
	for _, f := range c.cfg.Fields {
		text = appendLine(text, f.Name+": ", f.Value)
	}
	text = appendLine(text, "Accept: ", r.Accept)
	key := r.Bearer
	if key == "" {
		key = c.cfg.Bearer
	}
	o := &opening{text: string(appendLine(text, "Authorization: Bearer ", key)), accept: r.Accept,
		entity: "Content-Type: " + c.cfg.ContentType + "\r\nContent-Length: "}
	o.method, o.path = o.text[:len(r.Method)], o.text[len(line)-len(r.Path):len(line)]
	if r.Bearer != "" {
		end := len(o.text) - len("\r\n")
		o.bearer = o.text[end-len(r.Bearer) : end]
	}
	return o
}

// appendHead appends the request's head, which begins as o says, to dst.
func appendHead(dst []byte, o *opening, r *Request) []byte {
	dst = appendLine(append(dst, o.text...), "X-Request-Id: ", r.RequestID)
	for _, f := range r.Fields {
		dst = append(append(append(append(append(dst, f.Name...), ": "...), f.Value...), '\r'), '\n')
	}
	if size := bodySize(r.Segments); size > 0 || carriesBody(r.Method) {
		dst = append(dst, o.entity...)
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
