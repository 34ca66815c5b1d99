package apierr

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"octet/gateway/wire"
)

// Error is an answer to a client. Message is for people; Param names the header or body field at fault.
type Error struct {
	Code       Code
	Message    string
	Param      string
	RetryAfter time.Duration // zero means unknown or pointless; it is not sent then
	Exact      bool          // RetryAfter is told as it is, however long: a calendar says so
	HTTPStatus int           // where HTTP itself is more precise than Code; zero means the status of Code
	Cause      error         // for logs; may be nil
	EngineText string        // what an engine said of it, for logs and receipts only
}

// New returns an Error without a cause.
func New(code Code, param, message string) *Error {
	return &Error{Code: code, Param: param, Message: message}
}

// Repeated is the error of a header that may be given once.
func Repeated(header string) *Error {
	return New(InvalidValue, header, "the header is given more than once")
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
func (e *Error) Unwrap() error { return e.Cause }

// Status returns the HTTP status of e.
func (e *Error) Status() int {
	if e.HTTPStatus != 0 {
		return e.HTTPStatus
	}
	return statusOf[e.Code]
}

// MostRetryAfter is the longest wait that a client is told, where it is an estimate.
const MostRetryAfter = time.Hour

// RetryAfterHeader returns the value of Retry-After: whole seconds, rounded up; "" if unknown.
func (e *Error) RetryAfterHeader() string {
	status := e.Status()
	if e.RetryAfter <= 0 || (status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable) {
		return ""
	}
	after := e.RetryAfter
	if !e.Exact {
		after = min(after, MostRetryAfter)
	}
	return strconv.FormatInt(int64(math.Ceil(after.Seconds())), 10)
}

// AppendJSON appends the error object that every endpoint returns, on one line.
func (e *Error) AppendJSON(dst []byte, requestID string) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = wire.AppendQuoted(dst, e.Message)
	dst = append(dst, `,"type":`...)
	dst = wire.AppendQuoted(dst, typeOf(e.Status()))
	dst = append(dst, `,"code":`...)
	dst = wire.AppendQuoted(dst, string(e.Code))
	dst = append(dst, `,"param":`...)
	if e.Param == "" {
		dst = append(dst, "null"...)
	} else {
		dst = wire.AppendQuoted(dst, e.Param)
	}
	dst = append(dst, `},"request_id":`...)
	dst = wire.AppendQuoted(dst, requestID)
	return append(dst, '}')
}
