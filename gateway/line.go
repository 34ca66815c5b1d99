package gateway

import (
	"net/http"

	"octet/gateway/conn"
	"octet/gateway/wire"
)

// complete is the whole way of a chat or completion request, from its head to the end of its answer.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, kind wire.Kind) {
	x := s.begin(w, r)
	if !x.respond(kind) {
		x.conclude()
		return
	}
	x.w = conn.Bare(x.w)
	x.relay.Detach(x.w, x.w)
	if x.w.Detach(x.goOn) {
		x.slim() // the body may be the server's
		return
	}
	x.goOn()
}

// respond answers, or begins to: true when the client has its first byte of a stream.
func (x *exchange) respond(kind wire.Kind) (begun bool) {
	defer x.recover()
	err := x.run(kind)
	x.resolve(err == nil)
	if err == nil && x.turn.rep != nil {
		return true
	}
	x.finishWith(err)
	return false
}

// run takes a request through the line, as far as the first byte of a stream or all of an answer in one piece.
func (x *exchange) run(kind wire.Kind) error {
	if err := x.admit(); err != nil { // key, limits, deadlines
		return err
	}
	if err := x.read(kind); err != nil { // the body, once
		return err
	}
	x.s.retries.earn(x.request.Arrival)
	if err := x.claimKey(); err != nil { // Idempotency-Key
		return err
	}
	x.bindDeadline()
	if err := x.decide(); err != nil { // which specialist
		return err
	}
	x.dispatchShadow()
	x.elsewhere = x.hasSecond()
	err := x.serve() // which replica, may it run, run it
	if err != nil && x.goesOn(err) {
		err = x.serveSecond(err)
	}
	return x.sendAway(err) // when to come back
}
