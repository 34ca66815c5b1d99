package gateway

import (
	"fmt"
	"net/http"
	"strings"

	"octet/gateway/apierr"
	"octet/gateway/doors"
	"octet/gateway/doors/messages"
	"octet/gateway/doors/responses"
	"octet/gateway/head"
	"octet/gateway/wire"
)

// doorsByPath are the surfaces beside OpenAI's chat completions that clients may speak.
var doorsByPath = map[string]doors.Door{
	messages.Path:  messages.Door{},
	responses.Path: responses.Door{},
}

// doorOf returns the door that a path belongs to, be there something at it or not; nil stands for OpenAI's.
func doorOf(path string) doors.Door {
	if path == messages.CountPath {
		return messages.Door{Counts: true}
	}
	for at, door := range doorsByPath {
		if under, is := strings.CutPrefix(path, at); is && (under == "" || under[0] == '/') {
			return door
		}
	}
	return nil
}

// countTokens answers how long a prompt of Messages is, in tokens of the specialist that would answer it. It runs the
// line as POST /v1/route does: nothing happens.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer x.close()
	defer x.recover()
	x.request.Dry, x.request.Count, x.request.Door = true, true, messages.Door{Counts: true}
	n, err := x.countTokens(r)
	if err != nil {
		x.fail(err)
		return
	}
	f := identify(head.Lines(jsonAnswer), x.request.ID, "")
	f = append(append(f, x.chosen().HeadLine()...), translated...)
	body := fmt.Appendf(nil, "{\"input_tokens\":%d}\n", n)
	x.w.Start(http.StatusOK, int64(len(body)), f)
	_, _ = x.w.Write(body) // the client has left
}

func (x *exchange) countTokens(r *http.Request) (int, error) {
	if err := x.admit(r); err != nil {
		return 0, err
	}
	if err := x.request.ReadBody(x.w, r, wire.Chat, &x.s.inbound, x.countIn); err != nil {
		return 0, err
	}
	if err := x.decide(r.Context()); err != nil {
		return 0, err
	}
	_, err := x.dispatch.Route(r.Context(), x.decision.In(x.rt), x.edition())
	prompt := &x.dispatch.Plan.Prompt
	switch {
	case prompt.Exact:
		return prompt.Tokens, nil
	case err != nil:
		return 0, err
	}
	return 0, &apierr.Error{Code: apierr.UnsupportedParameter, HTTPStatus: http.StatusUnprocessableEntity,
		Param: "model",
		Message: fmt.Sprintf("the gateway has no tokenizer of %s: only the engine knows how long the prompt is",
			x.chosen().Name)}
}
