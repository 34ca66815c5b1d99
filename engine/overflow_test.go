package engine

import "testing"

func TestOverflowsAreToldFromOtherRefusals(t *testing.T) {
	for _, c := range []struct {
		typ, code, message string
		want               bool
	}{
		{"BadRequestError", "400",
			"This model's maximum context length is 2048 tokens. However, you requested 3000 tokens (2900 in the " +
				"messages, 100 in the completion).", true},
		{"BadRequestError", "400",
			"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 " +
				"tokens and your request has 10 input tokens.", true},
		{"BadRequestError", "400",
			"You passed 65537 input tokens and requested 0 output tokens. However, the model's context length is " +
				"only 65536 tokens.", true},
		{"BadRequestError", "400",
			"The decoder prompt (length 163840) is longer than the maximum model length of 131072.", true},
		{"BadRequestError", "400", "The input (85050 tokens) is longer than the model's context length (32768 tokens).",
			true},
		{"BadRequest", "400", "Requested token count exceeds the model's maximum context length of 4096 tokens.", true},
		{
			"BadRequest", "400",
			"Input length (5000 tokens) exceeds the maximum allowed length (4091 tokens). Use a shorter input.", true},
		{"exceed_context_size_error", "400", "request (9412 tokens) exceeds it", true},
		{"invalid_request_error", "400",
			"the request exceeds the available context size. try increasing the context size or enable context shift",
			true},
		{"invalid_request_error", "context_length_exceeded", "", true},
		{"BadRequestError", "400", "max_tokens must be at least 1, got 0.", false},
		{"invalid_request_error", "", "temperature is out of range", false},
		{"", "", "", false},
	} {
		if got := IsContextOverflow(c.typ, c.code, c.message); got != c.want {
			t.Errorf("%v for %q %q %q", got, c.typ, c.code, c.message)
		}
	}
}
