package gateway

import (
	"octet/gateway/apierr"
	"octet/gateway/intake"
	"octet/gateway/stream"
	"octet/gateway/wire"
)

// admit is step 1 of the line: the head is checked and read. Nothing of the body is read yet, and no place is taken,
// see countIn.
func (x *exchange) admit() *apierr.Error {
	if err := x.refused(x.s.seats.CheckDrain()); err != nil {
		return err
	}
	if err := x.request.ReadHead(x.r, x.rt, x.s.via); err != nil {
		return err
	}
	if err := x.s.seats.CheckFree(x.rt.Limits.MaxStreams); err != nil { // its body need not be read
		return err
	}
	return x.request.Tenant.Take(x.request.Arrival)
}

// read reads the body. The request is open from when its body is whole.
func (x *exchange) read(kind wire.Kind) error {
	err := x.request.ReadBody(x.w, x.r, kind, &x.s.inbound, x.countIn)
	x.relay.Terms = x.terms()
	return err
}

// terms are what the request asks of its answer.
func (x *exchange) terms() stream.Terms {
	l := &x.rt.Limits
	return stream.Terms{
		Kind: x.request.Kind, MaxTokens: x.request.Parsed.MaxTokens, Most: stream.MostOutput(&x.request.Parsed),
		Prompts: max(x.request.Parsed.Prompts(), 1),
		Answers: intake.Sequences(&x.request.Parsed), EventBytes: l.EventBytes, TextBytes: int(l.BodyBytes),
		ResponseBytes: l.ResponseBytes, Write: l.WriteTimeout, Idle: l.IdleTimeout,
	}
}

// countIn takes a place among the open requests, and among the tenant's, for a request whose body is whole. end gives
// both back.
func (x *exchange) countIn() *apierr.Error {
	most := x.rt.Limits.MaxStreams
	if err := x.refused(x.s.seats.Take(most)); err != nil {
		return err
	}
	if err := x.request.Tenant.Enter(); err != nil {
		x.s.seats.Leave(most)
		return err
	}
	x.taken = true
	x.s.seats.Arrived()
	return nil
}

// refused returns err, and has the connection close after the answer if err is draining.
func (x *exchange) refused(err *apierr.Error) *apierr.Error {
	if err != nil && err.Code == apierr.Draining {
		x.w.Header().Set("Connection", "close")
	}
	return err
}

// claimKey applies the Idempotency-Key header, if any.
func (x *exchange) claimKey() error {
	key, err := x.request.IdempotencyKey()
	if err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	release, err := x.s.idempotency.Claim(x.request.Tenant.Name, key, x.request.Bytes)
	if err != nil {
		return err
	}
	x.atEnd(release)
	return nil
}

// Inbound returns how many bodies are on their way: their heads were read, and they are not whole yet.
func (s *Server) Inbound() int { return int(s.inbound.Count()) }

// InboundBytes returns what was received of them.
func (s *Server) InboundBytes() int64 { return s.inbound.Bytes() }
