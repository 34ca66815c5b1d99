package gateway

import (
	"context"
	"net/http"
	"sync"
	"time"

	"octet/calibration"
	"octet/classifier"
	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/index"
	"octet/scheduler"
	"octet/slo"
)

// exchange is one request and its answer. It lives in a pool; nothing of it outlives end.
type exchange struct {
	s       *Server
	rt      *Runtime
	w       http.ResponseWriter
	r       *http.Request
	ctl     control
	direct  passer          // what w is bare, where that can pass; nil before the answer goes on after its handler
	settled settler         // likewise, where the stream may settle
	unrest  int             // rests until it may
	ctx     context.Context // the client's connection and the request's deadline
	arrival time.Time
	dry     bool // POST /v1/route: nothing may change

	id     string // X-Request-Id
	tenant *Tenant
	kind   wire.Kind
	*question
	kept    []byte // the body, of a stream that could go on elsewhere and has no question at the moment
	stream  bool   // the client wants events
	intent  intent
	verdict classifier.Verdict
	demoted string // who would have answered, where another stands in
	probe   string // the demoted specialist that is owed a copy of this request

	sp      *Specialist // who is asked now
	route   *routing.Context
	prompt  Footprint
	scanner sse.Scanner
	gaps    slo.Gaps

	answering string   // the plan's last step
	answerer  *Replica // the first in rank for it
	protocol  Protocol // of the plan's steps
	held      []turn   // places of earlier steps, kept for the last one's first token
	beside    *beside  // the step that goes out with the last one; nil is none

	shadow      *shadow // the second opinion; nil is none
	shadowCause calibration.Cause

	conversation uint64 // by what a later request finds this one; 0 is nothing
	opening      prefix // the text of a completion that is found so

	turn      turn
	cont      *continuation // nil for an answer that cannot be taken up again
	tidy      *tidy         // nil for an engine whose events are as clients know them
	attempts  int
	takeovers int              // attempts to go on with a stream whose engine died
	died      index.HostBitmap // replicas whose engines died under this stream
	free      bool             // the last attempt failed before any engine worked for it: trying elsewhere costs nothing
	elsewhere bool             // a second choice may answer: a long wait is offered back for it
	predicted int              // tokens of the prompt that the index believes the replica to hold
	preempted int              // times that a place was given back
	routed    time.Duration
	queued    time.Duration

	started    bool // the head of the answer is out: from here on only an error event can tell of a failure
	status     int
	handedOut  int // tokens that reached the client
	maxTokens  int // that were asked for; below 0 is unbounded
	most       int // events of output that a stream's engine may send; 0 is unbounded
	out        outbox
	came       time.Duration // from arrival until the events at hand came; 0 is not known yet
	wrote      time.Duration // until those before came
	writeArmed time.Duration // until when the deadline of writes need not be set anew
	grown      int           // tokens from which on the Gate is told of growth again
	ttft       time.Duration
	usage      sse.Usage
	finish     string
	answer     []byte // a unary answer; pooled
	said       *said  // what the client was told; nil: nobody wants it
	judge      bool   // the verifier does
	failure    *Error
	admitted   bool // it got a place, once at least
	gone       bool // the client left
	abort      bool // close the connection without a proper end

	receipt   *Receipt
	receiptNo string            // its id
	opened    bool              // it counts among the open requests
	taken     bool              // and among its tenant's
	undo      []func()          // run last to first by end
	heads     heads             // of the request
	lines     [mostLines]string // of the answer's head; left as they are until the next one's
	calls     calls
}

// calls are methods as others call them, made once for the life of an exchange's memory.
type calls struct {
	since  func() time.Duration
	render func(dst []byte) []byte
	member func(name string) []byte
	retry  func() bool
}

// question is what the client sent and what is made of it for an engine. A stream that has begun has no more use for it.
type question struct {
	body     []byte // as received
	req      wire.Request
	turns    []wire.Turn
	asTurns  []classifier.Turn
	segments [][]byte // the body as the engine gets it
	marks    []mark   // the beginnings by which its conversation is looked for
	counted  int64    // bytes of the body that count among those that are held
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

var (
	exchanges = sync.Pool{New: func() any {
		x := new(exchange)
		x.calls = calls{x.since, x.renderPrompt, x.member, x.mayRetry}
		return x
	}}
	questions = sync.Pool{New: func() any { return new(question) }}
)

// begin takes an exchange for a request from the pool.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := exchanges.Get().(*exchange)
	ids := newIDs(2)
	x.receiptNo = ids[idLength:]
	x.s, x.rt, x.w, x.r = s, s.runtime.Load(), w, r
	x.ctl = control{w}
	x.arrival = s.now()
	x.readHeads()
	x.question = questions.Get().(*question)
	x.id = requestID(x.heads.requestID, func() string { return ids[:idLength] })
	x.ctx, x.protocol = r.Context(), plain{}
	return x
}

// atEnd registers f to run when the exchange ends, in the reverse order of registration.
func (x *exchange) atEnd(f func()) { x.undo = append(x.undo, f) }

// end gives back everything that the exchange holds. The buffers stay with it for the next request.
func (x *exchange) end() {
	x.settle(errAbandoned) // nothing is held any more unless there was a panic
	x.shadow.forgo()
	x.handBack()
	for i := len(x.undo) - 1; i >= 0; i-- {
		x.undo[i]()
	}
	x.leaveRoom()
	x.dropRoute()
	x.dropQuestion()
	x.out.drop()
	x.s.bodies.Add(-int64(len(x.kept)))
	clear(x.undo)
	*x = exchange{answer: reuse(x.answer), scanner: x.scanner, undo: x.undo[:0], held: x.held[:0], lines: x.lines, calls: x.calls}
	exchanges.Put(x)
}

// leaveRoom counts the request out.
func (x *exchange) leaveRoom() {
	if x.taken {
		x.tenant.giveBack()
	}
	if x.opened {
		x.s.open.Add(-1)
	}
}

// dropQuestion lets go of the body. Only the buffers are kept, for another request.
func (x *exchange) dropQuestion() {
	q := x.question
	if q == nil {
		return
	}
	x.question = nil
	x.s.bodies.Add(-q.counted)
	q.counted = 0
	clear(q.segments)
	clear(q.turns)
	clear(q.asTurns)
	q.body, q.segments, q.turns, q.asTurns, q.marks = reuse(q.body), q.segments[:0], q.turns[:0], q.asTurns[:0], q.marks[:0]
	questions.Put(q)
}

// keepBuffer is the largest buffer that stays in the pool, in bytes; larger ones go back to the collector.
const keepBuffer = 256 << 10

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
func (x *exchange) since() time.Duration { return x.s.since(x.arrival) }

// admissionRequest is what the Gate is asked, for the specialist that is asked now: for the answer, or for a leg before it.
func (x *exchange) admissionRequest(leg bool) scheduler.GateRequest {
	r := scheduler.GateRequest{
		ID: x.id, Priority: x.intent.Priority, Chain: x.prompt.Chain, PromptTokens: x.prompt.Tokens, MaxNew: max(x.req.MaxTokens, 0),
		Deadline: x.intent.Deadline, TTFTDeadline: x.intent.TTFTDeadline, Adapter: x.verdict.Adapter, Tenant: x.tenant.Name, Arrived: x.arrival,
		Paid: x.preempted > 0, Whole: !x.stream,
		Victim: x.preempted < mostPreemptions, Resume: x.handedOut,
		Elsewhere: x.elsewhere, Draft: x.sp.Draft,
	}
	if leg { // the prompt, and the one token that shows that it is computed
		r.MaxNew, r.Draft, r.Elsewhere = 1, 0, false
	}
	return r
}
