package gateway

import (
	"context"
	"errors"

	"octet/engine"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// party is what could have caused the end of an attempt on a replica.
type party uint8

const (
	byGateway party = iota // this process, its host, or what it decided for other requests
	byClient               // the connection or the deadlines of the client
	byRequest              // what the body asks for
	byLoad                 // more requests than the engine takes; others may have sent them
	byReplica
)

func (p party) String() string {
	return [...]string{"gateway", "client", "request", "load", "replica"}[p]
}

// causes is the one table of what ends attempts and which party could have caused it. The first row that an error
// matches counts: an error may wrap several, and what the replica cannot have caused comes first.
var causes = [...]struct {
	err error
	by  party
}{
	{errDeadline, byClient},
	{stream.ErrFirstToken, byClient},
	{context.DeadlineExceeded, byClient},
	{context.Canceled, byClient},
	{stream.ErrSlowClient, byClient},

	{place.ErrPreempted, byGateway},
	{errDrained, byGateway},
	{errAbandoned, byGateway},
	{errHandover, byGateway}, // of another replica, whose own turn ends by itself
	{routing.ErrNoBudget, byGateway},
	{scheduler.ErrRefused, byGateway},
	{routing.ErrNotTried, byGateway},
	{fleet.ErrBreakerOpen, byGateway},
	{engine.ErrLocal, byGateway},

	{errMistaken, byRequest},
	{stream.ErrLongAnswer, byRequest},
	{sse.ErrEventTooLarge, byRequest},

	{errEngineBusy, byLoad},

	{errEngineFailed, byReplica},
	{engine.ErrConnect, byReplica},
	{engine.ErrReset, byReplica},
	{engine.ErrProtocol, byReplica},
	{engine.ErrTimeout, byReplica},
	{engine.ErrTooLarge, byReplica},
}

// causeOf returns the party that could have caused err. What is not in the table did not come from an engine.
func causeOf(err error) party {
	for i := range causes {
		if errors.Is(err, causes[i].err) {
			return causes[i].by
		}
	}
	return byGateway
}

// verdictOf says whether an attempt that ended with err speaks for its replica, against it, or neither. A mistake of
// the client's that the engine told of is an answer as it should be.
func verdictOf(err error) fleet.Outcome {
	switch {
	case err == nil, errors.Is(err, errMistaken):
		return fleet.Succeeded
	case causeOf(err) == byReplica:
		return fleet.Failed
	}
	return fleet.Cancelled
}
