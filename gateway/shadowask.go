package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"octet/calibration"
	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// priorityShadow is below everything that a client may ask for, so that every request can take a shadow's place.
const priorityShadow = intake.PriorityLeast - 1

// errShadowPlace is a specialist of which no replica has a place for a shadow now.
var errShadowPlace = errors.New("no place for a shadow")

// answer asks the specialist and reads its answer to the end.
func (sh *secondOpinion) answer(ctx context.Context) (calibration.Answer, error) {
	if err := sh.parse(); err != nil {
		return calibration.Answer{}, err
	}
	rep, prompt, predicted, err := sh.choose(ctx)
	if err != nil {
		return calibration.Answer{}, err
	}
	at := place.New(rep.Fleet, rep.Gate, sh.sp.BlockSize)
	defer at.Release()
	within := at.Watch(ctx)
	demand := fleet.Demand{Prompt: prompt.Tokens, Uncached: prompt.Tokens - predicted, Whole: !sh.stream}
	if _, err := at.Admit(ctx, sh.admission(prompt), demand, sh.of.s); err != nil {
		return calibration.Answer{}, err
	}
	defer at.Unwatch()
	sh.standing.Store(standSent)
	rep.Shadows.Add(1)
	defer rep.Shadows.Add(-1)
	answer, err := sh.call(within, rep, &at)
	return answer, at.Cause(err)
}

// choose runs the specialist's pipeline as a dry run, which leaves no trace in what it learns, and takes the best
// replica whose breaker is closed: a shadow is no probe.
func (sh *secondOpinion) choose(ctx context.Context) (*ensemble.Replica, ensemble.Footprint, int, error) {
	c := routing.Acquire(sh.facts())
	defer c.Release()
	hosts, none := intake.Takers(sh.rt, sh.sp.Snapshot().Hosts, &sh.req)
	if none != nil {
		return nil, ensemble.Footprint{}, 0, fmt.Errorf("%w: %w", errShadowPlace, none)
	}
	c.Candidates(hosts)
	sh.sp.Pipeline.Seed(c, sh.sp.Snapshot())
	plan, err := sh.sp.Workflow.Plan(ctx, c)
	if err != nil {
		return nil, ensemble.Footprint{}, 0, fmt.Errorf("%w: %w", errShadowPlace, err)
	}
	var prompt ensemble.Footprint
	sh.sp.Pipeline.Footprint(c.View(), &prompt)
	prompt.Chain = append(prompt.Chain[:0:0], prompt.Chain...) // it outlives the route
	if sh.sp.MaxContext() > 0 && prompt.LongestPrompt()+max(sh.req.MaxTokens, 1) > sh.sp.MaxContext() {
		return nil, ensemble.Footprint{}, 0, fmt.Errorf("%w: %d prompt tokens", errShadowPlace, prompt.Tokens)
	}
	for _, at := range plan.Steps[len(plan.Steps)-1].Ranked {
		rep := sh.rt.Replicas[at.Host]
		if rep != nil && rep.Fleet.State() == "closed" && !rep.Fleet.Draining() {
			return rep, prompt, min(sh.sp.Held(c.View(), at.Host)*sh.sp.BlockSize, prompt.Tokens), nil
		}
	}
	return nil, ensemble.Footprint{}, 0, errShadowPlace
}

func (sh *secondOpinion) facts() routing.Facts {
	kind := "chat"
	if sh.kind == wire.Completion {
		kind = "completion"
	}
	return routing.Facts{
		Now: sh.of.s.now(), RequestID: sh.id, Specialist: sh.sp.Name, Tenant: sh.tenant, Salt: sh.salted.Salt,
		Kind: kind,
		Body: sh.body, Text: sh.render, Pieces: sh.pieces, Prompts: intake.PromptsOf(&sh.req), Priority: priorityShadow,
		MaxTokens: max(sh.req.MaxTokens, 0), Stream: sh.stream, Dry: true,
	}
}

func (sh *secondOpinion) admission(prompt ensemble.Footprint) *gate.Request {
	r := &gate.Request{
		Now: sh.of.s.now(),
		ID:  sh.id, Priority: priorityShadow, Tenant: sh.tenant, Victim: true, AtOnce: true, Whole: !sh.stream,
		Draft: sh.sp.Draft,
	}
	intake.AskPrompts(&prompt, r, &sh.req)
	return r
}

func (sh *secondOpinion) edits(rep *ensemble.Replica) []wire.Edit {
	edits := make([]wire.Edit, 0, 4)
	if sh.req.Model != rep.Model {
		edits = append(edits, wire.Edit{Key: "model", Raw: wire.AppendQuoted(nil, rep.Model)})
	}
	if rep.ForwardPriority {
		edits = append(edits, wire.Edit{Key: "priority",
			Raw: strconv.AppendInt(nil, int64(rep.Kind.Priority(priorityShadow)), 10)})
	}
	edits = intake.OneCount(&sh.req, sh.salted.Edits(rep, edits))
	if !sh.stream {
		return edits
	}
	var none *stream.Continuation
	return none.Count(edits, &sh.req, sh.kind, &rep.Kind)
}

// call sends the body and reads the answer, in memory that is bounded.
func (sh *secondOpinion) call(ctx context.Context, rep *ensemble.Replica, p *place.Place) (calibration.Answer, error) {
	segments, err := sh.req.Splice(sh.edits(rep), nil)
	if err != nil {
		return calibration.Answer{}, err
	}
	timeout := sh.rt.Shadow.Timeout
	resp, err := rep.Client.Do(ctx, &engine.Request{
		Method: "POST", Path: sh.kind.Path(), Segments: segments, RequestID: sh.id, Stream: sh.stream,
		Bearer:        rep.APIKey,
		HeaderTimeout: timeout, IdleTimeout: timeout,
	})
	if err != nil {
		return calibration.Answer{}, err
	}
	defer resp.Close()
	if resp.Status() != 200 {
		return calibration.Answer{}, fmt.Errorf("%w: status %d", engine.ErrProtocol, resp.Status())
	}
	return sh.read(stream.Source{Engine: &rep.Kind, Request: &sh.req, Response: resp, Place: p, Shape: &rep.Answers,
		Rewriter: ensemble.Plain{}, Context: sh.sp.MaxContext()})
}

// unaryFactor is how much longer than its text an answer in one piece may be: it has a frame.
const unaryFactor = 2

// read reads an answer as the client would get it, and keeps its text alone.
func (sh *secondOpinion) read(src stream.Source) (calibration.Answer, error) {
	most, limits := sh.rt.Shadow.AnswerBytes, &sh.rt.Limits
	r := new(stream.Relay)
	r.Terms = stream.Terms{
		Kind: sh.kind, MaxTokens: sh.req.MaxTokens, Most: stream.MostOutput(&sh.req), Prompts: max(sh.req.Prompts(), 1),
		Answers: intake.Sequences(&sh.req), Expendable: true, EventBytes: limits.EventBytes,
		ResponseBytes: unaryFactor * most, Write: limits.WriteTimeout, Idle: sh.rt.Shadow.Timeout,
	}
	r.Transcript.Keep(most)
	r.Init(&unsent{&r.Transcript}, sh, unobserved{})
	defer r.Release()
	var err error
	if sh.stream {
		if err = r.Open(src); err == nil {
			_, err = r.Rest()
		}
	} else {
		err = r.Whole(src)
	}
	if err != nil {
		return calibration.Answer{}, err
	}
	text, ok := r.Transcript.Within(most)
	if !ok {
		return calibration.Answer{}, errLong
	}
	return calibration.Answer{Text: text, Finish: r.Finish()}, nil
}

// Since implements stream.Origin.
func (sh *secondOpinion) Since() time.Duration { return sh.of.s.Now().Sub(sh.asked) }

// At implements stream.Origin.
func (sh *secondOpinion) At(since time.Duration) time.Time { return sh.asked.Add(since) }

// Left implements stream.Origin: no client waits.
func (*secondOpinion) Left() bool { return false }

// unsent is the client of an answer that goes to no client: it takes all until its text is too long to be compared.
type unsent struct{ text *stream.Transcript }

// Write implements stream.Client.
func (u *unsent) Write(p []byte) (int, error) {
	if u.text.Over() {
		return 0, errLong
	}
	return len(p), nil
}

// Send implements stream.Client.
func (u *unsent) Send(p []byte) error {
	_, err := u.Write(p)
	return err
}

// SetWriteDeadline implements stream.Client.
func (*unsent) SetWriteDeadline(time.Time) error { return nil }

// unobserved observes an answer of which only the text is wanted.
type unobserved struct{}

func (unobserved) Head(time.Time, int)  {}
func (unobserved) Answered()            {}
func (unobserved) FirstToken(time.Time) {}
func (unobserved) Usage(sse.Usage)      {}
