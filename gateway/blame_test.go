package gateway

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
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// Blame goes by what could have caused the end of an attempt: every row of the table, as it comes to it.
func TestBlameGoesByWhoCouldHaveCausedIt(t *testing.T) {
	x := new(exchange)
	refused := func(status int) error { return x.refusedBy(refusal{status: status, message: "no"}) }
	said := func(code, kind string) error {
		return x.meaning(&stream.Unusable{Err: &sse.EngineError{Message: "no", Type: kind, Code: code}})
	}
	lost := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	rows := []struct {
		name string
		err  error
		by   party
		want fleet.Outcome
	}{
		{"the answer is whole", nil, byGateway, fleet.Succeeded},
		{"the deadline of the request", errDeadline, byClient, fleet.Cancelled},
		{"the deadline within an engine's error", fmt.Errorf("%w: %w", engine.ErrReset, errDeadline), byClient,
			fleet.Cancelled},
		{"the first token's deadline", stream.ErrFirstToken, byClient, fleet.Cancelled},
		{"a deadline without a cause", context.DeadlineExceeded, byClient, fleet.Cancelled},
		{"the client left", context.Canceled, byClient, fleet.Cancelled},
		{"the client does not read", fmt.Errorf("%w: %w", stream.ErrSlowClient, lost), byClient, fleet.Cancelled},
		{"preempted", place.ErrPreempted, byGateway, fleet.Cancelled},
		{"drained", errDrained, byGateway, fleet.Cancelled},
		{"abandoned", errAbandoned, byGateway, fleet.Cancelled},
		{"the engine beside it failed", errHandover, byGateway, fleet.Cancelled},
		{"no budget", routing.ErrNoBudget, byGateway, fleet.Cancelled},
		{"the Gate refused", &scheduler.Refusal{Reason: scheduler.ErrQueueFull}, byGateway, fleet.Cancelled},
		{"no place for a stream that goes on", errNoPlace, byGateway, fleet.Cancelled},
		{"not tried", fmt.Errorf("%w: slot 1", routing.ErrNotTried), byGateway, fleet.Cancelled},
		{"the breaker is open", fmt.Errorf("%w: debug-0", fleet.ErrBreakerOpen), byGateway, fleet.Cancelled},
		{"out of descriptors", fmt.Errorf("%w: %w", engine.ErrLocal, syscall.EMFILE), byGateway, fleet.Cancelled},
		{"a bug of ours", errors.New("anything else"), byGateway, fleet.Cancelled},
		{"a body that cannot be sent", apierr.New(apierr.UnsupportedParameter, "n", "no"), byGateway, fleet.Cancelled},
		{"400", refused(400), byRequest, fleet.Succeeded},
		{"404", refused(404), byRequest, fleet.Succeeded},
		{"413", refused(413), byRequest, fleet.Succeeded},
		{"422", refused(422), byRequest, fleet.Succeeded},
		{"400 as the first event", said("400", "BadRequestError"), byRequest, fleet.Succeeded},
		{"a type alone as the first event", said("", "invalid_request_error"), byRequest, fleet.Succeeded},
		{"an answer over response_bytes", fmt.Errorf("%w has more", stream.ErrLongAnswer), byRequest, fleet.Cancelled},
		{"an event over event_bytes", broke(fmt.Errorf("%w: 2 MiB", sse.ErrEventTooLarge)), byRequest, fleet.Cancelled},
		{"429", refused(429), byLoad, fleet.Cancelled},
		{"503", refused(503), byLoad, fleet.Cancelled},
		{"429 as the first event", said("429", ""), byLoad, fleet.Cancelled},
		{"a rate limit in words", said("rate_limit_exceeded", "requests"), byLoad, fleet.Cancelled},
		{"500", refused(500), byReplica, fleet.Failed},
		{"500 as the first event", said("500", "InternalServerError"), byReplica, fleet.Failed},
		{"an error without a code", said("", ""), byReplica, fleet.Failed},
		{"an error within the answer", broke(&sse.EngineError{Message: "no", Code: "400"}), byReplica, fleet.Failed},
		{"401 for the gateway's own key", refused(401), byReplica, fleet.Failed},
		{"302", refused(302), byReplica, fleet.Failed},
		{"no connection", fmt.Errorf("%w: %w", engine.ErrConnect, syscall.ECONNREFUSED), byReplica, fleet.Failed},
		{"a lost connection", fmt.Errorf("%w: %w", engine.ErrReset, lost), byReplica, fleet.Failed},
		{"no HTTP", engine.ErrProtocol, byReplica, fleet.Failed},
		{"garbage", broke(sse.ErrGarbage), byReplica, fleet.Failed},
		{"no answer in time", engine.ErrTimeout, byReplica, fleet.Failed},
		{"a head without end", engine.ErrTooLarge, byReplica, fleet.Failed},
	}
	met := map[error]bool{}
	for _, r := range rows {
		if r.err != nil && causeOf(r.err) != r.by {
			t.Errorf("%s: blamed on the %s, want the %s", r.name, causeOf(r.err), r.by)
		}
		if got := verdictOf(r.err); got != r.want {
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
