package apierr

import "net/http"

// Code is one of the closed list of error codes that clients may branch on.
type Code string

// The codes: what causes each, and its cure. docs/api.md is generated of them. A new one is a change of the contract.
const (
	// The body is not one JSON value of the form that the endpoint takes. Cure: Send one JSON object; let a JSON
	// library write it.
	InvalidJSON Code = "invalid_json"
	// An object of the body has the same member twice. Cure: Send each member once.
	DuplicateKey Code = "duplicate_key"
	// The body nests deeper than limits.json_depth. Cure: Nest it less, or have the operator raise the limit.
	JSONTooDeep Code = "json_too_deep"
	// A string of the body is not UTF-8, or has half of a surrogate pair. Cure: Send UTF-8, and cut no string within a
	// character.
	InvalidUTF8 Code = "invalid_utf8"
	// The request cannot be read, a member is spelled in another case, or the engine refused the request as the
	// client's mistake. Cure: Mend what the message says: the same request again ends the same way.
	InvalidRequest Code = "invalid_request"
	// A member asks for what this gateway, this door or every engine of the specialist cannot do. It is never
	// dropped in silence. Cure: Leave out the member that param names, or ask for another model.
	UnsupportedParameter Code = "unsupported_parameter"
	// A member or header that must be there is missing or null. Cure: Send what param names.
	MissingParameter Code = "missing_required_parameter"
	// A member or header has a value of the wrong form, or out of its range; or a header comes twice. Cure: Send a
	// value as the message says.
	InvalidValue Code = "invalid_value"
	// Prompt and answer together are longer than the model's context: max_model_len of GET /v1/models. Cure: Shorten
	// the prompt, or ask for fewer tokens.
	ContextLength Code = "context_length_exceeded"
	// Prompt and answer together need more cache blocks than any replica of the specialist has. Cure: Shorten the
	// prompt, ask for fewer tokens or a smaller n.
	ExceedsPool Code = "request_exceeds_pool"
	// A part of a message is neither text nor an image, or is an image and the specialist takes text only. Cure:
	// Send text, or ask a model that takes images.
	UnsupportedContent Code = "unsupported_content"
	// There is no key, or none that is known, or it has expired, or a token is not accepted or names no declared
	// tenant; on the admin listener: not its token. Cure: Send Authorization: Bearer KEY, or X-Api-Key.
	InvalidAPIKey Code = "invalid_api_key"
	// The key may not do this: the model, X-Octet-Replica, verdicts, or a page of another site. Cure: Use a key that
	// may, or have the operator permit it.
	PermissionDenied Code = "permission_denied"
	// The priority is above the key's ceiling, and the key's policy is to refuse it. Cure: Ask for a lower
	// X-Priority or another service_tier.
	PriorityNotAllowed Code = "priority_not_allowed"
	// There is no such model, adapter, specialist or replica, or it is not the key's to name. Cure: Take a name from
	// GET /v1/models.
	ModelNotFound Code = "model_not_found"
	// There is nothing at this path. Cure: See the endpoints above; paths are exact.
	RouteNotFound Code = "route_not_found"
	// No receipt of that id is kept for this key: it was another key's, or is forgotten. Cure: Ask with the key of
	// the request, soon after it.
	ReceiptNotFound Code = "receipt_not_found"
	// The path has no such method. Cure: See the endpoints above.
	MethodNotAllowed Code = "method_not_allowed"
	// The head or the body did not arrive in time: limits.header_timeout, limits.body_timeout. Cure: Send it again
	// over a better connection.
	RequestTimeout Code = "request_timeout"
	// A request under this Idempotency-Key is still being answered, or had another body. Cure: Wait for the first
	// answer, or use a new key.
	IdempotencyConflict Code = "idempotency_conflict"
	// The body is larger than limits.body_bytes, or than the engine takes. Cure: Send less, or have the operator
	// raise the limit.
	PayloadTooLarge Code = "payload_too_large"
	// The body is not application/json, or is compressed. Cure: Send Content-Type: application/json, without
	// Content-Encoding.
	UnsupportedMediaType Code = "unsupported_media_type"
	// Request line and headers are larger than limits.header_bytes, or more than limits.header_fields. Cure: Send
	// fewer or shorter headers.
	HeaderTooLarge Code = "header_too_large"
	// The classifier found no specialist for the text, and the configuration says refuse. Cure: Name a model.
	NoSpecialist Code = "no_specialist"
	// Every queue that could take the request is full, it has waited for limits.max_queue_wait, or the engine said
	// 429. Cure: Come back after Retry-After.
	QueueFull Code = "queue_full"
	// No replica has cache blocks for the request in time. Cure: Come back after Retry-After, or ask for less.
	KVExhausted Code = "kv_exhausted"
	// The deadline could not be met, as far as is known; nothing was run. Cure: Allow more time, or raise the
	// priority.
	DeadlineUnachievable Code = "deadline_unachievable"
	// The priority is below the floor in force: the configuration's, an operator's, or one that load has raised.
	// Cure: Come back after Retry-After, or ask with a higher priority.
	PriorityFloor Code = "priority_floor"
	// The key's requests, tokens, budget of a day or month, or open streams, or its or its address's share of bodies
	// on their way, are used up. Cure: Come back after Retry-After, or send less at once.
	QuotaExceeded Code = "quota_exceeded"
	// A fault of the gateway's own. Cure: Tell the operator the request_id; the log has the cause.
	Internal Code = "internal_error"
	// The engine could not be reached, broke off, or failed, and no other replica could take over. Cure: Send it
	// again. What a stream has said until then is right.
	UpstreamReset Code = "upstream_reset"
	// The engine's answer could not be understood, or said what the door has no words for; or the request came back
	// to a gateway that it came through. Cure: Send it again; if it stays, the operator looks at the replica.
	UpstreamProtocolError Code = "upstream_protocol_error"
	// No replica of the specialist is healthy, or able to serve this request. Cure: Come back after Retry-After.
	NoHealthyReplica Code = "no_healthy_replica"
	// The breakers of all replicas are open, or the specialist is demoted for its correctness and none stands in.
	// Cure: Come back after Retry-After, or ask another model.
	BreakerOpen Code = "breaker_open"
	// The gateway is shutting down. Cure: Send it to another gateway, or again after Retry-After.
	Draining Code = "draining"
	// The gateway or the engine has no room: open requests, connections in all or of an address, memory of bodies; or
	// tokens cannot be verified, as no keys of their issuer are known. Cure: Come back after Retry-After.
	Overloaded Code = "overloaded"
	// The request's deadline passed before the answer was complete. Cure: Allow more time, or ask for fewer tokens.
	DeadlineExceeded Code = "deadline_exceeded"
	// The engine was silent for too long: limits.ttft_timeout, limits.idle_timeout, limits.answer_timeout. Cure:
	// Send it again.
	UpstreamTimeout Code = "upstream_timeout"
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

// NothingAt begins the message of RouteNotFound where a listener has nothing at a path, which follows.
const NothingAt = "there is nothing at "
