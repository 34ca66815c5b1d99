package intake

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/zeebo/xxh3"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/doors"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// Request is what one client asked for. ReadHead and ReadBody make it; it is read-only then, but for its Body, which a
// stream that has begun releases.
type Request struct {
	ID      string // X-Request-Id
	Arrival time.Time
	Dry     bool // POST /v1/route: nothing may change
	Count   bool // all that is asked is how long the prompt is; Dry, too
	Kind    wire.Kind
	Door    doors.Door   // that the client came by; nil if that is the kind's own
	Answer  doors.Answer // translates what it gets; nil without a Door
	Stream  bool         // the answer is sent as events
	Tenant  *tenant.Tenant
	Intent  Intent
	Among   Among // endpoints of the replicas that may answer; nil for all
	*Body         // nil while it is released

	headers   headers
	forwarded []engine.Field // see Forwarded
	traced    bool           // see TraceContext
	sent      wire.Outline   // the body in the words of its door, until Release; zero without a door
	limits    *ensemble.Limits
	memory    *Memory
	kept      []byte // the body of a stream that may have to be sent again, while Body is nil
}

// Begin makes the zero Request that of a head, before anything of it is checked. End ends it.
func (q *Request) Begin(c conn.Head, r *http.Request, arrival time.Time, limits *ensemble.Limits, memory *Memory) {
	q.Arrival, q.Body, q.limits, q.memory = arrival, bodies.Get().(*Body), limits, memory
	q.headers.readable, q.headers.forwardable = limits.ProfileHeaders, limits.ForwardHeaders
	q.headers.readAll(c, r)
	q.ID = givenID(q.headers.requestID)
}

// ReadHead finds the tenant, unless it is set, and checks the head. Nothing of the body is read. via is the name of
// this gateway.
func (q *Request) ReadHead(r *http.Request, rt *ensemble.Runtime, via string) (err *apierr.Error) {
	h := &q.headers
	if err := checkHead(h.size, rt.Limits.HeaderBytes); err != nil {
		return err
	}
	if h.repeated != "" {
		return apierr.Repeated(h.repeated)
	}
	if q.Tenant == nil {
		if q.Tenant, err = identify(r.Context(), h, rt.Tenants, q.Arrival); err != nil {
			return err
		}
	}
	if err := checkOrigin(h, r.Host, q.Tenant, rt.Origins); err != nil {
		return err
	}
	if err := checkVia(h.via, via); err != nil {
		return err
	}
	if err := CheckMedia(h.encoding, h.contentType); err != nil {
		return err
	}
	q.forwarded = forwardedOf(h, q.traced)
	if q.Intent, err = readIntent(h, q.Tenant, rt.Intents, q.Arrival); err != nil || len(h.offered) == 0 {
		return err
	}
	q.Intent.Headers, err = readOffered(h.offered)
	return err
}

// ReadBody reads and parses the body of a request of that kind. enter is called once the body is whole, and may refuse.
func (q *Request) ReadBody(c conn.Body, r *http.Request, kind wire.Kind, arriving *Arriving,
	enter func() *apierr.Error) error {
	q.Kind = kind
	u := arriving.Expect(c, r, q.limits.Inbound, q.Tenant.Name)
	defer arriving.End(u) // not before enter: a drain sees the request all the time
	if err := q.receive(c, r, arriving, u); err != nil {
		return err
	}
	if err := enter(); err != nil {
		return err
	}
	return q.read(kind)
}

// ReadEither is ReadBody for a body that may be a chat's or a completion's: the one with a prompt is a completion.
func (q *Request) ReadEither(c conn.Body, r *http.Request, arriving *Arriving, enter func() *apierr.Error) error {
	err := q.ReadBody(c, r, wire.Chat, arriving, enter)
	if !missing(err, "messages") {
		return err
	}
	if again := q.read(wire.Completion); !missing(again, "prompt") {
		return again
	}
	return err
}

// missing reports whether err says that a body has no member of that name.
func missing(err error, member string) bool {
	var bad *wire.Error
	return errors.As(err, &bad) && bad.Param == member && bad.Code == string(apierr.MissingParameter)
}

// read parses the body as one of that kind, and puts its repo snippets and tool outputs into its prompt: what
// tokenizes, hashes, copies or sends the body knows of no other.
func (q *Request) read(kind wire.Kind) error {
	if err := q.parseSent(kind); err != nil {
		return err
	}
	if err := q.said(); err != nil {
		return err
	}
	if !q.Parsed.HasExtras() {
		return nil
	}
	body, err := q.Parsed.Inline(q.inlined, BodyLimits(q.limits))
	if err != nil {
		return err
	}
	q.inlined, q.Bytes = body, body
	if int64(len(body)) > q.limits.BodyBytes {
		return tooLarge(q.limits.BodyBytes)
	}
	if err := q.memory.take(q.Body, len(body), q.limits.QueueBytes); err != nil {
		return err
	}
	return nil
}

// Parse parses the body as one of that kind.
func (q *Request) Parse(kind wire.Kind) error {
	q.Kind = kind
	err := wire.Parse(kind, q.Bytes, BodyLimits(q.limits), &q.Parsed)
	q.Stream = q.Parsed.Stream
	return err
}

// Via returns the gateways that the request has come through, as it may be told to an engine.
func (q *Request) Via() (names []string) {
	if len(q.headers.via) == 0 {
		return nil
	}
	for _, name := range hopsOf(q.headers.via) {
		if WellFormed(name) {
			names = append(names, name)
		}
	}
	return names
}

// Explains reports whether the request asks to be explained. It is known before ReadHead.
func (q *Request) Explains() bool { return q.headers.explains() }

// IdempotencyKey returns the Idempotency-Key, "" without one.
func (q *Request) IdempotencyKey() (string, *apierr.Error) {
	return headerToken(q.headers.idempotency, "Idempotency-Key")
}

// Caller identifies the request when it comes again, by its tenant, session, idempotency key and body. It is exact with
// a session or a key; without, requests of one tenant that ask the same look alike.
func (q *Request) Caller() (id uint64, exact bool) {
	h := xxh3.HashString(q.Tenant.Name)
	key := ""
	if values := q.headers.idempotency; len(values) == 1 {
		key = values[0]
	}
	for _, value := range [...]string{q.Intent.Session, key} {
		h *= 31
		if value != "" {
			h ^= xxh3.HashString(value)
			exact = true
		}
	}
	return xxh3.HashSeed(q.Bytes, h), exact
}

// PromptMember names the member of the body that holds the prompt.
func (q *Request) PromptMember() string {
	if q.Kind == wire.Completion {
		return "prompt"
	}
	return "messages"
}

// Release gives the Body back, which a stream that has begun does not need. keep has a copy kept, which counts as the
// body did, for Restore. The zero Request and a released one have nothing to give back.
func (q *Request) Release(keep bool) {
	b := q.Body
	if b == nil {
		return
	}
	q.Body, q.sent = nil, wire.Outline{}
	if keep {
		q.kept = bytes.Clone(b.Bytes)
		b.counted -= int64(len(q.kept)) // the copy counts on
	}
	q.memory.give(b)
}

// Restore reads the body again from the copy that Release kept.
func (q *Request) Restore() error {
	if q.Body != nil {
		return nil
	}
	b := bodies.Get().(*Body)
	b.room = append(b.room[:0], q.kept...)
	b.Bytes, b.counted = b.room, int64(len(q.kept))
	q.Body, q.kept = b, nil
	return q.Parse(q.Kind)
}

// End releases all that the Request holds. Idempotent.
func (q *Request) End() {
	q.memory.held.Add(-int64(len(q.kept)))
	q.kept = nil
	q.Release(false)
}
