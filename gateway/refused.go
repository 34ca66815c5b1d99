package gateway

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
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/gateway/wire"
)

// What an attempt may end in besides the engine package's errors.
var (
	errMistaken     = errors.New("the engine refused what the client sent")
	errEngineBusy   = errors.New("the engine is overloaded")
	errEngineFailed = errors.New("the engine reported a failure of its own")
	errAbandoned    = errors.New("abandoned")
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

// engineRefused is the error of an engine's answer other than 200.
func (x *exchange) engineRefused(resp engine.Response) error {
	message, long := refusalMessage(resp)
	return x.refusedBy(refusal{resp.Status(), message, secondsOf(resp.Header("Retry-After")), long})
}

// refusedBy turns an engine's error into ours: a mistake of the client's is told as one, an engine that is busy is
// another replica's turn, anything else is the engine's failure. See inOurWords for what becomes of its words.
func (x *exchange) refusedBy(r refusal) error {
	switch status := r.status; {
	case r.long && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable:
		return x.tooLong()
	case status == http.StatusNotFound:
		return x.inOurWords(&apierr.Error{Code: apierr.ModelNotFound, Param: "model", Cause: errMistaken}, r.message)
	case status == http.StatusRequestEntityTooLarge:
		return x.inOurWords(&apierr.Error{Code: apierr.PayloadTooLarge, Cause: errMistaken}, r.message)
	case status == http.StatusTooManyRequests:
		return x.inOurWords(&apierr.Error{Code: apierr.QueueFull, RetryAfter: x.busyFor(r), Cause: errEngineBusy},
			r.message)
	case status == http.StatusServiceUnavailable:
		return x.inOurWords(&apierr.Error{Code: apierr.Overloaded, RetryAfter: x.busyFor(r), Cause: errEngineBusy},
			r.message)
	case status >= 500:
		return x.inOurWords(&apierr.Error{Code: apierr.UpstreamReset,
			Cause: fmt.Errorf("%w: status %d", errEngineFailed, status)}, r.message)
	case status < 400, isOurs(status):
		return x.inOurWords(&apierr.Error{Code: apierr.UpstreamProtocolError,
			Cause: fmt.Errorf("%w: status %d", engine.ErrProtocol, status)}, r.message)
	}
	return x.inOurWords(&apierr.Error{Code: apierr.InvalidRequest, Cause: errMistaken}, r.message)
}

// tooLong is the error of a request that an engine finds longer than its context.
func (x *exchange) tooLong() *apierr.Error {
	param := "messages"
	if x.request.Kind == wire.Completion {
		param = "prompt"
	}
	return &apierr.Error{Code: apierr.ContextLength, Param: param, Cause: errMistaken,
		Message: "prompt and answer together are longer than the context of " + x.sp.Name}
}

// isOurs reports whether a status of the 400 family is about what the gateway itself adds to a request, or does not do.
func isOurs(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden ||
		status == http.StatusProxyAuthRequired || status == http.StatusRequestTimeout
}

// busyFor is what a client is told of an engine that is busy: what the engine says, else when the Gate expects a place
// there.
func (x *exchange) busyFor(r refusal) time.Duration {
	if r.after > 0 {
		return r.after
	}
	if rep := x.turn.rep; rep != nil && rep.Gate != nil {
		return max(rep.Gate.NextEnd(), leastBusy)
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

// unusable is what a scanner's error means: the engine's own error object, by its code where it came in place of an
// answer, or something that is no answer at all.
func (x *exchange) unusable(err *stream.Unusable) error {
	var said *sse.EngineError
	if err.Begun || !errors.As(err, &said) {
		return broke(err)
	}
	long := engine.IsContextOverflow(said.Type, said.Code, said.Message)
	return x.refusedBy(refusal{status: statusOfObject(said), message: wordsOf(said), long: long})
}

// broke is what a scanner's error means within an answer that has begun.
func broke(err error) error {
	var said *sse.EngineError
	if errors.As(err, &said) {
		return &apierr.Error{Code: apierr.UpstreamReset, Message: sentences[apierr.UpstreamReset],
			EngineText: clipWords(wordsOf(said)),
			Cause:      fmt.Errorf("%w: %w", errEngineFailed, said)}
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
