package fault

import (
	"context"
	"errors"

	"octet/adapters"
	"octet/classifier"
	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/place"
	"octet/gateway/stream"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// What a request's context may end with.
var (
	ErrDeadline = errors.New("the deadline of the request has passed")
	ErrDrained  = errors.New("the gateway is draining and the grace is over")
)

// What an attempt may end in, besides the errors of package engine.
var (
	ErrMistaken = errors.New("the engine refused what the client sent")
	// ErrShorter is beside ErrMistaken where another replica takes more tokens, or may.
	ErrShorter      = errors.New("the engine's context is shorter than the request")
	ErrEngineBusy   = errors.New("the engine is overloaded")
	ErrEngineFailed = errors.New("the engine reported a failure of its own")
	// ErrEngineAborted is the end of what an engine has at work where it is stopped, or put to sleep, by others.
	ErrEngineAborted = errors.New("the engine has given the answer up")
	ErrAbandoned     = errors.New("abandoned")
	// ErrHandover ends the attempt of a plan's last step when the step beside it has failed.
	ErrHandover = errors.New("the engine that was to hand the prompt over has failed")
	// ErrNoPlace is a replica that had no place in the time that an engine has for a first token.
	ErrNoPlace error = &scheduler.Refusal{Reason: scheduler.ErrQueueFull,
		Detail: "no place in time for a stream that goes on"}
)

// Of turns any error of the request path into its answer. It is the only place where errors get a code.
func Of(err error) *apierr.Error {
	var known *apierr.Error
	if errors.As(err, &known) {
		return known
	}
	for _, classify := range [...]func(error) *apierr.Error{requestError, routeError, admissionError,
		adapterError, upstreamError} {
		if e := classify(err); e != nil {
			e.Cause = err
			return e
		}
	}
	return &apierr.Error{Code: apierr.Internal, Message: "internal error", Cause: err}
}

func requestError(err error) *apierr.Error {
	var bad *wire.Error
	switch {
	case errors.As(err, &bad):
		return apierr.New(apierr.Code(bad.Code), bad.Param, bad.Message)
	case errors.Is(err, classifier.ErrUnknownModel):
		return apierr.New(apierr.ModelNotFound, "model", err.Error())
	case errors.Is(err, classifier.ErrUnknownIntent):
		return apierr.New(apierr.InvalidValue, "X-Intent", err.Error())
	case errors.Is(err, classifier.ErrUnknownAdapter):
		return apierr.New(apierr.ModelNotFound, "X-Adapter", err.Error())
	case errors.Is(err, classifier.ErrNoSpecialist):
		return apierr.New(apierr.NoSpecialist, "", err.Error())
	}
	return nil
}

func routeError(err error) *apierr.Error {
	var none *routing.NoCandidateError
	switch {
	case errors.As(err, &none) && none.Verdict == routing.BreakerOpen:
		return apierr.New(apierr.BreakerOpen, "", err.Error())
	case errors.As(err, &none) && none.Verdict == routing.Overloaded:
		return apierr.New(apierr.Overloaded, "", err.Error())
	case errors.As(err, &none):
		return apierr.New(apierr.NoHealthyReplica, "", err.Error())
	case errors.Is(err, routing.ErrNotTried) && !errors.Is(err, fleet.ErrBreakerOpen):
		return apierr.New(apierr.NoHealthyReplica, "", err.Error())
	case errors.Is(err, fleet.ErrBreakerOpen):
		return apierr.New(apierr.BreakerOpen, "", "every replica's breaker is open")
	}
	return nil
}

// grains maps a refusal's reason to its code.
var grains = []struct {
	reason error
	code   apierr.Code
}{
	{scheduler.ErrExceedsPool, apierr.ExceedsPool},
	{scheduler.ErrDeadline, apierr.DeadlineUnachievable},
	{scheduler.ErrKVExhausted, apierr.KVExhausted},
	{scheduler.ErrQueueFull, apierr.QueueFull},
	{scheduler.ErrNoReplica, apierr.NoHealthyReplica},
}

// LacksAdapter reports whether a request was refused for its adapter: it may be had at another replica.
func LacksAdapter(err error) bool {
	if err == nil {
		return false
	}
	no, is := errors.AsType[*adapters.Refusal](err)
	return is && !errors.Is(no, adapters.ErrLate)
}

func adapterError(err error) *apierr.Error {
	var no *adapters.Refusal
	if !errors.As(err, &no) {
		return nil
	}
	e := apierr.New(apierr.NoHealthyReplica, "X-Adapter", "adapter "+no.Adapter+": "+no.Reason.Error())
	e.EngineText = clipWords(no.Detail) // paths, and words of engines
	if errors.Is(no, adapters.ErrLate) || errors.Is(no, adapters.ErrCrowded) {
		e.Code = apierr.Overloaded
	}
	e.RetryAfter = no.RetryAfter
	return e
}

func admissionError(err error) *apierr.Error {
	var no *scheduler.Refusal
	if !errors.As(err, &no) {
		return nil
	}
	for _, g := range grains {
		if errors.Is(no, g.reason) {
			return &apierr.Error{Code: g.code, Message: no.Error(), RetryAfter: no.RetryAfter}
		}
	}
	return nil
}

func upstreamError(err error) *apierr.Error {
	switch {
	case errors.Is(err, ErrDeadline), errors.Is(err, stream.ErrFirstToken), errors.Is(err, context.DeadlineExceeded):
		return apierr.New(apierr.DeadlineExceeded, "", "the deadline passed before the answer was complete")
	case errors.Is(err, ErrDrained):
		return apierr.New(apierr.Draining, "", ErrDrained.Error())
	case errors.Is(err, engine.ErrTimeout):
		return apierr.New(apierr.UpstreamTimeout, "", "the engine did not answer in time")
	case errors.Is(err, engine.ErrConnect):
		return apierr.New(apierr.UpstreamReset, "", "the engine could not be reached; nothing was sent to it")
	case errors.Is(err, engine.ErrLocal):
		return apierr.New(apierr.Overloaded, "", "the gateway has no connection left for an engine")
	case errors.Is(err, engine.ErrReset), errors.Is(err, place.ErrPreempted), errors.Is(err, ErrHandover):
		return apierr.New(apierr.UpstreamReset, "", "the connection to the engine was lost")
	case errors.Is(err, engine.ErrProtocol), errors.Is(err, engine.ErrTooLarge):
		return apierr.New(apierr.UpstreamProtocolError, "", "the engine's answer could not be understood")
	}
	return nil
}
