package gateway

import (
	"encoding/json"
	"errors"
	"net/http"

	"octet/gateway/api"
	"octet/gateway/apierr"
	"octet/gateway/head"
	"octet/gateway/wire"
	"octet/routing"
	"octet/scheduler/gate"
)

// explain runs the straight line up to the point where something would happen, and says what would. It counts as a
// request in the tenant's rate and among what is open; no window, receipt or replica changes.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer x.end()
	defer x.recover()
	x.request.Dry = true
	answer, err := x.explain()
	if err != nil {
		x.fail(err)
		return
	}
	body, err := json.Marshal(answer)
	if err != nil {
		x.fail(err)
		return
	}
	x.identify(head.Lines(jsonAnswer)).Into(w.Header())
	_, _ = w.Write(append(body, '\n'))
}

func (x *exchange) explain() (*api.Explanation, error) {
	if err := x.admit(); err != nil {
		return nil, err
	}
	if err := x.readEither(); err != nil {
		return nil, err
	}
	if err := x.decide(); err != nil {
		return nil, err
	}
	x.sp = x.rt.Specialist(x.decision.Specialist)
	plan, err := x.plan()
	r := x.receipt.Rendered()
	if err != nil && len(r.Routing) == 0 {
		return nil, err
	}
	return api.Explain(r, plan, func(i int) api.Pick { return x.pick(&plan.Steps[i], i == len(plan.Steps)-1) }), nil
}

// readEither reads a body that may be a chat's or a completion's: the one with a prompt is a completion.
func (x *exchange) readEither() error {
	err := x.read(wire.Chat)
	var bad *wire.Error
	if errors.As(err, &bad) && bad.Param == "messages" && bad.Code == string(apierr.MissingParameter) {
		again := x.request.Parse(wire.Completion)
		x.relay.Terms = x.terms()
		if again == nil || !(errors.As(again, &bad) && bad.Param == "prompt" &&
			bad.Code == string(apierr.MissingParameter)) {
			return again
		}
	}
	return err
}

// pick is what a step of the plan came to; the last step is the answer's.
func (x *exchange) pick(s *routing.Step, last bool) api.Pick {
	host := s.Ranked[0].Host
	rep := x.rt.Replicas[host]
	p := api.Pick{Replica: rep.Name, Predicted: x.predict(host)}
	if s.Role != routing.RolePreprocess {
		var ask gate.Request
		x.admissionRequest(&ask, !last)
		admission := rep.Gate.Probe(ask)
		p.Admission = &admission
	}
	return p
}
