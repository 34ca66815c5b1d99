package upstream

import (
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/stream"
)

// Terms are what a request asks of its answer.
func Terms(r *intake.Request, l *ensemble.Limits) stream.Terms {
	q := &r.Parsed
	return stream.Terms{
		Kind: r.Kind, Door: r.Answer, MaxTokens: q.MaxTokens, Most: stream.MostOutput(q), Prompts: max(q.Prompts(), 1),
		Answers: intake.Sequences(q), EventBytes: l.EventBytes, TextBytes: int(l.BodyBytes),
		ResponseBytes: l.ResponseBytes, Write: l.WriteTimeout, Idle: l.IdleTimeout,
	}
}
