package apierr

import (
	"strings"
	"testing"
)

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
	e := New(InvalidValue, "messages[0].role", "line one\nline \"two\" \x00")
	got := string(e.AppendJSON(nil, "id-1"))
	want := `{"error":{"message":"line one\nline \"two\" \u0000","type":"invalid_request_error",` +
		`"code":"invalid_value","param":"messages[0].role"},"request_id":"id-1"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
