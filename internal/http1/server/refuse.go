package server

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// refusal is why bytes are no request for a handler. The connection ends with it.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// What net/http refuses as well.
var (
	errRequestLine = &refusal{400, "the request line is not METHOD TARGET HTTP/1.1"}
	errMethod      = &refusal{400, "the method is not a token"}
	errTarget      = &refusal{400, "the request target is not a URL"}
	errVersion     = &refusal{505, "the protocol is not HTTP/1.1 or HTTP/1.0"}
	errHost        = &refusal{400, "the Host field is missing, repeated or malformed"}
	errFieldName   = &refusal{400, "a header field's name is not a token"}
	errFieldValue  = &refusal{400, "a header field's value holds control characters"}
	errLength      = &refusal{400, "Content-Length is not a number, or given twice with different ones"}
	errCoding      = &refusal{501, "the only transfer coding that is understood is chunked, once"}
	errTrailer     = &refusal{400, "Trailer names a field that must not be one"}
	errExpectation = &refusal{417, "the only expectation that can be met is 100-continue"}
	errHeadSize    = &refusal{431, "the request's header is too large"}
	errHeadCut     = &refusal{400, "the connection ended within a request's header"}
	errChunk       = &refusal{400, "the body's chunks are malformed"}
	errTrailers    = &refusal{400, "the trailers after the body are malformed or too large"}
)

// What net/http accepts, or answers with silence (errHeadLate). Each is a difference that two readers of the same bytes
// could be played off against each other with, or no client of ours has a use for.
var (
	errBareLF       = &refusal{400, "a line of the header ends in LF alone"}
	errFold         = &refusal{400, "a header field is folded over two lines"}
	errNoName       = &refusal{400, "a header field has no name"}
	errLengthTwice  = &refusal{400, "Content-Length is given more than once"}
	errBothFramings = &refusal{400, "both Content-Length and Transfer-Encoding are given"}
	errCodingIn10   = &refusal{400, "HTTP/1.0 knows no Transfer-Encoding"}
	errFields       = &refusal{431, "the request has too many header fields"}
	errHeadLate     = &refusal{408, "the request's header did not arrive in time"}
)

// Refused is what a Server refuses by itself.
type Refused struct {
	Status int           // 400, 408, 417, 431, 501, 503 or 505
	Text   string        // why
	Target string        // of the request line, as it was sent; "" if that is not known
	Wait   time.Duration // until a place may be free, with 503; zero if that is not known
}

// targetOf returns the target of the request line that is the beginning of what was received; "" without a whole one.
func targetOf(received []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimLeft(received, "\r\n"), []byte("\n"))
	_, rest, _ := bytes.Cut(line, []byte(" "))
	target, _, whole := bytes.Cut(rest, []byte(" "))
	if !whole {
		return ""
	}
	return string(target)
}

// refuse answers for the server, and has the connection closed. received begins with what is refused.
func (c *conn) refuse(bad *refusal, received []byte) verdict { return c.refuseFor(bad, received, 0) }

// refuseFor is refuse that says when a place may be free; zero if that is not known.
func (c *conn) refuseFor(bad *refusal, received []byte, wait time.Duration) verdict {
	target := targetOf(received)
	*c.req = *c.blank
	c.req.Method, c.req.ProtoMinor = http.MethodGet, 1 // whatever it was
	c.body.none()
	c.answer.begin(true)
	c.linger, c.writeBy = true, after(c.answer.began, c.server.WriteTimeout)
	if c.server.Refuse != nil {
		c.server.Refuse(&c.answer, Refused{bad.status, bad.text, target, wait})
	} else {
		c.answer.WriteHeader(bad.status)
		_, _ = io.WriteString(&c.answer, http.StatusText(bad.status)+": "+bad.text+"\n") // a.err keeps it
	}
	c.answer.finish()
	return over
}
