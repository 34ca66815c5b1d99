package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"octet/classifier"
	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/index"
	"octet/scheduler"
)

// complete is the straight line: every chat and completion request passes through these steps, in this order.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, kind wire.Kind) {
	x := s.begin(w, r)
	if !x.respond(kind) {
		x.conclude()
		return
	}
	x.w = conn.Bare(x.w)
	x.relay.Detach(x.w, x.w)
	if x.w.Detach(x.goOn) {
		x.slim() // the body may be the server's
		return
	}
	x.goOn()
}

// respond answers, or begins to: true when the client has its first byte of a stream.
func (x *exchange) respond(kind wire.Kind) (begun bool) {
	defer x.recover()
	err := x.run(kind)
	x.resolve(err == nil)
	if err == nil && x.turn.rep != nil {
		return true
	}
	x.finishWith(err)
	return false
}

// finishWith ends an answer, for which no more is expected: with err, where it failed.
func (x *exchange) finishWith(err error) {
	x.handBack()
	if err != nil {
		x.fail(err)
	}
}

// conclude is the end of every exchange.
func (x *exchange) conclude() {
	abort := x.abort
	x.handToShadow()
	x.close()
	x.end()
	if abort {
		panic(http.ErrAbortHandler) // the server closes the connection without a proper end
	}
}

func (x *exchange) run(kind wire.Kind) error {
	if err := x.admit(); err != nil { // key, limits, deadlines
		return err
	}
	if err := x.read(kind); err != nil { // the body, once
		return err
	}
	x.s.retries.earn(x.request.Arrival)
	if err := x.claimKey(); err != nil { // Idempotency-Key
		return err
	}
	x.bindDeadline()
	if err := x.decide(); err != nil { // which specialist
		return err
	}
	x.dispatchShadow()
	x.elsewhere = x.hasSecond()
	err := x.serve() // which replica, may it run, run it
	if err != nil && x.goesOn(err) {
		err = x.serveSecond(err)
	}
	return x.sendAway(err)
}

// serveSecond has the second choice answer where the first refused. Where the first had only offered the request back
// for its long wait, and the second refuses too, it waits at the first.
func (x *exchange) serveSecond(refused error) error {
	var no *scheduler.Refusal
	first, offered := x.verdict, errors.As(refused, &no) && no.Offered
	x.shadow.forgo() // it is asked as the first now
	x.verdict, _ = first.SecondChoice()
	x.elsewhere = false
	err := x.serve()
	if offered && !x.relay.Begun() && errors.Is(err, scheduler.ErrRefused) {
		x.verdict = first
		return x.serve()
	}
	return err
}

// bindDeadline makes the request's context end at its deadline.
func (x *exchange) bindDeadline() {
	if x.request.Intent.Deadline.IsZero() {
		return
	}
	ctx, cancel := context.WithDeadlineCause(x.ctx, x.request.Intent.Deadline, errDeadline)
	x.ctx = ctx
	x.atEnd(cancel)
}

// decide is steps 2 and 3: the cascade's verdict, then what tenants and operators make of it.
func (x *exchange) decide() error {
	if err := x.classify(); err != nil {
		return err
	}
	x.stay()
	x.shareOut()
	v := &x.verdict
	v.Shadow, x.shadowCause = x.shadowFor(v)
	if !x.request.Dry {
		x.s.shadows.comparer.Records.Tally(v)
	}
	x.openReceipt()
	if !x.request.Tenant.Permits(v.Specialist) {
		return apierr.New(apierr.PermissionDenied, "model", fmt.Sprintf("this key may not use %q", v.Specialist))
	}
	if err := x.relieve(); err != nil {
		return err
	}
	x.sampleForJudge()
	return x.checkLength(x.lane())
}

// classify asks the cascade. The text is unescaped for it only where it is read.
func (x *exchange) classify() error {
	x.request.AsTurns = x.request.AsTurns[:0]
	if x.rt.Cascade.Reads(x.request.Parsed.Model, x.request.Intent.Intent) {
		x.request.Turns = x.request.Parsed.Turns(x.request.Turns[:0])
		for _, t := range x.request.Turns {
			x.request.AsTurns = append(x.request.AsTurns, classifier.Turn{Role: t.Role, Text: t.Text})
		}
	}
	var in classifier.Input
	in.Model, in.Intent, in.Adapter, in.Turns = x.request.Parsed.Model, x.request.Intent.Intent,
		x.request.Intent.Adapter, x.request.AsTurns
	return x.rt.Cascade.Decide(&in, &x.verdict)
}

// checkLength refuses answers that cannot fit in the specialist's context however short the prompt is.
func (x *exchange) checkLength(sp *ensemble.Specialist) error {
	if sp.MaxContext() > 0 && x.request.Parsed.MaxTokens >= sp.MaxContext() {
		return apierr.New(apierr.ContextLength, "max_tokens",
			fmt.Sprintf("max_tokens is %d, the context of %s is %d", x.request.Parsed.MaxTokens, sp.Name,
				sp.MaxContext()))
	}
	return nil
}

// goesOn says whether the second choice is to be tried: once, on a refusal that another specialist may not share,
// before the first byte.
func (x *exchange) goesOn(err error) bool {
	return !x.relay.Begun() && errors.Is(err, scheduler.ErrRefused) && !errors.Is(err, scheduler.ErrExceedsPool) &&
		x.hasSecond()
}

// hasSecond says whether there is a second choice, which the verdict called viable.
func (x *exchange) hasSecond() bool { return x.verdict.SecondViable && x.mayAnswer(x.verdict.Second) }

// serve is steps 4 to 12 for the specialist of the verdict.
func (x *exchange) serve() error {
	x.sp = x.lane()
	if x.sp == nil {
		return apierr.New(apierr.ModelNotFound, "model", fmt.Sprintf("there is no specialist %q", x.verdict.Specialist))
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
	f.Kind = nameOf(x.request.Kind)
	f.Now, f.TTFT, f.Total = now, x.request.Intent.FirstTokenLeft(now, x.relay.Delivered() > 0),
		x.request.Intent.TotalLeft(now)
	f.RequestID, f.Specialist, f.Adapter, f.Tenant, f.Salt = x.request.ID, x.sp.Name, x.verdict.Adapter,
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

// cost is the tokens that the request took of its tenant's rate: by the engine's usage, where it came, else as far as
// is known here. A request that no engine took up costs nothing.
func (x *exchange) cost() int {
	switch {
	case !x.admitted:
		return 0
	case x.relay.Usage().PromptTokens > 0:
		return x.relay.Usage().PromptTokens + max(x.relay.Usage().CompletionTokens, x.relay.Delivered())
	}
	return x.prompt.Tokens + x.relay.Delivered()
}
