package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/classifier"
	"octet/engine"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

func TestEveryErrorOfThePathHasItsCode(t *testing.T) {
	refusal := func(grain error) error {
		return fmt.Errorf("replica: %w", &scheduler.Refusal{Reason: grain, RetryAfter: 1500 * time.Millisecond})
	}
	for _, c := range []struct {
		err        error
		code       Code
		retryAfter string
	}{
		{&wire.Error{Code: wire.CodeDuplicateKey}, CodeDuplicateKey, ""},
		{classifier.ErrUnknownModel, CodeModelNotFound, ""},
		{classifier.ErrUnknownIntent, CodeInvalidValue, ""},
		{classifier.ErrUnknownAdapter, CodeModelNotFound, ""},
		{classifier.ErrNoSpecialist, CodeNoSpecialist, ""},
		{&routing.NoCandidateError{Filter: "health"}, CodeNoHealthyReplica, ""},
		{&routing.NoCandidateError{Filter: "breaker"}, CodeBreakerOpen, ""},
		{&routing.NoCandidateError{Filter: "concurrency"}, CodeOverloaded, ""},
		{fmt.Errorf("%w: %w", routing.ErrNotTried, fleet.ErrBreakerOpen), CodeBreakerOpen, ""},
		{refusal(scheduler.ErrQueueFull), CodeQueueFull, "2"},
		{refusal(scheduler.ErrKVExhausted), CodeKVExhausted, "2"},
		{refusal(scheduler.ErrDeadline), CodeDeadlineUnachievable, "2"},
		{refusal(scheduler.ErrExceedsPool), CodeExceedsPool, ""}, // coming again would not help
		{errDeadline, CodeDeadlineExceeded, ""},
		{errTTFTDeadline, CodeDeadlineExceeded, ""},
		{context.DeadlineExceeded, CodeDeadlineExceeded, ""},
		{errDrained, CodeDraining, ""},
		{engine.ErrConnect, CodeUpstreamReset, ""},
		{engine.ErrReset, CodeUpstreamReset, ""},
		{engine.ErrLocal, CodeOverloaded, ""},
		{engine.ErrTimeout, CodeUpstreamTimeout, ""},
		{engine.ErrProtocol, CodeUpstreamProtocolError, ""},
		{engine.ErrTooLarge, CodeUpstreamProtocolError, ""},
		{&routing.PluginPanicError{Plugin: "mine", Value: 1}, CodeInternal, ""},
		{errors.New("anything else"), CodeInternal, ""},
	} {
		e := asError(c.err)
		if e.Code != c.code || e.retryAfter() != c.retryAfter {
			t.Errorf("%v: %s with Retry-After %q, want %s with %q", c.err, e.Code, e.retryAfter(), c.code, c.retryAfter)
		}
		if e.Code == CodeInternal && strings.Contains(e.Message, "anything") {
			t.Errorf("an internal error shows its cause to clients: %s", e.Message)
		}
	}
}

func TestTheTableOfCodesIsTheContracts(t *testing.T) {
	contract := map[int]string{
		400: "invalid_json duplicate_key json_too_deep invalid_utf8 invalid_request unsupported_parameter " +
			"missing_required_parameter invalid_value context_length_exceeded request_exceeds_pool unsupported_content",
		401: "invalid_api_key", 403: "permission_denied priority_not_allowed",
		404: "model_not_found route_not_found receipt_not_found",
		405: "method_not_allowed", 408: "request_timeout", 409: "idempotency_conflict", 413: "payload_too_large",
		415: "unsupported_media_type",
		431: "header_too_large", 422: "no_specialist",
		429: "queue_full kv_exhausted deadline_unachievable priority_floor quota_exceeded",
		500: "internal_error", 502: "upstream_reset upstream_protocol_error",
		503: "no_healthy_replica breaker_open draining overloaded",
		504: "deadline_exceeded upstream_timeout",
	}
	n := 0
	for status, codes := range contract {
		for code := range strings.FieldsSeq(codes) {
			n++
			if statusOf[Code(code)] != status {
				t.Errorf("%s has status %d, want %d", code, statusOf[Code(code)], status)
			}
		}
	}
	if n != len(statusOf) {
		t.Errorf("the table has %d codes, the contract %d", len(statusOf), n)
	}
}

// Promise 3: what a client cannot fix is said in the same shape as what it can.
func TestAnErrorIsOneLineOfJSON(t *testing.T) {
	e := fail(CodeInvalidValue, "messages[0].role", "line one\nline \"two\" \x00")
	got := string(e.appendJSON(nil, "id-1"))
	want :=
		`{"error":{"message":"line one\nline \"two\" \u0000","type":"invalid_request_error","code":"invalid_value","param":"messages[0].role"},"request_id":"id-1"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReceiptsForgetTheOldestOfTheirTenantOnly(t *testing.T) {
	rs := newReceipts(3)
	for i := range 5 {
		keep(rs, "a", &Receipt{ID: fmt.Sprint("a", i)})
	}
	keep(rs, "b", &Receipt{ID: "b0"})
	for id, kept := range map[string]bool{"a0": false, "a1": false, "a2": true, "a3": true, "a4": true} {
		if got := rs.find("a", id) != nil; got != kept {
			t.Errorf("receipt %s kept: %v, want %v", id, got, kept)
		}
	}
	if rs.find("a", "b0") != nil || rs.find("b", "b0") == nil {
		t.Error("a receipt is its tenant's alone")
	}
}
