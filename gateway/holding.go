package gateway

import (
	"context"
	"net/http"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
)

// holding is what a request holds of the gateway and of its tenant while it is open.
type holding struct {
	seated  bool   // it has a seat, and counts among its tenant's requests
	charged int    // tokens that its tenant's rate and budget were asked for
	taken   int    // of these, what the rate gave
	guessed bool   // by the length of the text: the prompt was not counted then
	claimed func() // gives its Idempotency-Key back; nil if there is none
	cancel  func() // ends the context that ends at its deadline; nil if there is none
}

// claim applies the Idempotency-Key header, if any.
func (h *holding) claim(ctx context.Context, keys *intake.Idempotency, r *intake.Request) error {
	key, err := r.IdempotencyKey()
	if err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	body := r.Bytes
	if sent := r.Sent(); sent != nil { // how it is translated may be another at another gateway
		body = sent.Text
	}
	release, err := keys.Claim(ctx, r.Tenant.Name, key, body)
	if err != nil {
		return err
	}
	h.claimed = release
	return nil
}

// deadline returns ctx, which ends at the request's deadline, if it has one.
func (h *holding) deadline(ctx context.Context, r *intake.Request) context.Context {
	if r.Intent.Deadline.IsZero() {
		return ctx
	}
	ctx, h.cancel = context.WithDeadlineCause(ctx, r.Intent.Deadline, fault.ErrDeadline)
	return ctx
}

// charge asks the tenant's rate and budget for the prompt's tokens, once; and where that was guessed, for what the
// prompt has beyond.
func (h *holding) charge(r *intake.Request, tokens int, now func() time.Time) error {
	if h.charged > 0 && !h.guessed || r.Dry || !r.Tenant.Metered() {
		return nil
	}
	if tokens -= h.charged; tokens <= 0 {
		h.guessed = false
		return nil
	}
	at := now()
	taken, err := r.Tenant.Charge(at, tokens)
	if err != nil {
		return err
	}
	if err := r.Tenant.Reserve(r.Arrival, at, tokens); err != nil {
		r.Tenant.Settle(at, taken, 0)
		return err
	}
	h.charged, h.taken, h.guessed = h.charged+tokens, h.taken+taken, false
	return nil
}

// release gives everything back. since returns the time since the request's arrival.
func (h *holding) release(s *Server, rt *ensemble.Runtime, r *intake.Request, since func() time.Duration) {
	if h.cancel != nil {
		h.cancel()
	}
	if h.claimed != nil {
		h.claimed()
	}
	if h.seated {
		r.Tenant.Leave()
		if s.seats.Leave(rt.Limits.MaxStreams) {
			s.seats.Stayed(since())
		}
	}
}

// admit is step 1 of the line: the head is checked and read. Nothing of the body is read yet, and no seat is taken, see
// countIn.
func (x *exchange) admit(r *http.Request) *apierr.Error {
	if err := x.s.seats.CheckDrain(); err != nil {
		return lastOf(x.w, err)
	}
	if err := x.request.ReadHead(r, x.rt, x.s.via); err != nil {
		return err
	}
	if err := x.s.seats.CheckFree(x.rt.Limits.MaxStreams); err != nil { // its body need not be read
		return err
	}
	if err := x.request.Tenant.Take(x.request.Arrival); err != nil || x.request.Dry {
		return err
	}
	return x.request.Tenant.CheckBudget(x.request.Arrival) // its body need not be read
}

// countIn takes a seat, and a place among the tenant's requests, for a request whose body is whole. close gives both
// back.
func (x *exchange) countIn() *apierr.Error {
	most := x.rt.Limits.MaxStreams
	if err := x.s.seats.Take(most); err != nil {
		return lastOf(x.w, err)
	}
	if err := x.request.Tenant.Enter(); err != nil {
		x.s.seats.Leave(most)
		return err
	}
	x.holding.seated = true
	x.s.seats.Arrived()
	return nil
}

// lastOf returns the refusal err. One as the gateway drains is the last answer on its connection.
func lastOf(w http.ResponseWriter, err *apierr.Error) *apierr.Error {
	if err.Code == apierr.Draining {
		w.Header().Set("Connection", "close")
	}
	return err
}
