package gateway

import (
	"encoding/json"
	"net/http"

	"octet/gateway/api"
	"octet/gateway/head"
	"octet/gateway/tenant"
	"octet/routing"
)

// explain runs the line up to the point where something would happen, and says what would. It counts as a request in
// the tenant's rate and among what is open; no window, receipt or replica changes.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) { s.explainFor(w, r, nil) }

// explainToOperators is explain on the admin listener, whose requests are of the operators' tenant.
func (s *Server) explainToOperators(w http.ResponseWriter, r *http.Request) {
	s.explainFor(w, r, s.runtime.Load().Tenants.Operator())
}

// explainFor explains to a tenant; nil is the one that the request's key tells.
func (s *Server) explainFor(w http.ResponseWriter, r *http.Request, asked *tenant.Tenant) {
	x := s.begin(w, r)
	x.request.Tenant = asked
	defer x.close()
	defer x.recover()
	x.request.Dry = true
	answer, err := x.explain(r)
	if err != nil {
		x.fail(err)
		return
	}
	body, err := json.Marshal(answer)
	if err != nil {
		x.fail(err)
		return
	}
	identify(head.Lines(jsonAnswer), x.request.ID, "").Into(w.Header())
	_, _ = w.Write(append(body, '\n')) // the client has left
}

func (x *exchange) explain(r *http.Request) (*api.Explanation, error) {
	if err := x.admit(r); err != nil {
		return nil, err
	}
	if err := x.request.ReadEither(x.w, r, &x.s.inbound, x.countIn); err != nil {
		return nil, err
	}
	if err := x.decide(r.Context()); err != nil {
		return nil, err
	}
	plan, err := x.dispatch.Route(r.Context(), x.decision.In(x.rt), x.edition())
	shown := x.receipt.Rendered()
	if err != nil && len(shown.Routing) == 0 {
		return nil, err
	}
	return api.Explain(shown, plan, func(i int) api.Pick {
		s, last := &plan.Steps[i], i == len(plan.Steps)-1
		p := api.Pick{Replica: x.rt.Replicas[s.Ranked[0].Host].Name,
			Predicted: x.dispatch.Plan.Predicted(s.Ranked[0].Host)}
		if s.Role != routing.RolePreprocess {
			admission := x.dispatch.Probe(s, last)
			p.Admission = &admission
		}
		return p
	}), nil
}
