package apierr

import "net/http"

// Code is one of the closed list of error codes that clients may branch on.
type Code string

// The codes. A new one is a change of the contract.
const (
	InvalidJSON           Code = "invalid_json"
	DuplicateKey          Code = "duplicate_key"
	JSONTooDeep           Code = "json_too_deep"
	InvalidUTF8           Code = "invalid_utf8"
	InvalidRequest        Code = "invalid_request"
	UnsupportedParameter  Code = "unsupported_parameter"
	MissingParameter      Code = "missing_required_parameter"
	InvalidValue          Code = "invalid_value"
	ContextLength         Code = "context_length_exceeded"
	ExceedsPool           Code = "request_exceeds_pool"
	UnsupportedContent    Code = "unsupported_content"
	InvalidAPIKey         Code = "invalid_api_key"
	PermissionDenied      Code = "permission_denied"
	PriorityNotAllowed    Code = "priority_not_allowed"
	ModelNotFound         Code = "model_not_found"
	RouteNotFound         Code = "route_not_found"
	ReceiptNotFound       Code = "receipt_not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	RequestTimeout        Code = "request_timeout"
	IdempotencyConflict   Code = "idempotency_conflict"
	PayloadTooLarge       Code = "payload_too_large"
	UnsupportedMediaType  Code = "unsupported_media_type"
	HeaderTooLarge        Code = "header_too_large"
	NoSpecialist          Code = "no_specialist"
	QueueFull             Code = "queue_full"
	KVExhausted           Code = "kv_exhausted"
	DeadlineUnachievable  Code = "deadline_unachievable"
	PriorityFloor         Code = "priority_floor"
	QuotaExceeded         Code = "quota_exceeded"
	Internal              Code = "internal_error"
	UpstreamReset         Code = "upstream_reset"
	UpstreamProtocolError Code = "upstream_protocol_error"
	NoHealthyReplica      Code = "no_healthy_replica"
	BreakerOpen           Code = "breaker_open"
	Draining              Code = "draining"
	Overloaded            Code = "overloaded"
	DeadlineExceeded      Code = "deadline_exceeded"
	UpstreamTimeout       Code = "upstream_timeout"
)

// statusOf is the one table from codes to HTTP statuses.
var statusOf = map[Code]int{
	InvalidJSON: 400, DuplicateKey: 400, JSONTooDeep: 400, InvalidUTF8: 400, InvalidRequest: 400,
	UnsupportedParameter: 400, MissingParameter: 400, InvalidValue: 400, ContextLength: 400, ExceedsPool: 400,
	UnsupportedContent: 400,
	InvalidAPIKey:      401, PermissionDenied: 403, PriorityNotAllowed: 403,
	ModelNotFound: 404, RouteNotFound: 404, ReceiptNotFound: 404, MethodNotAllowed: 405, RequestTimeout: 408,
	IdempotencyConflict: 409, PayloadTooLarge: 413, UnsupportedMediaType: 415, NoSpecialist: 422,
	QueueFull: 429, KVExhausted: 429, DeadlineUnachievable: 429, PriorityFloor: 429, QuotaExceeded: 429,
	HeaderTooLarge: 431,
	Internal:       500, UpstreamReset: 502, UpstreamProtocolError: 502,
	NoHealthyReplica: 503, BreakerOpen: 503, Draining: 503, Overloaded: 503,
	DeadlineExceeded: 504, UpstreamTimeout: 504,
}

// typeOf returns OpenAI's error type for a status.
func typeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusNotFound:
		return "not_found_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}
