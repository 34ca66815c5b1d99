package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/classifier"
	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/stream"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

//nolint:lll // raw text that cannot be broken
func TestEveryErrorOfThePathHasItsCode(t *testing.T) {
	refusal := func(grain error) error {
		return fmt.Errorf("replica: %w", &scheduler.Refusal{Reason: grain, RetryAfter: 1500 * time.Millisecond})
	}
	for _, c := range []struct {
		err        error
		code       apierr.Code
		retryAfter string
	}{
		{&wire.Error{Code: wire.CodeDuplicateKey}, apierr.DuplicateKey, ""},
		{classifier.ErrUnknownModel, apierr.ModelNotFound, ""},
		{classifier.ErrUnknownIntent, apierr.InvalidValue, ""},
		{classifier.ErrUnknownAdapter, apierr.ModelNotFound, ""},
		{classifier.ErrNoSpecialist, apierr.NoSpecialist, ""},
		{&routing.NoCandidateError{Filter: "health"}, apierr.NoHealthyReplica, ""},
		{&routing.NoCandidateError{Filter: "breaker", Verdict: routing.BreakerOpen}, apierr.BreakerOpen, ""},
		{&routing.NoCandidateError{Filter: "concurrency", Verdict: routing.Overloaded}, apierr.Overloaded, ""},
		{fmt.Errorf("%w: %w", routing.ErrNotTried, fleet.ErrBreakerOpen), apierr.BreakerOpen, ""},
		{refusal(scheduler.ErrQueueFull), apierr.QueueFull, "2"},
		{refusal(scheduler.ErrKVExhausted), apierr.KVExhausted, "2"},
		{refusal(scheduler.ErrDeadline), apierr.DeadlineUnachievable, "2"},
		{refusal(scheduler.ErrExceedsPool), apierr.ExceedsPool, ""}, // coming again would not help
		{ErrDeadline, apierr.DeadlineExceeded, ""},
		{stream.ErrFirstToken, apierr.DeadlineExceeded, ""},
		{context.DeadlineExceeded, apierr.DeadlineExceeded, ""},
		{ErrDrained, apierr.Draining, ""},
		{engine.ErrConnect, apierr.UpstreamReset, ""},
		{engine.ErrReset, apierr.UpstreamReset, ""},
		{engine.ErrLocal, apierr.Overloaded, ""},
		{engine.ErrTimeout, apierr.UpstreamTimeout, ""},
		{engine.ErrProtocol, apierr.UpstreamProtocolError, ""},
		{engine.ErrTooLarge, apierr.UpstreamProtocolError, ""},
		{&routing.PluginPanicError{Plugin: "mine", Value: 1}, apierr.Internal, ""},
		{errors.New("anything else"), apierr.Internal, ""},
	} {
		e := Of(c.err)
		if e.Code != c.code || e.RetryAfterHeader() != c.retryAfter {
			t.Errorf("%v: %s with Retry-After %q, want %s with %q", c.err, e.Code, e.RetryAfterHeader(), c.code, c.retryAfter)
		}
		if e.Code == apierr.Internal && strings.Contains(e.Message, "anything") {
			t.Errorf("an internal error shows its cause to clients: %s", e.Message)
		}
	}
}
