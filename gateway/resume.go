package gateway

import (
	"context"
	"errors"

	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/stream"
)

// mostPreemptions is how often one request gives way; then it keeps its place to the end.
const mostPreemptions = 4

// continuable reports whether this replica's engine could continue the answer from its text alone.
func (x *exchange) continuable(rep *ensemble.Replica) bool {
	r := &x.request
	return r.Stream && rep.ContradictedKind() == "" && stream.Continuable(&r.Parsed, r.Kind, &rep.Kind)
}

// resume gives the place up and asks for it again, as often as it takes, until the answer goes on. The client's stream
// stays open and does not notice more than a pause: each at most of limits.max_queue_wait, or, without a queue,
// of limits.ttft_timeout. After that it is refused as others in the queue are.
func (x *exchange) resume(ctx context.Context) (err error) {
	if err = x.request.Restore(); err != nil {
		return err
	}
	for {
		x.turn.leave()
		x.preempted++
		x.handOver()
		x.turn.place.Watch(ctx)
		if err = x.enterInTime(ctx); err != nil {
			return err
		}
		if err = x.call(); !errors.Is(err, place.ErrPreempted) {
			return err
		}
	}
}

// handOver says that another engine is to go on behind the tokens that the client has.
func (x *exchange) handOver() {
	prompt := 0
	if x.prompt.Exact {
		prompt = x.prompt.Tokens
	}
	x.relay.HandOver(prompt)
}
