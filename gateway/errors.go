package gateway

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"octet/classifier"
	"octet/engine"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// Code is one of the closed list of error codes that clients may branch on.
type Code string

// The codes. A new one is a change of the contract.
const (
	CodeInvalidJSON           Code = "invalid_json"
	CodeDuplicateKey          Code = "duplicate_key"
	CodeJSONTooDeep           Code = "json_too_deep"
	CodeInvalidUTF8           Code = "invalid_utf8"
	CodeInvalidRequest        Code = "invalid_request"
	CodeUnsupportedParameter  Code = "unsupported_parameter"
	CodeMissingParameter      Code = "missing_required_parameter"
	CodeInvalidValue          Code = "invalid_value"
	CodeContextLength         Code = "context_length_exceeded"
	CodeExceedsPool           Code = "request_exceeds_pool"
	CodeUnsupportedContent    Code = "unsupported_content"
	CodeInvalidAPIKey         Code = "invalid_api_key"
	CodePermissionDenied      Code = "permission_denied"
	CodePriorityNotAllowed    Code = "priority_not_allowed"
	CodeModelNotFound         Code = "model_not_found"
	CodeRouteNotFound         Code = "route_not_found"
	CodeReceiptNotFound       Code = "receipt_not_found"
	CodeMethodNotAllowed      Code = "method_not_allowed"
	CodeRequestTimeout        Code = "request_timeout"
	CodeIdempotencyConflict   Code = "idempotency_conflict"
	CodePayloadTooLarge       Code = "payload_too_large"
	CodeUnsupportedMediaType  Code = "unsupported_media_type"
	CodeHeaderTooLarge        Code = "header_too_large"
	CodeNoSpecialist          Code = "no_specialist"
	CodeQueueFull             Code = "queue_full"
	CodeKVExhausted           Code = "kv_exhausted"
	CodeDeadlineUnachievable  Code = "deadline_unachievable"
	CodePriorityFloor         Code = "priority_floor"
	CodeQuotaExceeded         Code = "quota_exceeded"
	CodeInternal              Code = "internal_error"
	CodeUpstreamReset         Code = "upstream_reset"
	CodeUpstreamProtocolError Code = "upstream_protocol_error"
	CodeNoHealthyReplica      Code = "no_healthy_replica"
	CodeBreakerOpen           Code = "breaker_open"
	CodeDraining              Code = "draining"
	CodeOverloaded            Code = "overloaded"
	CodeDeadlineExceeded      Code = "deadline_exceeded"
	CodeUpstreamTimeout       Code = "upstream_timeout"
)

// statusOf is the one table from codes to HTTP statuses.
var statusOf = map[Code]int{
	CodeInvalidJSON: 400, CodeDuplicateKey: 400, CodeJSONTooDeep: 400, CodeInvalidUTF8: 400, CodeInvalidRequest: 400,
	CodeUnsupportedParameter: 400, CodeMissingParameter: 400, CodeInvalidValue: 400, CodeContextLength: 400,
	CodeExceedsPool: 400, CodeUnsupportedContent: 400,
	CodeInvalidAPIKey: 401, CodePermissionDenied: 403, CodePriorityNotAllowed: 403,
	CodeModelNotFound: 404, CodeRouteNotFound: 404, CodeReceiptNotFound: 404,
	CodeMethodNotAllowed: 405, CodeRequestTimeout: 408, CodeIdempotencyConflict: 409,
	CodePayloadTooLarge: 413, CodeUnsupportedMediaType: 415, CodeHeaderTooLarge: 431, CodeNoSpecialist: 422,
	CodeQueueFull: 429, CodeKVExhausted: 429, CodeDeadlineUnachievable: 429, CodePriorityFloor: 429,
	CodeQuotaExceeded: 429,
	CodeInternal:      500, CodeUpstreamReset: 502, CodeUpstreamProtocolError: 502,
	CodeNoHealthyReplica: 503, CodeBreakerOpen: 503, CodeDraining: 503, CodeOverloaded: 503,
	CodeDeadlineExceeded: 504, CodeUpstreamTimeout: 504,
}

// Error is an answer to a client. Message is for people; Param names the header or body field at fault.
type Error struct {
	Code       Code
	Message    string
	Param      string
	RetryAfter time.Duration // 0: unknown or pointless, and then not sent
	status     int           // of HTTP itself, where it says more than the code's; 0 is the code's
	cause      error
	words      string // an engine's own, for the operator alone
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
func (e *Error) Unwrap() error { return e.cause }

// Status returns the HTTP status of e.
func (e *Error) Status() int {
	if e.status != 0 {
		return e.status
	}
	return statusOf[e.Code]
}

// fail returns an *Error without a cause.
func fail(code Code, param, message string) *Error {
	return &Error{Code: code, Param: param, Message: message}
}

// typeOf returns OpenAI's error type for a status.
func typeOf(status int) string {
	switch {
	case status == 401:
		return "authentication_error"
	case status == 403:
		return "permission_error"
	case status == 404:
		return "not_found_error"
	case status == 429:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// Causes with which a request's context ends.
var (
	errDeadline     = errors.New("the deadline of the request has passed")
	errTTFTDeadline = errors.New("the first token's deadline has passed")
	errDrained      = errors.New("the gateway is draining and the grace is over")
	errPreempted    = errors.New("preempted by a request of higher priority")
	errSlowClient   = errors.New("the client does not read")
)

// asError turns any error of the request path into its answer. It is the only place where errors get a code.
func asError(err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	for _, classify := range [...]func(error) *Error{requestError, routeError, admissionError, upstreamError} {
		if e := classify(err); e != nil {
			e.cause = err
			return e
		}
	}
	return &Error{Code: CodeInternal, Message: "internal error", cause: err}
}

func requestError(err error) *Error {
	var bad *wire.Error
	switch {
	case errors.As(err, &bad):
		return fail(Code(bad.Code), bad.Param, bad.Message)
	case errors.Is(err, classifier.ErrUnknownModel):
		return fail(CodeModelNotFound, "model", err.Error())
	case errors.Is(err, classifier.ErrUnknownIntent):
		return fail(CodeInvalidValue, "X-Intent", err.Error())
	case errors.Is(err, classifier.ErrUnknownAdapter):
		return fail(CodeModelNotFound, "X-Adapter", err.Error())
	case errors.Is(err, classifier.ErrNoSpecialist):
		return fail(CodeNoSpecialist, "", err.Error())
	}
	return nil
}

func routeError(err error) *Error {
	var none *routing.NoCandidateError
	switch {
	case errors.As(err, &none) && none.Filter == "breaker":
		return fail(CodeBreakerOpen, "", err.Error())
	case errors.As(err, &none) && (none.Filter == "concurrency" || none.Filter == "utilization"):
		return fail(CodeOverloaded, "", err.Error())
	case errors.As(err, &none):
		return fail(CodeNoHealthyReplica, "", err.Error())
	case errors.Is(err, routing.ErrNotTried) && !errors.Is(err, fleet.ErrBreakerOpen):
		return fail(CodeNoHealthyReplica, "", err.Error())
	case errors.Is(err, fleet.ErrBreakerOpen):
		return fail(CodeBreakerOpen, "", "every replica's breaker is open")
	}
	return nil
}

// grains maps a refusal's reason to its code.
var grains = []struct {
	reason error
	code   Code
}{
	{scheduler.ErrExceedsPool, CodeExceedsPool},
	{scheduler.ErrDeadline, CodeDeadlineUnachievable},
	{scheduler.ErrKVExhausted, CodeKVExhausted},
	{scheduler.ErrQueueFull, CodeQueueFull},
}

func admissionError(err error) *Error {
	var no *scheduler.Refusal
	if !errors.As(err, &no) {
		return nil
	}
	for _, g := range grains {
		if errors.Is(no, g.reason) {
			return &Error{Code: g.code, Message: no.Error(), RetryAfter: no.RetryAfter}
		}
	}
	return nil
}

func upstreamError(err error) *Error {
	switch {
	case errors.Is(err, errDeadline), errors.Is(err, errTTFTDeadline), errors.Is(err, context.DeadlineExceeded):
		return fail(CodeDeadlineExceeded, "", "the deadline passed before the answer was complete")
	case errors.Is(err, errDrained):
		return fail(CodeDraining, "", errDrained.Error())
	case errors.Is(err, engine.ErrTimeout):
		return fail(CodeUpstreamTimeout, "", "the engine did not answer in time")
	case errors.Is(err, engine.ErrConnect):
		return fail(CodeUpstreamReset, "", "the engine could not be reached; nothing was sent to it")
	case errors.Is(err, engine.ErrLocal):
		return fail(CodeOverloaded, "", "the gateway has no connection left for an engine")
	case errors.Is(err, engine.ErrReset), errors.Is(err, errPreempted), errors.Is(err, errHandover):
		return fail(CodeUpstreamReset, "", "the connection to the engine was lost")
	case errors.Is(err, engine.ErrProtocol), errors.Is(err, engine.ErrTooLarge):
		return fail(CodeUpstreamProtocolError, "", "the engine's answer could not be understood")
	}
	return nil
}

// mostRetryAfter is as far ahead as anybody is told to come back.
const mostRetryAfter = time.Hour

// retryAfter returns the header's value: whole seconds, rounded up; "" when unknown.
func (e *Error) retryAfter() string {
	status := e.Status()
	if e.RetryAfter <= 0 || (status != 429 && status != 503) {
		return ""
	}
	return strconv.FormatInt(int64(math.Ceil(min(e.RetryAfter, mostRetryAfter).Seconds())), 10)
}

// appendJSON appends the error object that every surface shows, on one line.
func (e *Error) appendJSON(dst []byte, requestID string) []byte {
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
