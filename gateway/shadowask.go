package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"octet/calibration"
	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// priorityShadow is below everything that a client may ask for, so that every request can take a shadow's place.
const priorityShadow = PriorityLeast - 1

// errShadowPlace is a specialist of which no replica has a place for a shadow now.
var errShadowPlace = errors.New("no place for a shadow")

// answer asks the specialist and reads its answer to the end.
func (sh *shadow) answer(ctx context.Context) (calibration.Answer, error) {
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
func (sh *shadow) choose(ctx context.Context) (*ensemble.Replica, ensemble.Footprint, int, error) {
	c := routing.Acquire(sh.facts())
	defer c.Release()
	hosts, none := takers(sh.rt, sh.sp.Snapshot().Hosts, &sh.req)
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

func (sh *shadow) facts() routing.Facts {
	kind := "chat"
	if sh.kind == wire.Completion {
		kind = "completion"
	}
	return routing.Facts{
		Now: sh.of.s.now(), RequestID: sh.id, Specialist: sh.sp.Name, Tenant: sh.tenant, Salt: sh.salted.salt,
		Kind: kind,
		Body: sh.body, Text: sh.render, Pieces: sh.pieces, Prompts: promptsOf(&sh.req), Priority: priorityShadow,
		MaxTokens: max(sh.req.MaxTokens, 0), Stream: sh.stream, Dry: true,
	}
}

func (sh *shadow) admission(prompt ensemble.Footprint) *gate.Request {
	r := &gate.Request{
		Now: sh.of.s.now(),
		ID:  sh.id, Priority: priorityShadow, Tenant: sh.tenant, Victim: true, AtOnce: true, Whole: !sh.stream,
		Draft: sh.sp.Draft,
	}
	askPrompts(&prompt, r, &sh.req)
	return r
}

func (sh *shadow) edits(rep *ensemble.Replica) []wire.Edit {
	edits := make([]wire.Edit, 0, 3)
	if sh.req.Model != rep.Model {
		edits = append(edits, wire.Edit{Key: "model", Raw: wire.AppendQuoted(nil, rep.Model)})
	}
	if rep.ForwardPriority {
		edits = append(edits, wire.Edit{Key: "priority",
			Raw: strconv.AppendInt(nil, int64(rep.Kind.Priority(priorityShadow)), 10)})
	}
	return oneCount(&sh.req, sh.salted.edits(rep, edits))
}

// call sends the body and reads the answer, in memory that is bounded.
func (sh *shadow) call(ctx context.Context, rep *ensemble.Replica, p *place.Place) (calibration.Answer, error) {
	segments, err := sh.req.Splice(sh.edits(rep), nil)
	if err != nil {
		return calibration.Answer{}, err
	}
	timeout := sh.rt.Shadow.Timeout
	resp, err := rep.Client.Do(ctx, &engine.Request{
		Method: "POST", Path: pathOf(sh.kind), Segments: segments, RequestID: sh.id, Stream: sh.stream,
		Bearer:        rep.APIKey,
		HeaderTimeout: timeout, IdleTimeout: timeout,
	})
	if err != nil {
		return calibration.Answer{}, err
	}
	defer resp.Close()
	switch {
	case resp.Status() != 200:
		return calibration.Answer{}, fmt.Errorf("%w: status %d", engine.ErrProtocol, resp.Status())
	case sh.stream:
		return sh.readStream(resp, p)
	}
	return sh.readWhole(resp, p)
}

func (sh *shadow) readWhole(resp engine.Response, p *place.Place) (calibration.Answer, error) {
	var body []byte
	err := engine.Read(resp, func(piece []byte) error {
		if int64(len(body)+len(piece)) > unaryFactor*sh.rt.Shadow.AnswerBytes {
			return errLong
		}
		body = append(body, piece...)
		return nil
	})
	if err != nil {
		return calibration.Answer{}, err
	}
	said, err := sse.ScanUnary(body)
	if err != nil {
		return calibration.Answer{}, err
	}
	most := extentOf(sh.sp, sh.req.MaxTokens, sequences(&sh.req), max(sh.req.Prompts(), 1))
	if !p.Complete(most.believe(said.Usage).CompletionTokens, -1, sh.of.s.Now()) {
		return calibration.Answer{}, place.ErrPreempted
	}
	if int64(len(said.Text)) > sh.rt.Shadow.AnswerBytes {
		return calibration.Answer{}, errLong
	}
	return calibration.Answer{Text: wire.AppendUnquoted(nil, said.Text), Finish: said.Finish}, nil
}

// unaryFactor is how much longer than its text an answer that comes whole may be: it has a frame.
const unaryFactor = 2

func (sh *shadow) readStream(resp engine.Response, p *place.Place) (calibration.Answer, error) {
	var scanner sse.Scanner
	var raw []byte
	long := false
	scanner.Reset(sse.Options{Text: func(piece []byte) {
		if long = long || int64(len(raw)+len(piece)) > sh.rt.Shadow.AnswerBytes; !long {
			raw = append(raw, piece...)
		}
	}})
	for !scanner.Done() {
		piece, read := engine.Next(resp)
		_, bad := scanner.Feed(piece)
		if long {
			return calibration.Answer{}, errLong
		}
		if n := scanner.Tokens(); n > 0 {
			p.Grow(n, 0, sh.of.s.now())
		}
		if err := ending(scanner.Done(), bad, read); err != nil {
			return calibration.Answer{}, err
		}
	}
	drain(resp)
	return calibration.Answer{Text: wire.AppendUnquoted(nil, raw), Finish: scanner.FinishReason()}, nil
}
