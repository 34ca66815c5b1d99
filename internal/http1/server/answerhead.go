package server

import (
	"net/http"
	"net/textproto"
	"strconv"
	"time"
)

// explicitHeaders is what the handler's own fields determine.
type explicitHeaders struct {
	length     int64 // Content-Length; -1 if it is not given
	kind       bool  // Content-Type is given, or Content-Encoding: nothing is to be guessed
	date       bool
	connection []string // what is to be said of it, unless it closes
}

// appendHead appends the status line and the handler's fields. What frames the message is left to decideFraming.
func (a *Answer) appendHead(dst []byte, status int) []byte {
	a.explicit = explicitHeaders{length: -1}
	dst = appendStatus(dst, a.c.req.ProtoMinor, status)
	for name, values := range a.header {
		if a.obey(name, values, status) || !token(name) {
			continue
		}
		dst = appendField(dst, name, values)
	}
	return dst
}

// appendField appends a field, a line for each of its values.
func appendField(dst []byte, name string, values []string) []byte {
	for _, v := range values {
		dst = append(append(dst, name...), ": "...)
		dst = append(appendValue(dst, v), "\r\n"...)
	}
	return dst
}

// obey takes down a field that the server obeys. It returns true if the field is not to be sent as it is.
func (a *Answer) obey(name string, values []string, status int) (hidden bool) {
	switch name {
	case "Content-Length":
		if len(values) > 0 {
			if n, err := strconv.ParseUint(trim(values[0]), 10, 63); err == nil {
				a.explicit.length = int64(n)
			}
		}
		return true
	case "Transfer-Encoding", "Trailer":
		return true
	case "Connection":
		a.explicit.connection = values
		for _, v := range values {
			a.closing = a.closing || listed(v, "close", ",")
		}
		return true
	case "Date":
		a.explicit.date = true
	case "Content-Type":
		a.explicit.kind = true
		return status == http.StatusNotModified
	case "Content-Encoding":
		a.explicit.kind = a.explicit.kind || len(values) > 0 && values[0] != ""
	}
	return false
}

// appendStatus appends a status line.
func appendStatus(dst []byte, minor, status int) []byte {
	if minor == 1 && status == http.StatusOK {
		return append(dst, "HTTP/1.1 200 OK\r\n"...)
	}
	dst = append(dst, "HTTP/1."...)
	dst = append(dst, '0'+byte(minor), ' ')
	dst = append(strconv.AppendInt(dst, int64(status), 10), ' ')
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status)
	}
	return append(append(dst, text...), "\r\n"...)
}

// appendValue appends a field's value: no line begins or ends within it.
func appendValue(dst []byte, v string) []byte {
	v = textproto.TrimString(v)
	at := len(dst)
	dst = append(dst, v...)
	for i, b := range dst[at:] {
		if b == '\r' || b == '\n' {
			dst[at+i] = ' '
		}
	}
	return dst
}

// decideFraming decides how the answer is framed, and adds that to its head. last says that buf and p are all of the
// body.
func (a *Answer) decideFraming(p []byte, last bool) {
	dst := a.buf[:a.head:a.from]
	allowed, noBody := allowsBody(a.status), a.c.req.Method == http.MethodHead
	a.empty = noBody || !allowed
	a.length = a.explicit.length
	if size := len(a.buf) - a.from + len(p); a.length < 0 && last && allowed && (!noBody || size > 0) {
		a.length = int64(size)
	}
	if a.length >= 0 && allowed {
		dst = append(strconv.AppendInt(append(dst, "Content-Length: "...), a.length, 10), "\r\n"...)
	}
	if allowed && !a.explicit.kind {
		dst = appendKind(dst, a.buf[a.from:], p)
	}
	if !a.explicit.date {
		dst = a.c.server.appendDate(dst, a.began)
	}
	dst = a.frame(dst)
	a.head = len(append(dst, "\r\n"...))
}

// appendKind appends a Content-Type as the first bytes that are there suggest, where there are any.
func appendKind(dst, held, p []byte) []byte {
	if len(held) == 0 {
		held = p
	}
	if len(held) == 0 {
		return dst
	}
	return append(append(append(dst, "Content-Type: "...), http.DetectContentType(held)...), "\r\n"...)
}

// frame is how the body ends, and whether the connection does.
func (a *Answer) frame(dst []byte) []byte {
	r := a.c.req
	if !a.empty && a.length < 0 {
		if r.ProtoMinor == 1 {
			a.chunks = true
			dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
		} else {
			a.toEnd, a.closing = true, true
		}
	}
	if a.c.server.closing.Load() || !a.c.body.whole() && a.c.body.tooMuch() {
		a.closing = true
	}
	switch {
	case a.closing && r.ProtoMinor == 1:
		return append(dst, "Connection: close\r\n"...)
	case a.closing:
		return dst
	case a.explicit.connection != nil:
		return appendField(dst, "Connection", a.explicit.connection)
	case r.ProtoMinor == 0:
		return append(dst, "Connection: keep-alive\r\n"...)
	}
	return dst
}

func allowsBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// stamp is a Date field, for the second that it is of.
type stamp struct {
	second int64
	line   []byte
}

// appendDate appends the Date field for now, rendered once a second.
func (s *Server) appendDate(dst []byte, now time.Time) []byte {
	second := now.Unix()
	d := s.date.Load()
	if d == nil || d.second != second {
		d = &stamp{second, append(now.UTC().AppendFormat([]byte("Date: "), http.TimeFormat), "\r\n"...)}
		s.date.Store(d)
	}
	return append(dst, d.line...)
}
