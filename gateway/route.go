package gateway

import (
	"encoding/json"
	"errors"
	"net/http"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/head"
	"octet/gateway/receipt"
	"octet/gateway/wire"
	"octet/routing"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// Explanation answers POST /v1/route: a decision alone.
type Explanation struct {
	RequestID string           `json:"request_id"`
	Asked     receipt.Asked    `json:"asked"`
	Decision  receipt.Decision `json:"decision"`
	Prompt    receipt.Prompt   `json:"prompt"`
	Routing   receipt.Routing  `json:"routing"`
	Replica   string           `json:"replica,omitempty"` // the pick; absent when no candidate is left
	Predicted int              `json:"predicted_cached_tokens"`
	Admission *Admission       `json:"admission,omitempty"`
	// Steps are all steps of the workflow, the answering one, which the fields above tell of, included.
	Steps []StepExplanation `json:"steps"`
}

// StepExplanation is one step of the workflow.
type StepExplanation struct {
	Step      string          `json:"step,omitempty"` // "" where there is only one
	Routing   receipt.Routing `json:"routing"`
	OnFailure string          `json:"on_failure,omitempty"` // retry | skip | fail; absent where the step is left out
	Replica   string          `json:"replica,omitempty"`    // the pick; absent where the step is left out
	Predicted int             `json:"predicted_cached_tokens"`
	Admission *Admission      `json:"admission,omitempty"` // absent where the step needs no place
}

// Admission is what the picked replica's Gate would say now.
type Admission struct {
	Answer       string `json:"answer"` // admitted | wait | refused
	EstimateMs   int64  `json:"estimate_ms,omitempty"`
	Reason       string `json:"reason,omitempty"`
	RetryAfterMs int64  `json:"retry_after_ms,omitempty"`
}

// explain runs the straight line up to the point where something would happen, and says what would. It counts as a
// request in the tenant's rate and among what is open; no window, receipt or replica changes.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer x.end()
	defer x.recover()
	x.dry = true
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

func (x *exchange) explain() (*Explanation, error) {
	if err := x.admit(); err != nil {
		return nil, err
	}
	if err := x.readEither(); err != nil {
		return nil, err
	}
	if err := x.decide(); err != nil {
		return nil, err
	}
	x.sp = x.rt.Specialist(x.verdict.Specialist)
	plan, err := x.plan()
	r := x.receipt.Rendered()
	if err != nil && len(r.Routing) == 0 {
		return nil, err
	}
	return x.explanation(r, plan), nil
}

// readEither reads a body that may be a chat's or a completion's: the one with a prompt is a completion.
func (x *exchange) readEither() error {
	err := x.read(wire.Chat)
	var bad *wire.Error
	if errors.As(err, &bad) && bad.Param == "messages" && bad.Code == string(apierr.MissingParameter) {
		x.kind = wire.Completion
		again := x.parse()
		if again == nil || !(errors.As(again, &bad) && bad.Param == "prompt" &&
			bad.Code == string(apierr.MissingParameter)) {
			return again
		}
	}
	return err
}

func (x *exchange) explanation(r *receipt.Receipt, plan routing.Plan) *Explanation {
	e := &Explanation{RequestID: x.id, Asked: r.Asked, Decision: r.Decision, Prompt: r.Prompt,
		Routing: r.Routing[len(r.Routing)-1]}
	for _, record := range r.Routing {
		e.Steps = append(e.Steps, x.stepExplanation(plan, record))
	}
	if len(plan.Steps) > 0 {
		last := e.Steps[len(e.Steps)-1]
		e.Replica, e.Predicted, e.Admission = last.Replica, last.Predicted, last.Admission
	}
	return e
}

func (x *exchange) stepExplanation(plan routing.Plan, record receipt.Routing) StepExplanation {
	e := StepExplanation{Step: record.Step, Routing: record}
	for i, s := range plan.Steps {
		if s.Name != record.Step {
			continue
		}
		host := s.Ranked[0].Host
		rep := x.rt.Replicas[host]
		e.Replica, e.OnFailure, e.Predicted = rep.Name, s.OnFailure.String(), x.predict(host)
		if s.Role != routing.RolePreprocess {
			var ask gate.Request
			x.admissionRequest(&ask, i < len(plan.Steps)-1)
			e.Admission = admission(rep.Gate.Probe(ask))
		}
	}
	return e
}

func admission(a scheduler.Answer) *Admission {
	out := &Admission{Answer: a.State.String(), EstimateMs: a.Estimate.Milliseconds(),
		RetryAfterMs: a.RetryAfter.Milliseconds()}
	if a.Reason != nil {
		out.Reason = a.Reason.Error()
	}
	return out
}

func (x *exchange) renderPrompt(dst []byte) []byte { return renderPrompt(x.kind, &x.req, dst) }

func (x *exchange) promptPieces() [][]byte {
	x.question.prompt = x.req.Wording(x.question.prompt[:0], frames)
	return x.question.prompt
}

func (x *exchange) member(name string) []byte { return x.req.Raw(name) }

// frames are what renderPrompt puts around messages: their newlines are in no wording.
var frames = wire.FramesOf(engine.OpenTurn, engine.CloseTurn)

// renderPrompt appends the prompt, the first one of a list, as an engine with our own chat template sees it.
func renderPrompt(kind wire.Kind, req *wire.Request, dst []byte) []byte {
	if kind == wire.Completion {
		if req.Prompts() == 0 {
			return dst
		}
		text, _ := req.PromptText(0)
		return append(dst, text...)
	}
	for i := range req.Messages() {
		dst = engine.OpenTurn(dst, req.Role(i))
		dst = req.AppendText(dst, i)
		dst = engine.CloseTurn(dst)
	}
	return engine.OpenTurn(dst, "assistant")
}
