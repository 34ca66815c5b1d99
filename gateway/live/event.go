package live

import (
	"time"

	"octet/gateway/receipt"
)

// Event is one decision, as GET /admin/decisions tells it. The whole is in its receipt.
type Event struct {
	Receipt    string    `json:"receipt"`
	Time       time.Time `json:"time"` // of the request's arrival
	Tenant     string    `json:"tenant"`
	Model      string    `json:"model"` // that was asked for
	Intent     string    `json:"intent,omitempty"`
	Priority   int       `json:"priority"`
	Specialist string    `json:"specialist"`
	Adapter    string    `json:"adapter,omitempty"`
	RoutedBy   string    `json:"routed_by"`
	Confidence *float64  `json:"confidence,omitempty"`
	Demoted    string    `json:"demoted,omitempty"` // the first choice, for which Specialist stands in
	Shadow     string    `json:"shadow,omitempty"`
	Replica    string    `json:"replica,omitempty"` // the last one asked
	Attempts   int       `json:"attempts"`
	Stream     bool      `json:"stream"`
	Outcome    string    `json:"outcome"` // ok | client_left | the error's code
	Status     int       `json:"status"`
	Prompt     int       `json:"prompt_tokens"`
	Predicted  int       `json:"predicted_cached_tokens"`           // at Replica
	Delivered  *int      `json:"delivered_cached_tokens,omitempty"` // by it, if it says so
	Completion int       `json:"completion_tokens"`
	Preempted  int       `json:"preempted,omitempty"`
	Continued  int       `json:"continued,omitempty"`
	QueueMs    float64   `json:"queue_ms"` // of all attempts
	TTFTMs     float64   `json:"ttft_ms,omitempty"`
	TotalMs    float64   `json:"total_ms"`
	RouteUs    float64   `json:"route_us"`
}

func summary(tenant string, r *receipt.Receipt) Event {
	e := Event{
		Receipt: r.ID, Time: r.Time, Tenant: tenant, Model: r.Asked.Model, Intent: r.Asked.Intent,
		Priority: r.Asked.PriorityInUse, Specialist: specialistOf(r), Adapter: r.Decision.Adapter,
		RoutedBy: r.Decision.RoutedBy, Confidence: r.Decision.Confidence, Demoted: r.Decision.Demoted,
		Shadow: r.Decision.Shadow, Attempts: len(r.Attempts), Stream: r.Asked.Stream, Outcome: outcomeOf(r),
		Status: r.Result.Status, Prompt: max(r.Result.PromptTokens, r.Prompt.Tokens),
		Completion: r.Result.CompletionTokens, Preempted: r.Result.Preempted, Continued: r.Result.Continued,
		TTFTMs: r.Result.TTFTMs, TotalMs: r.Result.TotalMs, RouteUs: r.Result.RouteUs,
	}
	for i := range r.Attempts {
		e.QueueMs += r.Attempts[i].QueueMs
	}
	if n := len(r.Attempts); n > 0 {
		last := &r.Attempts[n-1]
		e.Replica, e.Predicted, e.Delivered = last.Replica, last.PredictedTokens, last.DeliveredTokens
	}
	return e
}
