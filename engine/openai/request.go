package openai

import (
	"fmt"
	"strconv"
	"strings"

	"octet/engine"
	"octet/internal/field"
)

// check refuses what could be read as anything but one request with the given fields.
func check(r *engine.Request) error {
	switch {
	case !field.IsName(r.Method):
		return fmt.Errorf("%w: bad method", ErrRequest)
	case len(r.Path) == 0 || r.Path[0] != '/' || !field.IsVisible(r.Path):
		return fmt.Errorf("%w: bad path", ErrRequest)
	case r.RequestID != "" && !field.IsVisible(r.RequestID):
		return fmt.Errorf("%w: bad request id", ErrRequest)
	case r.Bearer != "" && !field.IsVisible(r.Bearer):
		return fmt.Errorf("%w: bad bearer key", ErrRequest)
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

// appendHead appends the request's head to dst.
func (c *Client) appendHead(dst []byte, r *engine.Request) []byte {
	dst = append(dst, r.Method...)
	dst = append(dst, ' ')
	dst = append(dst, c.at.prefix...)
	dst = append(dst, r.Path...)
	dst = append(dst, " HTTP/1.1\r\n"...)
	dst = append(dst, c.fixed...)
	if r.Stream {
		dst = append(dst, "Accept: text/event-stream\r\n"...)
	}
	dst = appendLine(dst, "X-Request-Id: ", r.RequestID)
	if r.Bearer != "" {
		dst = appendLine(dst, "Authorization: Bearer ", r.Bearer)
	} else {
		dst = appendLine(dst, "Authorization: Bearer ", c.cfg.Bearer)
	}
	for _, f := range r.Fields {
		dst = append(append(append(append(append(dst, f.Name...), ": "...), f.Value...), '\r'), '\n')
	}
	if size := bodySize(r.Segments); size > 0 || carriesBody(r.Method) {
		dst = append(dst, "Content-Type: application/json\r\nContent-Length: "...)
		dst = strconv.AppendInt(dst, int64(size), 10)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...)
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
