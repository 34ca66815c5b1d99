package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/doors"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// Party is what could have caused the end of an attempt on a replica.
type Party uint8

// The parties.
const (
	ByGateway Party = iota // this process, its host, or what it decided for other requests
	ByClient               // the connection or the deadlines of the client
	ByRequest              // what the body asks for
	ByLoad                 // more requests than the engine takes; others may have sent them
	ByReplica
)

func (p Party) String() string {
	return [...]string{"gateway", "client", "request", "load", "replica"}[p]
}

// causes is the one table of what ends attempts and which party could have caused it. The first row that an error
// matches counts: an error may wrap several, and what the replica cannot have caused comes first.
var causes = [...]struct {
	err error
	by  Party
}{
	{ErrDeadline, ByClient},
	{stream.ErrFirstToken, ByClient},
	{context.DeadlineExceeded, ByClient},
	{context.Canceled, ByClient},
	{stream.ErrSlowClient, ByClient},

	{place.ErrPreempted, ByGateway},
	{ErrDrained, ByGateway},
	{ErrAbandoned, ByGateway},
	{ErrHandover, ByGateway}, // of another replica, whose own turn ends by itself
	{routing.ErrNoBudget, ByGateway},
	{scheduler.ErrRefused, ByGateway},
	{routing.ErrNotTried, ByGateway},
	{place.ErrShort, ByGateway},
	{fleet.ErrBreakerOpen, ByGateway},
	{engine.ErrLocal, ByGateway},

	{ErrMistaken, ByRequest},
	{stream.ErrLongAnswer, ByRequest},
	{sse.ErrEventTooLarge, ByRequest},
	{doors.ErrNoWords, ByRequest}, // what the model has said

	{ErrEngineBusy, ByLoad},

	{ErrEngineFailed, ByReplica},
	{ErrEngineAborted, ByReplica},
	{engine.ErrConnect, ByReplica},
	{engine.ErrReset, ByReplica},
	{engine.ErrProtocol, ByReplica},
	{engine.ErrTimeout, ByReplica},
	{engine.ErrTooLarge, ByReplica},
}

// CauseOf returns the party that could have caused err. What is not in the table did not come from an engine.
func CauseOf(err error) Party {
	for i := range causes {
		if errors.Is(err, causes[i].err) {
			return causes[i].by
		}
	}
	return ByGateway
}

// VerdictOf says whether an attempt that ended with err speaks for its replica, against it, or neither. A mistake of
// the client's that the engine told of is an answer as it should be.
func VerdictOf(err error) fleet.Outcome {
	switch {
	case err == nil, errors.Is(err, ErrMistaken):
		return fleet.Succeeded
	case CauseOf(err) == ByReplica:
		return fleet.Failed
	}
	return fleet.Cancelled
}

// Retryable reports whether another replica may do better.
func Retryable(err error) bool {
	return errors.Is(err, scheduler.ErrRefused) && !errors.Is(err, scheduler.ErrDeadline) ||
		errors.Is(err, engine.ErrConnect) || errors.Is(err, engine.ErrLocal) || errors.Is(err, engine.ErrReset) ||
		errors.Is(err, engine.ErrProtocol) ||
		errors.Is(err, ErrEngineFailed) || errors.Is(err, ErrEngineBusy) || errors.Is(err, ErrHandover) ||
		errors.Is(err, ErrShorter) || errors.Is(err, ErrEngineAborted) ||
		LacksAdapter(err)
}

// TooShort reports whether a replica takes fewer tokens than the request has, where another takes more, or may.
func TooShort(err error) bool { return errors.Is(err, place.ErrShort) || errors.Is(err, ErrShorter) }

// Again says what an executor may make of a failed attempt that the client has seen nothing of.
func Again(err error) error {
	switch {
	case errors.Is(err, fleet.ErrBreakerOpen), errors.Is(err, place.ErrAsleep),
		errors.Is(err, place.ErrShort):
		return fmt.Errorf("%w: %w", routing.ErrNotTried, err)
	case err == nil || !Retryable(err):
		return err
	}
	return fmt.Errorf("%w: %w", routing.ErrRetryable, err)
}

// Outcome names how an attempt failed: a code of the contract, or why it is no failure of the replica.
func Outcome(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "client_gone"
	case errors.Is(err, routing.ErrNotTried) && !errors.Is(err, fleet.ErrBreakerOpen),
		errors.Is(err, place.ErrAsleep), errors.Is(err, place.ErrShort):
		return "not_tried"
	case errors.Is(err, stream.ErrSlowClient):
		return "client_slow"
	}
	return string(Of(err).Code)
}

// RetryAfter returns the time that an engine asked to be left alone; zero if it asked for none.
func RetryAfter(err error) time.Duration {
	var said *apierr.Error
	if errors.As(err, &said) {
		return said.RetryAfter
	}
	return 0
}
