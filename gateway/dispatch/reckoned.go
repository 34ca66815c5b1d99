package dispatch

import (
	"errors"

	"octet/gateway/receipt"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// reckoned is the arithmetic of a Gate's answer as a receipt has it. err is how its question ended.
func reckoned(q *gate.Request, err error) receipt.Admission {
	k := &q.Reckoned
	a := receipt.Admission{Answer: scheduler.Admitted.String(), Needed: k.Needed, Reused: k.Reused, Free: k.Free,
		Running: k.Running, Waiting: k.Waiting, Uncached: k.Uncached, WaitMs: receipt.Ms(k.Wait),
		PrefillMs: receipt.Ms(k.Prefill), DecodeMs: receipt.Ms(k.Decode)}
	switch {
	case k.Waits:
		a.Answer = scheduler.Waiting.String()
	case errors.Is(err, scheduler.ErrRefused):
		a.Answer = scheduler.Refused.String()
	case err != nil:
		return receipt.Admission{} // it was not asked
	}
	if !q.Deadline.IsZero() || !q.TTFTDeadline.IsZero() {
		slack := receipt.Ms(k.Slack)
		a.SlackMs = &slack
	}
	return a
}
