package gateway

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
	"octet/gateway/tenant"
)

// expect counts a body among those on their way; nil if it is at hand.
func (s *Server) expect(r *http.Request, body conn.Body, rt *ensemble.Runtime, t *tenant.Tenant) *upload {
	if body.AtHand() {
		return nil
	}
	return s.inbound.begin(rt.Limits.Inbound, t.Name, addressOf(r.RemoteAddr), body.Interrupt)
}

// readBody reads the body; u is nil where it is at hand.
func (x *exchange) readBody(u *upload) *apierr.Error {
	if x.r.ContentLength > x.rt.Limits.BodyBytes {
		return tooLarge(x.rt.Limits.BodyBytes)
	}
	if body, lent := x.w.Lend(); lent {
		x.body = body
		return x.countBody(len(body))
	}
	if u == nil {
		return x.readAll(nil)
	}
	_ = x.w.SetReadDeadline(x.arrival.Add(x.rt.Limits.BodyTimeout)) // not every transport has deadlines
	if err := x.readAll(u); err != nil {
		return err
	}
	_ = x.w.SetReadDeadline(time.Time{}) // else it stays: net/http reads on after an early answer
	return nil
}

// readAll reads the body to its end; u is nil where it is at hand.
func (x *exchange) readAll(u *upload) *apierr.Error {
	body := x.room[:0]
	for {
		if len(body) == cap(body) {
			body = slices.Grow(body, roomFor(x.r.ContentLength, cap(body)))
		}
		n, err := x.r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		x.room, x.body = body, body
		if int64(len(body)) > x.rt.Limits.BodyBytes {
			return tooLarge(x.rt.Limits.BodyBytes)
		}
		if refused := x.s.inbound.grow(u, n); refused != nil {
			return refused
		}
		switch {
		case err == io.EOF:
			return x.countBody(len(body))
		case err != nil:
			return bodyError(err)
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

// countBody counts n more bytes of a body until dropQuestion, and refuses what all requests together must not hold.
func (x *exchange) countBody(n int) *apierr.Error {
	x.counted += int64(n)
	if held, most := x.s.bodies.Add(int64(n)), x.rt.Limits.QueueBytes; held > most && most > 0 {
		return apierr.New(apierr.Overloaded, "",
			fmt.Sprintf("open requests hold %d bytes, limits.queue_bytes is %d", held, most))
	}
	return nil
}

func tooLarge(limit int64) *apierr.Error {
	return apierr.New(apierr.PayloadTooLarge, "", fmt.Sprintf("the body is larger than limits.body_bytes, %d", limit))
}

func bodyError(err error) *apierr.Error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &apierr.Error{Code: apierr.RequestTimeout, Message: "the body did not arrive within limits.body_timeout",
			Cause: err}
	}
	return &apierr.Error{Code: apierr.InvalidRequest, Message: "the body could not be read", Cause: err}
}
