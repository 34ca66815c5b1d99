package intake

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
)

// receive reads the body; u is nil if it is at hand.
func (q *Request) receive(c conn.Body, r *http.Request, arriving *Arriving, u *Upload) *apierr.Error {
	if r.ContentLength > q.limits.BodyBytes {
		return tooLarge(q.limits.BodyBytes)
	}
	if body, lent := c.Lend(); lent {
		q.Bytes = body
		return q.memory.take(q.Body, len(body), q.limits.QueueBytes)
	}
	if u == nil {
		return q.readAll(r, arriving, nil)
	}
	_ = c.SetReadDeadline(q.Arrival.Add(q.limits.BodyTimeout)) // not every transport has deadlines
	if err := q.readAll(r, arriving, u); err != nil {
		return err
	}
	_ = c.SetReadDeadline(time.Time{}) // else it stays: net/http reads on after an early answer
	return nil
}

// readAll reads the body to its end; u is nil if it is at hand.
func (q *Request) readAll(r *http.Request, arriving *Arriving, u *Upload) *apierr.Error {
	body := q.room[:0]
	for {
		if len(body) == cap(body) {
			body = slices.Grow(body, roomFor(r.ContentLength, cap(body)))
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		q.room, q.Bytes = body, body
		if int64(len(body)) > q.limits.BodyBytes {
			return tooLarge(q.limits.BodyBytes)
		}
		if refused := arriving.Grow(u, n); refused != nil {
			return refused
		}
		switch {
		case err == io.EOF:
			return q.memory.take(q.Body, len(body), q.limits.QueueBytes)
		case err != nil:
			return BodyError(err)
		}
	}
}

// firstRoom is the least that a body's buffer begins with, unless all of it is known to be shorter.
const firstRoom = 4096

// roomFor is by how much a full buffer grows: as bytes arrive, so that a claimed length costs nothing. The one byte
// beyond it is where the end is read.
func roomFor(claimed int64, held int) int {
	if held == 0 && 0 <= claimed && claimed < firstRoom {
		return int(claimed) + 1
	}
	return max(firstRoom, held)
}

func tooLarge(limit int64) *apierr.Error {
	return apierr.New(apierr.PayloadTooLarge, "", fmt.Sprintf("the body is larger than limits.body_bytes, %d", limit))
}

// ErrUnread is wrapped by the error of a body that ended before its end, or is not what its head says. Its client may
// listen still, be the context of the request over.
var ErrUnread = errors.New("the body could not be read")

// BodyError is the error of a body that could not be read.
func BodyError(err error) *apierr.Error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &apierr.Error{Code: apierr.RequestTimeout, Message: "the body did not arrive within limits.body_timeout",
			Cause: err}
	}
	return &apierr.Error{Code: apierr.InvalidRequest, Message: ErrUnread.Error(),
		Cause: fmt.Errorf("%w: %w", ErrUnread, err)}
}

// BodyLimits returns the bounds of what may stand in a body.
func BodyLimits(l *ensemble.Limits) wire.Limits {
	return wire.Limits{
		Depth: l.JSONDepth, Messages: l.Messages, Prompts: l.Prompts, Choices: l.Choices, Entries: l.Entries,
		Stops: l.Stops,
		Bytes: l.ParameterBytes, Members: vocabulary,
	}
}
