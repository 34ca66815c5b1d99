package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"octet/engine"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
)

// What an attempt may end in besides the engine package's errors.
var (
	errEngineBusy = errors.New("the engine is overloaded")
	errAbandoned  = errors.New("abandoned")
	errOverrun    = fmt.Errorf("%w: more tokens than were asked for", engine.ErrProtocol)
)

// maxRefusal bounds how much of an engine's error body is read, in bytes.
const maxRefusal = 64 << 10

// engineRefused turns an engine's answer other than 200 into an error: a client's mistake passes through with the engine's
// words, anything else is the engine's failure.
func (x *exchange) engineRefused(resp engine.Response) error {
	message := refusalMessage(resp)
	switch status := resp.Status(); {
	case status == 400 || status == 422:
		return fail(CodeInvalidRequest, "", message)
	case status == 404:
		return fail(CodeModelNotFound, "model", message)
	case status == 413:
		return fail(CodePayloadTooLarge, "", message)
	case status == 429 || status == 503:
		return &Error{Code: CodeOverloaded, Message: message, cause: errEngineBusy}
	case status >= 500:
		return &Error{Code: CodeUpstreamReset, Message: message, cause: fmt.Errorf("%w: status %d", engine.ErrReset, status)}
	default:
		return &Error{Code: CodeUpstreamProtocolError, Message: message, cause: fmt.Errorf("%w: status %d", engine.ErrProtocol, status)}
	}
}

// refusalMessage reads the message of an OpenAI error body; engines differ in whether it is nested.
func refusalMessage(resp engine.Response) string {
	var body []byte
	for len(body) < maxRefusal {
		piece, err := resp.Next()
		body = append(body, piece...)
		if err != nil {
			break
		}
	}
	var parsed struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &parsed) // not JSON: the status has to do
	switch {
	case parsed.Error.Message != "":
		return parsed.Error.Message
	case parsed.Message != "":
		return parsed.Message
	}
	return fmt.Sprintf("the engine answered with status %d", resp.Status())
}

// blame says whether err speaks for the replica, against it, or neither.
func blame(err error) fleet.Outcome {
	if err == nil {
		return fleet.Succeeded
	}
	var answer *Error
	switch {
	case errors.Is(err, scheduler.ErrRefused), errors.Is(err, errSlowClient), errors.Is(err, errPreempted), errors.Is(err, errDeadline),
		errors.Is(err, errDrained), errors.Is(err, context.Canceled), errors.Is(err, errTTFTDeadline), errors.Is(err, errEngineBusy),
		errors.Is(err, errAbandoned), errors.Is(err, errHandover), errors.Is(err, routing.ErrNotTried):
		return fleet.Cancelled
	case errors.As(err, &answer) && answer.Status() < 500:
		return fleet.Succeeded // the client's mistake, well answered
	}
	return fleet.Failed
}
