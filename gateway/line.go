package gateway

import (
	"net/http"

	"octet/gateway/conn"
	"octet/gateway/dispatch"
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// complete is the whole way of a chat or completion request, from its head to the end of its answer. door is the
// surface that the client speaks; nil for the kind's own.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, kind wire.Kind, door doors.Door) {
	s.answerTo(s.begin(w, r), r, kind, door)
}

func (s *Server) answerTo(x *exchange, r *http.Request, kind wire.Kind, door doors.Door) {
	x.request.Door, x.request.Kind = door, kind
	if !x.respond(r, kind) {
		x.conclude()
		return
	}
	x.w = conn.Bare(x.w)
	x.relay.Detach(x.w, x.w)
	if x.w.Detach(x.dispatch.Carry) {
		x.dispatch.Slim() // the body may be the server's
		return
	}
	x.dispatch.Carry() // which ends in End
}

// respond answers, or begins to: true when the client has its first byte of a stream.
func (x *exchange) respond(r *http.Request, kind wire.Kind) (begun bool) {
	defer x.recover()
	err := x.run(r, kind)
	x.dispatch.Resolve(err == nil)
	if begun = err == nil && x.dispatch.Underway(); !begun {
		x.finish(err)
	}
	return begun
}

// run takes a request through the line, as far as the first byte of a stream or all of an answer in one piece.
func (x *exchange) run(r *http.Request, kind wire.Kind) error {
	if err := x.admit(r); err != nil { // key, limits, deadlines
		return err
	}
	if err := x.request.ReadBody(x.w, r, kind, &x.s.inbound, x.countIn); err != nil { // its body, once
		return err
	}
	ctx := x.holding.deadline(r.Context(), &x.request)
	if err := x.holding.claim(ctx, x.s.idempotency, &x.request); err != nil { // Idempotency-Key
		return err
	}
	if err := x.decide(ctx); err != nil { // which specialist
		return err
	}
	second := x.s.decider.Second(x.rt, &x.request, &x.decision)
	err := x.serve(ctx, dispatch.Choice{OfferBack: second}) // which replica, may it run, run it
	if second && elsewhere(err) && !x.relay.Begun() && !x.dispatch.Carried() {
		err = x.serveSecond(ctx, err)
	}
	return x.dispatch.ComeBack(err) // when to come back
}
