package gateway

import (
	"fmt"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/intake"
	"octet/routing"
	"octet/routing/index"
)

// serve is steps 4 to 12 for the specialist of the verdict.
func (x *exchange) serve() error {
	x.sp = x.decision.In(x.rt)
	if x.sp == nil {
		return apierr.New(apierr.ModelNotFound, "model",
			fmt.Sprintf("there is no specialist %q", x.decision.Specialist))
	}
	x.comesBack()
	plan, err := x.plan()
	if err != nil {
		return err
	}
	if err := x.checkPrompt(); err != nil {
		return err
	}
	last := &plan.Steps[len(plan.Steps)-1]
	x.answering, x.answerer, x.protocol = last.Name, x.rt.Replicas[last.Ranked[0].Host], x.sp.Pipeline.Protocol()
	bounds := routing.Bounds{MaxAttempts: x.rt.Limits.MaxAttempts, Budget: x.mayRetry}
	return routing.SequentialExecutor(bounds).Execute(x.ctx, plan, x)
}

// plan is steps 4 to 7: the pipeline over the replicas that this request may see.
func (x *exchange) plan() (routing.Plan, error) {
	x.handBack()
	began := x.Since()
	now := x.At(began)
	hosts, none := intake.Takers(x.rt, x.sp.Snapshot().Hosts, &x.request.Parsed)
	if none != nil {
		return routing.Plan{}, none
	}
	x.facts(now, x.openRoute())
	x.candidates(hosts)
	x.route.EnableTrace(x.timer(now))
	x.sp.Pipeline.Seed(x.route, x.sp.Snapshot())
	plan, err := x.sp.Workflow.Plan(x.ctx, x.route)
	x.sp.Pipeline.Footprint(x.route.View(), &x.prompt)
	x.seen = x.Since()
	x.recordRouting(plan, err, x.seen-began)
	return plan, err
}

// candidates lets the request see those of hosts whose engines have not died under it.
func (x *exchange) candidates(hosts index.HostBitmap) {
	if x.died.Empty() {
		x.route.Candidates(hosts)
		return
	}
	x.route.Candidates(hosts.AndNot(x.died))
}

// timedEvery is how long after one decision of a specialist another has the time of every plugin taken, beside those
// that are to be explained: at most a thousand a second pay for it.
const timedEvery = time.Millisecond

// timer returns the clock by which the plugins of this decision are timed; nil if they are not.
func (x *exchange) timer(now time.Time) func() time.Duration {
	if x.request.Dry || x.request.Intent.Explain || x.sp.DueForTiming(now.Sub(x.s.began), timedEvery) {
		return x.Since
	}
	return nil
}

// facts writes what plugins may know of the request. f is zero: it is written in place, member by member.
func (x *exchange) facts(now time.Time, f *routing.Facts) {
	f.Kind = x.request.Kind.String()
	f.Now, f.TTFT, f.Total = now, x.request.Intent.FirstTokenLeft(now, x.relay.Delivered() > 0),
		x.request.Intent.TotalLeft(now)
	f.RequestID, f.Specialist, f.Adapter, f.Tenant, f.Salt = x.request.ID, x.sp.Name, x.decision.Adapter,
		x.request.Tenant.Name,
		x.request.Salted().Salt
	f.Session, f.Body, f.Member, f.Text, f.Pieces = x.request.Intent.Session, x.request.Bytes, x.request.Member,
		x.request.Render, x.request.Pieces
	f.Prompts = intake.PromptsOf(&x.request.Parsed)
	f.Priority, f.MaxTokens, f.Stream, f.Dry = x.request.Intent.Priority, max(x.request.Parsed.MaxTokens, 0),
		x.request.Stream, x.request.Dry
}

// checkPrompt refuses prompts that leave no room for an answer.
func (x *exchange) checkPrompt() error {
	prompt := x.prompt.LongestPrompt()
	want := prompt + max(x.request.Parsed.MaxTokens, 1)
	if x.sp.MaxContext() > 0 && x.prompt.Exact && want > x.sp.MaxContext() {
		return apierr.New(apierr.ContextLength, x.request.PromptMember(),
			fmt.Sprintf("%d prompt tokens and %d to generate exceed the context of %s, %d",
				prompt, max(x.request.Parsed.MaxTokens, 1), x.sp.Name, x.sp.MaxContext()))
	}
	if x.charged == 0 && !x.request.Dry && x.request.Tenant.HasTokenRate() {
		if err := x.request.Tenant.Charge(x.Now(), x.prompt.Tokens); err != nil {
			return err
		}
		x.charged = x.prompt.Tokens
	}
	return nil
}
