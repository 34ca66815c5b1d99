package emulator

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"octet/scheduler"
)

// problem is an error in the shape in which vLLM answers it.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"` // the HTTP status, as a number
}

func (p *problem) Error() string { return p.Message }

// badRequest is a 400 about the field param; "" is about none in particular.
func badRequest(param, format string, args ...any) *problem {
	p := &problem{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		p.Param = &param
	}
	return p
}

func notFound(param, format string, args ...any) *problem {
	p := badRequest(param, format, args...)
	p.Type, p.Code = "NotFoundError", http.StatusNotFound
	return p
}

// problemOf returns what a client is told about err. The queue's words are those of vLLM's simulator, for vLLM has no
// bound.
func problemOf(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, scheduler.ErrExceedsPool), errors.Is(err, scheduler.ErrInvalid), errors.Is(err, ErrFault):
		return badRequest("", "%v", err)
	case errors.Is(err, scheduler.ErrRefused):
		return &problem{Message: "Failed to enqueue request, waiting requests queue is full", Type: "RateLimitError",
			Code: http.StatusTooManyRequests}
	case errors.Is(err, scheduler.ErrClosed):
		return &problem{Message: "The engine is not running.", Type: "ServiceUnavailableError",
			Code: http.StatusServiceUnavailable}
	}
	return &problem{Message: err.Error(), Type: "InternalServerError", Code: http.StatusInternalServerError}
}

// body returns the JSON of the error as it stands in an answer or in an event.
func (p *problem) body() []byte { return mustJSON(map[string]*problem{"error": p}) }

func writeProblem(w http.ResponseWriter, err error) {
	p := problemOf(err)
	writeJSON(w, p.Code, p.body())
}

// writeJSON answers with a body that is JSON already. A client that is gone is the connection's business.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// mustJSON returns v as JSON. v is one of our own answers, so it always can.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("emulator: encoding %T: %v", v, err))
	}
	return b
}
