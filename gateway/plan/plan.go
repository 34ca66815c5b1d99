package plan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/routing"
	"octet/routing/index"
	"octet/scheduler/gate"
)

// Plan is where a request may go at one specialist. The zero Plan has none.
type Plan struct {
	Specialist *ensemble.Specialist
	Adapter    string
	Prompt     ensemble.Footprint

	asked intake.Asked
	route *routing.Context // nil before the first Make, and after Release
}

// Ask is what a plan is made for.
type Ask struct {
	Now      time.Time
	Without  index.HostBitmap     // replicas that are left out, as their engines died under the request
	Answered bool                 // the client has its first token
	Clock    func() time.Duration // by which each plugin is timed; nil if none is
	Traced   bool                 // what each plugin says is kept, for Record
}

// At makes p a plan at another specialist. It ends the one before.
func (p *Plan) At(sp *ensemble.Specialist, adapter string) {
	p.Release(false)
	p.Specialist, p.Adapter = sp, adapter
}

// Make runs the pipeline over the replicas that may see the request. The error is why there is none.
func (p *Plan) Make(ctx context.Context, rt *ensemble.Runtime, r *intake.Request, ask *Ask) (routing.Plan, error) {
	snapshot := p.Specialist.Snapshot()
	hosts, none := intake.Takers(rt, snapshot.Hosts, &r.Parsed)
	if none != nil {
		return routing.Plan{}, none
	}
	if hosts, none = r.Among.Of(rt, hosts, p.Specialist.Name); none != nil {
		return routing.Plan{}, none
	}
	if err := checkImages(p.Specialist, r); err != nil {
		return routing.Plan{}, err
	}
	answering, err := answerer(rt, hosts, r)
	if err != nil {
		return routing.Plan{}, err
	}
	p.Release(false)
	route, facts := routing.AcquireEmpty()
	p.route = route
	p.state(r, ask, facts)
	route.Answering(answering)
	if !ask.Without.Empty() {
		hosts = hosts.AndNot(ask.Without)
	}
	route.Candidates(hosts)
	if ask.Traced {
		route.EnableTrace(ask.Clock)
	}
	p.Specialist.Pipeline.Seed(route, snapshot)
	plan, err := p.Specialist.Workflow.Plan(ctx, route)
	p.Specialist.Pipeline.Footprint(route.View(), &p.Prompt)
	countImages(&p.Prompt, p.Specialist, r)
	if err != nil {
		err = p.named(r.Intent.Replica, err)
	}
	return plan, err
}

// state writes what plugins may know of the request. f is zero: it is written in place, member by member.
func (p *Plan) state(r *intake.Request, ask *Ask, f *routing.Facts) {
	f.Kind = r.Kind.String()
	f.Now, f.TTFT, f.Total = ask.Now, r.Intent.FirstTokenLeft(ask.Now, ask.Answered), r.Intent.TotalLeft(ask.Now)
	f.RequestID, f.Specialist, f.Adapter, f.Tenant, f.Salt = r.ID, p.Specialist.Name, p.Adapter, r.Tenant.Name,
		r.Salted().Salt
	p.asked = intake.Asked{Request: r, Shown: p.Specialist.Shown()}
	f.Session, f.Body, f.Member, f.Text, f.Pieces = r.Intent.Session, r.Bytes, r.Member, p.asked.Text, p.asked.Pieces
	f.Intent, f.Headers, f.Replica = r.Intent.Intent, r.Intent.Headers, r.Intent.Replica
	f.Prompts, f.Images = intake.PromptsOf(&r.Parsed), r.Parsed.Images()
	f.Priority, f.MaxTokens, f.Stream, f.Dry = r.Intent.Priority, max(r.Parsed.MaxTokens, 0), r.Stream, r.Dry
	f.Count = r.Count
}

// Protocol returns how the steps of the plan work together.
func (p *Plan) Protocol() ensemble.Protocol { return p.Specialist.Pipeline.Protocol(p.route.Way()) }

// Made reports whether there is a plan whose replicas can be asked about: see Predicted.
func (p *Plan) Made() bool { return p.route != nil }

// Check refuses a prompt that leaves no room for an answer in the specialist's context, as far as it is counted.
func (p *Plan) Check(r *intake.Request) error {
	prompt, answer, most := p.Prompt.LongestPrompt(), max(r.Parsed.MaxTokens, 1), p.Specialist.MaxContext()
	if p.within(most, answer) {
		return nil
	}
	return apierr.New(apierr.ContextLength, r.PromptMember(),
		fmt.Sprintf("%d prompt tokens and %d to generate exceed the context of %s, %d", prompt, answer,
			p.Specialist.Name, most))
}

// Fits reports whether a replica's context has room for the prompt, as far as it is counted, and so many tokens more.
func (p *Plan) Fits(rep *ensemble.Replica, answer int) bool {
	return p.within(rep.MaxContext(), answer)
}

// within reports whether a context of so many tokens, 0 for any, has room for the prompt and the answer.
func (p *Plan) within(most, answer int) bool {
	return most == 0 || !p.Prompt.Exact || p.Prompt.LongestPrompt()+answer <= most
}

// Predicted returns how many tokens of the prompt a replica is believed to serve from its cache.
func (p *Plan) Predicted(host index.HostID) int {
	return p.servable(host, p.Specialist.Held(p.route.View(), host))
}

// Foretold returns how many tokens of the prompt a replica's events tell of, and how many it holds with what is
// guessed.
func (p *Plan) Foretold(host index.HostID) (known, all int) {
	sp, v := p.Specialist, p.route.View()
	if sp.Evidence == nil {
		return 0, 0
	}
	known, all = sp.Evidence.Foretell(v, host, sp.Held(v, host))
	return p.servable(host, known), p.servable(host, all)
}

// servable returns how many tokens of the prompt a replica serves that holds so many of its blocks.
func (p *Plan) servable(host index.HostID, blocks int) int {
	return receipt.Servable(blocks, p.Prompt.Tokens, p.Specialist.BlockSize, p.Specialist.GrainOf(host))
}

// Admission writes into q, which is zero, what a Gate is to know of the request. Its Now is left out, and so is what
// depends on the request's attempts.
func (p *Plan) Admission(r *intake.Request, q *gate.Request) {
	in := &r.Intent
	q.ID, q.Priority, q.Tenant, q.Adapter = r.ID, in.Priority, r.Tenant.Name, p.Adapter
	q.Deadline, q.TTFTDeadline, q.Arrived = in.Deadline, in.TTFTDeadline, r.Arrival
	q.Whole, q.Draft = !r.Stream, p.Specialist.Draft
	intake.AskPrompts(&p.Prompt, q, &r.Parsed)
}

// PromptAlone makes q, which Admission has written, ask for the prompt and the one token that shows its end.
func PromptAlone(q *gate.Request) { q.MaxNew, q.N, q.Draft = 1, 1, 0 }

// Admitted tells what the pipeline learns from that a replica has admitted the request.
func (p *Plan) Admitted(rep *ensemble.Replica, at time.Time) {
	if p.route != nil {
		p.Specialist.Routed(p.route.View(), rep, at)
	}
}

// Count counts a plan that took so long, and how it ended.
func (p *Plan) Count(plan routing.Plan, err error, took time.Duration) {
	p.Specialist.Pipeline.Planned(p.route, plan, err, took)
}

// Record writes the routing into the receipt.
func (p *Plan) Record(d *receipt.Draft, rt *ensemble.Runtime, plan routing.Plan, err error) {
	var room [4]routing.LegSelection
	d.Route(
		&receipt.Pipeline{Specialist: p.Specialist.Name, BlockSize: p.Specialist.BlockSize, Names: rt.ReplicaNames(),
			Grain: p.Specialist.Grain, Depths: p.Specialist.Depths(p.route.View())},
		receipt.Prompt{Tokens: p.Prompt.Tokens, Exact: p.Prompt.Exact, Blocks: len(p.Prompt.Chain)},
		p.route.AppendSelections(room[:0]), plan, err)
}

// Release ends the routing. keep has the prompt's chain copied, for a Gate that is asked later. Idempotent.
func (p *Plan) Release(keep bool) {
	if p.route == nil {
		return
	}
	if keep {
		p.Prompt.Chain = slices.Clone(p.Prompt.Chain)
	} else {
		p.Prompt.Chain = nil
	}
	p.route.Release()
	p.route = nil
}
