package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/sse"
	"octet/gateway/stream"
)

// maxRefusal bounds how much of an engine's error body is read, in bytes.
const maxRefusal = 64 << 10

// refusal is an engine's own error in place of an answer: a status other than 200, or an error object as the first
// event.
type refusal struct {
	status  int // of HTTP, or what the error object says in its place
	message string
	after   time.Duration // of Retry-After; 0 is unknown
	long    bool          // it says that the request is longer than the engine's context
}

// leastBusy is what a client is told of an engine that says itself to be busy, and neither it nor the Gate knows for
// how long: the least that the header can say.
const leastBusy = time.Second

// Report makes typed errors of what an engine says in place of an answer.
type Report struct {
	Request    *intake.Request   // nil where it is another's now: then no member of it is named
	Specialist string            // that was asked
	Replica    *ensemble.Replica // nil if there is none
	Runtime    *ensemble.Runtime // that the replica is of
}

// Refused is the error of an engine's answer other than 200.
func (r Report) Refused(resp engine.Response) error {
	message, long := refusalMessage(resp)
	return r.refusedBy(refusal{resp.Status(), message, secondsOf(resp.Header("Retry-After")), long})
}

// refusedBy turns an engine's error into ours: a mistake of the client's is told as one, an engine that is busy is
// another replica's turn, anything else is the engine's failure. See inOurWords for what becomes of its words.
func (r Report) refusedBy(said refusal) error {
	e := &apierr.Error{Code: apierr.InvalidRequest, Cause: ErrMistaken}
	switch status := said.status; {
	case said.long && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable:
		return r.tooLong()
	case status == http.StatusNotFound:
		e.Code, e.Param = apierr.ModelNotFound, "model"
	case status == http.StatusRequestEntityTooLarge:
		e.Code = apierr.PayloadTooLarge
	case status == http.StatusTooManyRequests:
		e.Code, e.RetryAfter, e.Cause = apierr.QueueFull, r.busyFor(said), ErrEngineBusy
	case status == http.StatusServiceUnavailable:
		e.Code, e.RetryAfter, e.Cause = apierr.Overloaded, r.busyFor(said), ErrEngineBusy
	case status >= 500:
		e.Code, e.Cause = apierr.UpstreamReset, fmt.Errorf("%w: status %d", ErrEngineFailed, status)
	case status < 400, isOurs(status):
		e.Code, e.Cause = apierr.UpstreamProtocolError, fmt.Errorf("%w: status %d", engine.ErrProtocol, status)
	}
	return r.inOurWords(e, said.message)
}

// tooLong is the error of a request that an engine finds longer than its context.
func (r Report) tooLong() *apierr.Error {
	cause, param := ErrMistaken, ""
	if r.Request != nil {
		param = r.Request.PromptMember()
		if r.Replica != nil && r.Request.Intent.Replica == "" && r.Replica.Shorter(r.Runtime) {
			cause = fmt.Errorf("%w: %w", ErrMistaken, ErrShorter)
		}
	}
	return &apierr.Error{Code: apierr.ContextLength, Param: param, Cause: cause,
		Message: "prompt and answer together are longer than the context of " + r.Specialist}
}

// isOurs reports whether a status of the 400 family is about what the gateway itself adds to a request, or does not do.
func isOurs(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden ||
		status == http.StatusProxyAuthRequired || status == http.StatusRequestTimeout
}

// busyFor is what a client is told of an engine that is busy: what the engine says, else when the Gate expects a place
// there.
func (r Report) busyFor(said refusal) time.Duration {
	if said.after > 0 {
		return said.after
	}
	if r.Replica != nil && r.Replica.Gate != nil {
		return max(r.Replica.Gate.NextEnd(), leastBusy)
	}
	return leastBusy
}

// secondsOf reads a Retry-After in seconds; 0 where it says none.
func secondsOf(field string) time.Duration {
	n, err := strconv.ParseUint(field, 10, 16)
	if err != nil {
		return 0
	}
	return min(time.Duration(n)*time.Second, apierr.MostRetryAfter)
}

// Meaning is what an error of a relay means. What a scanner could not use is the engine's own error object, by its
// code where it came in place of an answer, or no answer at all. Other errors mean what they say.
func (r Report) Meaning(err error) error {
	var no *stream.Unusable
	if errors.As(err, &no) {
		return r.unusable(no)
	}
	return err
}

func (r Report) unusable(err *stream.Unusable) error {
	var said *sse.EngineError
	if err.Begun || !errors.As(err, &said) || errors.Is(said, sse.ErrAborted) {
		return broke(err)
	}
	long := engine.IsContextOverflow(said.Type, said.Code, said.Message)
	return r.refusedBy(refusal{status: statusOfObject(said), message: wordsOf(said), long: long})
}

// broke is what a scanner's error means within an answer that has begun.
func broke(err error) error {
	var said *sse.EngineError
	if errors.As(err, &said) {
		cause := ErrEngineFailed
		if errors.Is(said, sse.ErrAborted) {
			cause = ErrEngineAborted
		}
		return &apierr.Error{Code: apierr.UpstreamReset, Message: sentences[apierr.UpstreamReset],
			EngineText: clipWords(wordsOf(said)), Cause: fmt.Errorf("%w: %w", cause, said)}
	}
	return fmt.Errorf("%w: %w", engine.ErrProtocol, err)
}

func wordsOf(said *sse.EngineError) string {
	if said.Message == "" {
		return said.Error()
	}
	return said.Message
}

// objectTypes are the types of error objects that carry no status in their code, by the letters of their names.
var objectTypes = []struct {
	part   string
	status int
}{
	{"ratelimit", http.StatusTooManyRequests}, {"toomany", http.StatusTooManyRequests},
	{"overloaded", http.StatusServiceUnavailable},
	{"unavailable", http.StatusServiceUnavailable}, {"notfound", http.StatusNotFound},
	{"badrequest", http.StatusBadRequest},
	{"invalidrequest", http.StatusBadRequest}, {"exceedcontext", http.StatusBadRequest},
}

// statusOfObject returns the status that an error object stands for: its code where that is one, else by its type; 500
// where neither tells.
func statusOfObject(said *sse.EngineError) int {
	if n, err := strconv.Atoi(said.Code); err == nil && n >= 400 && n < 600 {
		return n
	}
	for _, name := range []string{said.Type, said.Code} {
		name = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
		for _, t := range objectTypes {
			if strings.Contains(name, t.part) {
				return t.status
			}
		}
	}
	return http.StatusInternalServerError
}

// refusalMessage reads the message of an OpenAI error body, and whether it says that the request is longer than the
// engine's context. Engines differ in whether they nest it, and in whether a code is a number.
func refusalMessage(resp engine.Response) (message string, long bool) {
	var body []byte
	for len(body) < maxRefusal {
		piece, err := engine.Next(resp)
		body = append(body, piece...)
		if err != nil {
			break
		}
	}
	type object struct {
		Message string `json:"message"`
		Type    any    `json:"type"`
		Code    any    `json:"code"`
	}
	var parsed struct {
		Error object `json:"error"`
		object
	}
	_ = json.Unmarshal(body, &parsed) // not JSON: the status has to do
	said := parsed.Error
	if said.Message == "" {
		said = parsed.object
	}
	long = engine.IsContextOverflow(fmt.Sprint(said.Type), fmt.Sprint(said.Code), said.Message)
	if said.Message == "" {
		said.Message = fmt.Sprintf("the engine answered with status %d", resp.Status())
	}
	return said.Message, long
}
