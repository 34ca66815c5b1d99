package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"octet/classifier"
	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/routing"
	"octet/scheduler"
	"octet/slo"
)

// exchange is one request and its answer. It lives in a pool; nothing of it outlives end.
type exchange struct {
	s       *Server
	rt      *Runtime
	w       http.ResponseWriter
	r       *http.Request
	ctl     *http.ResponseController
	ctx     context.Context // the client's connection and the request's deadline
	arrival time.Time
	dry     bool // POST /v1/route: nothing may change

	id      string // X-Request-Id
	tenant  *Tenant
	kind    wire.Kind
	body    []byte // as received; pooled
	req     wire.Request
	intent  intent
	verdict classifier.Verdict
	turns   []wire.Turn
	asTurns []classifier.Turn

	sp       *Specialist // who is asked now
	route    *routing.Context
	prompt   Footprint
	segments [][]byte // the body as the engine gets it
	scanner  sse.Scanner
	gaps     slo.Gaps

	turn      turn
	attempts  int
	free      bool // the last attempt failed before any engine worked for it: trying elsewhere costs nothing
	predicted int  // tokens of the prompt that the index believes the replica to hold
	preempted int  // times that a place was given back
	routed    time.Duration
	queued    time.Duration

	started    bool // the head of the answer is out: from here on only an error event can tell of a failure
	status     int
	handedOut  int // tokens that reached the client
	wrote      time.Time
	writeArmed time.Time
	ttft       time.Duration
	usage      sse.Usage
	finish     string
	answer     []byte // a unary answer; pooled
	failure    *Error
	gone       bool // the client left
	abort      bool // close the connection without a proper end

	receipt *Receipt
	undo    []func() // run last to first by end
}

// intent is what the headers say of a request.
type intent struct {
	Intent       string
	Adapter      string
	Session      string
	Priority     int // clamped
	Asked        int // before clamping
	Deadline     time.Time
	TTFTDeadline time.Time
	Explain      bool
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// begin takes an exchange for a request from the pool.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := exchanges.Get().(*exchange)
	x.s, x.rt, x.w, x.r = s, s.runtime.Load(), w, r
	x.ctl = http.NewResponseController(w)
	x.arrival = s.now()
	x.id = requestID(r.Header.Get("X-Request-Id"), s.newID)
	x.ctx = r.Context()
	return x
}

// atEnd registers f to run when the exchange ends, in the reverse order of registration.
func (x *exchange) atEnd(f func()) { x.undo = append(x.undo, f) }

// end gives back everything that the exchange holds. The buffers stay with it for the next request.
func (x *exchange) end() {
	x.settle(errAbandoned) // nothing is held any more unless there was a panic
	for i := len(x.undo) - 1; i >= 0; i-- {
		x.undo[i]()
	}
	x.dropRoute()
	clear(x.undo)
	clear(x.segments)
	clear(x.turns)
	clear(x.asTurns)
	*x = exchange{
		body: reuse(x.body), answer: reuse(x.answer), req: x.req, scanner: x.scanner,
		turns: x.turns[:0], asTurns: x.asTurns[:0], undo: x.undo[:0], segments: x.segments[:0],
	}
	exchanges.Put(x)
}

// keepBuffer is the largest buffer that stays in the pool, in bytes; larger ones go back to the collector.
const keepBuffer = 64 << 10

func reuse(buf []byte) []byte {
	if cap(buf) > keepBuffer {
		return nil
	}
	return buf[:0]
}

func (x *exchange) dropRoute() {
	if x.route != nil {
		x.route.Release()
		x.route = nil
	}
}

// since returns the time since the request's arrival.
func (x *exchange) since() time.Duration { return x.s.now().Sub(x.arrival) }

// admissionRequest is what the Gate is asked, for the specialist that is asked now.
func (x *exchange) admissionRequest() scheduler.GateRequest {
	return scheduler.GateRequest{
		ID: x.id, Priority: x.intent.Priority, Chain: x.prompt.Chain, PromptTokens: x.prompt.Tokens, MaxNew: max(x.req.MaxTokens, 1),
		Deadline: x.intent.Deadline, TTFTDeadline: x.intent.TTFTDeadline, Adapter: x.verdict.Adapter, Tenant: x.tenant.Name, Victim: true, Arrived: x.arrival,
	}
}
