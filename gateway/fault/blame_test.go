package fault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/doors"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// Blame goes by what could have caused the end of an attempt: every row of the table, as it comes to it.
func TestBlameGoesByWhoCouldHaveCausedIt(t *testing.T) {
	x := Report{Request: &intake.Request{Body: new(intake.Body)}}
	refused := func(status int) error { return x.refusedBy(refusal{status: status, message: "no"}) }
	said := func(code, kind string) error {
		return x.Meaning(&stream.Unusable{Err: &sse.EngineError{Message: "no", Type: kind, Code: code}})
	}
	lost := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	rows := []struct {
		name string
		err  error
		by   Party
		want fleet.Outcome
	}{
		{"the answer is whole", nil, ByGateway, fleet.Succeeded},
		{"the deadline of the request", ErrDeadline, ByClient, fleet.Cancelled},
		{"the deadline within an engine's error", fmt.Errorf("%w: %w", engine.ErrReset, ErrDeadline), ByClient,
			fleet.Cancelled},
		{"the first token's deadline", stream.ErrFirstToken, ByClient, fleet.Cancelled},
		{"a deadline without a cause", context.DeadlineExceeded, ByClient, fleet.Cancelled},
		{"the client left", context.Canceled, ByClient, fleet.Cancelled},
		{"the client does not read", fmt.Errorf("%w: %w", stream.ErrSlowClient, lost), ByClient, fleet.Cancelled},
		{"preempted", place.ErrPreempted, ByGateway, fleet.Cancelled},
		{"drained", ErrDrained, ByGateway, fleet.Cancelled},
		{"abandoned", ErrAbandoned, ByGateway, fleet.Cancelled},
		{"the engine beside it failed", ErrHandover, ByGateway, fleet.Cancelled},
		{"no budget", routing.ErrNoBudget, ByGateway, fleet.Cancelled},
		{"the Gate refused", &scheduler.Refusal{Reason: scheduler.ErrQueueFull}, ByGateway, fleet.Cancelled},
		{"no place for a stream that goes on", ErrNoPlace, ByGateway, fleet.Cancelled},
		{"not tried", fmt.Errorf("%w: slot 1", routing.ErrNotTried), ByGateway, fleet.Cancelled},
		{"the breaker is open", fmt.Errorf("%w: debug-0", fleet.ErrBreakerOpen), ByGateway, fleet.Cancelled},
		{"its context is too short", place.ErrShort, ByGateway, fleet.Cancelled},
		{"out of descriptors", fmt.Errorf("%w: %w", engine.ErrLocal, syscall.EMFILE), ByGateway, fleet.Cancelled},
		{"a bug of ours", errors.New("anything else"), ByGateway, fleet.Cancelled},
		{"a body that cannot be sent", apierr.New(apierr.UnsupportedParameter, "n", "no"), ByGateway, fleet.Cancelled},
		{"400", refused(400), ByRequest, fleet.Succeeded},
		{"404", refused(404), ByRequest, fleet.Succeeded},
		{"413", refused(413), ByRequest, fleet.Succeeded},
		{"422", refused(422), ByRequest, fleet.Succeeded},
		{"400 as the first event", said("400", "BadRequestError"), ByRequest, fleet.Succeeded},
		{"a type alone as the first event", said("", "invalid_request_error"), ByRequest, fleet.Succeeded},
		{"an answer over response_bytes", fmt.Errorf("%w has more", stream.ErrLongAnswer), ByRequest, fleet.Cancelled},
		{"an event over event_bytes", broke(fmt.Errorf("%w: 2 MiB", sse.ErrEventTooLarge)), ByRequest, fleet.Cancelled},
		{"arguments that Messages has no words for", x.Meaning(&stream.Unusable{Err: fmt.Errorf("%w: call 0",
			doors.ErrNoWords)}), ByRequest, fleet.Cancelled},
		{"429", refused(429), ByLoad, fleet.Cancelled},
		{"503", refused(503), ByLoad, fleet.Cancelled},
		{"429 as the first event", said("429", ""), ByLoad, fleet.Cancelled},
		{"a rate limit in words", said("rate_limit_exceeded", "requests"), ByLoad, fleet.Cancelled},
		{"500", refused(500), ByReplica, fleet.Failed},
		{"500 as the first event", said("500", "InternalServerError"), ByReplica, fleet.Failed},
		{"an error without a code", said("", ""), ByReplica, fleet.Failed},
		{"given up by its engine", x.Meaning(&stream.Unusable{Err: sse.Aborted()}), ByReplica, fleet.Failed},
		{"an error within the answer", broke(&sse.EngineError{Message: "no", Code: "400"}), ByReplica, fleet.Failed},
		{"401 for the gateway's own key", refused(401), ByReplica, fleet.Failed},
		{"302", refused(302), ByReplica, fleet.Failed},
		{"no connection", fmt.Errorf("%w: %w", engine.ErrConnect, syscall.ECONNREFUSED), ByReplica, fleet.Failed},
		{"a lost connection", fmt.Errorf("%w: %w", engine.ErrReset, lost), ByReplica, fleet.Failed},
		{"no HTTP", engine.ErrProtocol, ByReplica, fleet.Failed},
		{"garbage", broke(sse.ErrGarbage), ByReplica, fleet.Failed},
		{"no answer in time", engine.ErrTimeout, ByReplica, fleet.Failed},
		{"a head without end", engine.ErrTooLarge, ByReplica, fleet.Failed},
	}
	met := map[error]bool{}
	for _, r := range rows {
		if r.err != nil && CauseOf(r.err) != r.by {
			t.Errorf("%s: blamed on the %s, want the %s", r.name, CauseOf(r.err), r.by)
		}
		if got := VerdictOf(r.err); got != r.want {
			t.Errorf("%s: outcome %d, want %d", r.name, got, r.want)
		}
		for _, c := range causes {
			if errors.Is(r.err, c.err) {
				met[c.err] = true
				break
			}
		}
	}
	for _, c := range causes {
		if !met[c.err] {
			t.Errorf("no row is decided by %q", c.err)
		}
	}
}
