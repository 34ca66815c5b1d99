package gateway

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/stream"
	"octet/gateway/wire"
)

// maxHeaderValue bounds opaque header values, such as session keys, in bytes.
const maxHeaderValue = 256

// admit is step 1 of the straight line: who asks, may they, and what do the headers say. Nothing of the body is read
// yet, and no place is taken: see countIn.
func (x *exchange) admit() *apierr.Error {
	if err := x.checkHead(); err != nil {
		return err
	}
	if err := x.readIntent(); err != nil {
		return err
	}
	if x.s.open.Load() >= int64(x.rt.Limits.MaxStreams) { // its body need not be read
		return x.full()
	}
	return x.tenant.Take(x.arrival)
}

// countIn takes a place among the open requests, and among the tenant's, for a request whose body is whole. end gives
// both back.
func (x *exchange) countIn() *apierr.Error {
	x.opened = true
	if x.s.open.Add(1) > int64(x.rt.Limits.MaxStreams) {
		return x.full()
	}
	if x.s.shut.Load() {
		return x.isDraining()
	}
	if err := x.tenant.Enter(); err != nil {
		return err
	}
	x.taken = true
	x.s.seats.taken(x)
	return nil
}

func (x *exchange) full() *apierr.Error {
	most := x.rt.Limits.MaxStreams
	e := apierr.New(apierr.Overloaded, "", fmt.Sprintf("%d requests are open: limits.max_streams", most))
	e.RetryAfter = x.s.seats.full(most, x.Now())
	return e
}

func (x *exchange) isDraining() *apierr.Error {
	x.w.Header().Set("Connection", "close")
	return x.s.drainingError()
}

func (x *exchange) checkHead() (err *apierr.Error) {
	if x.s.draining.Load() {
		return x.isDraining()
	}
	if err := checkHead(x.heads.size, x.rt.Limits.HeaderBytes); err != nil {
		return err
	}
	if x.heads.repeated != "" {
		return apierr.Repeated(x.heads.repeated)
	}
	if x.tenant, err = x.rt.Tenants.ByAuthorization(x.heads.authorization); err != nil {
		return err
	}
	if err := x.checkOrigin(); err != nil {
		return err
	}
	if err := x.checkVia(); err != nil {
		return err
	}
	return checkMedia(x.heads.encoding, x.heads.contentType)
}

// checkHeader refuses a head, the request line included, of more than most bytes.
func checkHeader(r *http.Request, most int) *apierr.Error {
	n := headSize(r)
	for name, values := range r.Header {
		n += fieldSize(name, values)
	}
	return checkHead(n, most)
}

// headSize is the bytes of a head without its fields.
func headSize(r *http.Request) int {
	return len(r.Method) + len(r.RequestURI) + len("  HTTP/1.1\r\n") + len("Host: \r\n") + len(r.Host)
}

func fieldSize(name string, values []string) (n int) {
	for _, v := range values {
		n += len(name) + len(v) + len(": \r\n")
	}
	return n
}

func checkHead(n, most int) *apierr.Error {
	if n > most {
		return apierr.New(apierr.HeaderTooLarge, "",
			fmt.Sprintf("the header is %d bytes, limits.header_bytes is %d", n, most))
	}
	return nil
}

func checkMedia(enc, ct string) *apierr.Error {
	if enc != "" && enc != "identity" {
		return apierr.New(apierr.UnsupportedMediaType, "Content-Encoding", "the body must not be compressed")
	}
	if ct == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
		return apierr.New(apierr.UnsupportedMediaType, "Content-Type", "the body must be application/json")
	}
	return nil
}

// readIntent validates the headers in which a client speaks to the router.
func (x *exchange) readIntent() (err *apierr.Error) {
	h := &x.heads
	x.intent.Explain = h.explain == "1"
	if !h.asks {
		x.intent.Priority, err = x.tenant.Clamp(0)
		return err
	}
	if x.intent.Intent, err = headerToken(h.intent, "X-Intent"); err != nil {
		return err
	}
	if x.intent.Intent == "unspecified" {
		x.intent.Intent = ""
	}
	if x.intent.Intent != "" && !slices.Contains(x.rt.Intents, x.intent.Intent) {
		return apierr.New(apierr.InvalidValue, "X-Intent", fmt.Sprintf("unknown intent %q", x.intent.Intent))
	}
	if x.intent.Adapter, err = headerToken(h.adapter, "X-Adapter"); err != nil {
		return err
	}
	if x.intent.Session, err = headerToken(h.session, "X-Session-Id"); err != nil {
		return err
	}
	if err := x.readPriority(); err != nil {
		return err
	}
	if x.intent.Deadline, err = x.readDeadline(h.deadline, "X-Deadline-Ms"); err != nil {
		return err
	}
	x.intent.TTFTDeadline, err = x.readDeadline(h.ttftDeadline, "X-TTFT-Deadline-Ms")
	return err
}

// headerToken returns a header's single value: printable, and at most maxHeaderValue bytes.
func headerToken(values []string, name string) (string, *apierr.Error) {
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", apierr.Repeated(name)
	}
	v := values[0]
	if len(v) > maxHeaderValue {
		return "", apierr.New(apierr.InvalidValue, name,
			fmt.Sprintf("the value is %d bytes, the limit is %d", len(v), maxHeaderValue))
	}
	for i := range len(v) {
		if v[i] < ' ' || v[i] == 0x7f {
			return "", apierr.New(apierr.InvalidValue, name, "the value holds control characters")
		}
	}
	return strings.Clone(v), nil // whoever keeps it is not to keep all of the head that it is a part of
}

// The range of X-Priority; larger is more urgent.
const (
	PriorityLeast = -100
	PriorityMost  = 100
)

func (x *exchange) readPriority() *apierr.Error {
	v, err := headerToken(x.heads.priority, "X-Priority")
	if err != nil {
		return err
	}
	if v != "" {
		n, bad := strconv.Atoi(v)
		if bad != nil || n < PriorityLeast || n > PriorityMost {
			return apierr.New(apierr.InvalidValue, "X-Priority", "the priority must be an integer from -100 to 100")
		}
		x.intent.Asked = n
	}
	x.intent.Priority, err = x.tenant.Clamp(x.intent.Asked)
	return err
}

// maxDeadline keeps deadline arithmetic far from overflow.
const maxDeadline = 24 * time.Hour

func (x *exchange) readDeadline(values []string, name string) (time.Time, *apierr.Error) {
	v, err := headerToken(values, name)
	if err != nil || v == "" {
		return time.Time{}, err
	}
	ms, bad := strconv.ParseInt(v, 10, 64)
	if bad != nil || ms < 1 || ms > maxDeadline.Milliseconds() {
		return time.Time{}, apierr.New(apierr.InvalidValue, name,
			fmt.Sprintf("the deadline must be whole milliseconds from 1 to %d", maxDeadline.Milliseconds()))
	}
	return x.arrival.Add(time.Duration(ms) * time.Millisecond), nil
}

// read reads and parses the body: once, into the exchange's own buffer. The request is open from when its body is
// whole.
func (x *exchange) read(kind wire.Kind) error {
	x.kind = kind
	u := x.s.expect(x.r, x.w, x.rt, x.tenant)
	defer x.s.inbound.end(u) // not before it counts among the open requests: a drain sees it all the time
	if err := x.readBody(u); err != nil {
		return err
	}
	if err := x.countIn(); err != nil {
		return err
	}
	return x.parse()
}

func (x *exchange) parse() error {
	err := wire.Parse(x.kind, x.body, bodyLimits(&x.rt.Limits), &x.req)
	x.stream = x.req.Stream
	x.relay.Terms = x.terms()
	return err
}

// terms are what the request asks of its answer.
func (x *exchange) terms() stream.Terms {
	l := &x.rt.Limits
	return stream.Terms{
		Kind: x.kind, MaxTokens: x.req.MaxTokens, Most: stream.MostOutput(&x.req), Prompts: max(x.req.Prompts(), 1),
		Answers: sequences(&x.req), EventBytes: l.EventBytes, TextBytes: int(l.BodyBytes),
		ResponseBytes: l.ResponseBytes, Write: l.WriteTimeout, Idle: l.IdleTimeout,
	}
}

// ofBody is what a body is judged by.
func bodyLimits(l *ensemble.Limits) wire.Limits {
	return wire.Limits{
		Depth: l.JSONDepth, Messages: l.Messages, Prompts: l.Prompts, Choices: l.Choices, Entries: l.Entries,
		Stops: l.Stops,
		Bytes: l.ParameterBytes, Members: vocabulary,
	}
}

// requestID returns given when it is well formed, else a new one.
func requestID(given string, fresh func() string) string {
	if id := givenID(given); id != "" {
		return id
	}
	return fresh()
}

// givenID returns given when it is well formed, else "".
func givenID(given string) string {
	if wellFormed(given) {
		return strings.Clone(given) // receipts keep it, and not the head that it is a part of
	}
	return ""
}

func wellFormed(given string) bool {
	if given == "" || len(given) > 128 {
		return false
	}
	for i := range len(given) {
		c := given[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
