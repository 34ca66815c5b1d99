package messages

import (
	"net/http"
	"strings"

	"octet/gateway/apierr"
	"octet/gateway/wire"
)

// AppendError implements doors.Door: Messages' own shape, with our code beside its type. Its clients show the message
// alone, so that names the parameter as well.
func (Door) AppendError(dst []byte, e *apierr.Error, requestID string) []byte {
	dst = append(append(dst, `{"type":"error","error":{"type":"`...), typeOf(e.Status())...)
	dst = wire.AppendQuoted(append(dst, `","code":`...), string(e.Code))
	message := e.Message
	if e.Param != "" && !strings.Contains(message, e.Param) {
		message = e.Param + ": " + message
	}
	dst = wire.AppendQuoted(append(dst, `,"message":`...), message)
	if e.Param != "" {
		dst = wire.AppendQuoted(append(dst, `,"param":`...), e.Param)
	}
	if e.Param == names[thread] && e.Code == apierr.UnsupportedParameter {
		dst = append(dst, unthreaded...)
	}
	dst = wire.AppendQuoted(append(dst, `},"request_id":`...), requestID)
	return append(dst, '}')
}

// unthreaded are the details of the refusal of a thread, a conversation that is held. Tool runners of the SDKs send it
// unless they are told not to, and go on without it, with the whole conversation, if the error has these.
const unthreaded = `,"details":{"error_code":"thread_unsupported_request"}`

// Failure implements doors.Answer.
func (*Answer) Failure(e *apierr.Error, requestID string) []byte {
	event := Door{}.AppendError([]byte("event: error\ndata: "), e, requestID)
	return append(event, "\n\n"...)
}

// typeOf returns Messages' error type for a status.
func typeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}
