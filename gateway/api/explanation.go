package api

import (
	"octet/gateway/receipt"
	"octet/routing"
	"octet/scheduler"
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
	Steps []Step `json:"steps"`
}

// Step is one step of the workflow.
type Step struct {
	Step      string          `json:"step,omitempty"` // "" if there is only one
	Routing   receipt.Routing `json:"routing"`
	OnFailure string          `json:"on_failure,omitempty"` // retry | skip | fail; absent if the step is left out
	Replica   string          `json:"replica,omitempty"`    // the pick; absent if the step is left out
	Predicted int             `json:"predicted_cached_tokens"`
	Admission *Admission      `json:"admission,omitempty"` // absent if the step needs no place
}

// Admission is what the picked replica's Gate would say now.
type Admission struct {
	Answer       string `json:"answer"` // admitted | wait | refused
	EstimateMs   int64  `json:"estimate_ms,omitempty"`
	Reason       string `json:"reason,omitempty"`
	RetryAfterMs int64  `json:"retry_after_ms,omitempty"`
}

// Pick is what a step of a plan came to.
type Pick struct {
	Replica   string
	Predicted int               // tokens of the prompt that the replica is believed to hold
	Admission *scheduler.Answer // nil if the step needs no place
}

// Explain renders a decision from its receipt. pick returns what step i of the plan came to.
func Explain(r *receipt.Receipt, plan routing.Plan, pick func(i int) Pick) *Explanation {
	e := &Explanation{RequestID: r.RequestID, Asked: r.Asked, Decision: r.Decision, Prompt: r.Prompt,
		Routing: r.Routing[len(r.Routing)-1]}
	for _, record := range r.Routing {
		e.Steps = append(e.Steps, explainStep(record, plan, pick))
	}
	if len(plan.Steps) > 0 {
		last := e.Steps[len(e.Steps)-1]
		e.Replica, e.Predicted, e.Admission = last.Replica, last.Predicted, last.Admission
	}
	return e
}

func explainStep(record receipt.Routing, plan routing.Plan, pick func(i int) Pick) Step {
	e := Step{Step: record.Step, Routing: record}
	for i, s := range plan.Steps {
		if s.Name == record.Step && record.Skipped == "" {
			p := pick(i)
			e.Replica, e.OnFailure, e.Predicted = p.Replica, s.OnFailure.String(), p.Predicted
			if p.Admission != nil {
				e.Admission = admission(*p.Admission)
			}
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
