package shadow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/calibration"
	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/plan"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/gateway/upstream"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// errNoPlace is a specialist of which no replica has a place for a shadow now.
var errNoPlace = errors.New("no place for a shadow")

// answer asks the specialist and reads its answer to the end.
func (sh *Shadow) answer(ctx context.Context) (calibration.Answer, error) {
	if err := sh.request.Parse(sh.request.Kind); err != nil {
		return calibration.Answer{}, err
	}
	var p plan.Plan
	rep, err := sh.choose(ctx, &p)
	if err != nil {
		return calibration.Answer{}, err
	}
	sh.chosen = rep
	predicted := p.Predicted(rep.Host)
	p.Release(true)
	lora, ok := sh.sp.HoldLoaded(rep, p.Adapter) // nothing is loaded for a shadow
	if !ok {
		return calibration.Answer{}, errNoPlace
	}
	defer lora.Release()
	at := place.New(rep.Fleet, rep.Gate, sh.sp.BlockSize)
	defer at.Release()
	within := at.Watch(ctx)
	q := gate.Request{Now: sh.of.Now(), Victim: true, AtOnce: true}
	p.Admission(sh.request, &q)
	demand := fleet.Demand{Prompt: p.Prompt.Tokens, Uncached: p.Prompt.Tokens - predicted, Whole: !sh.request.Stream}
	_, err = at.Admit(ctx, &q, demand, &sh.timer)
	sh.queued(err)
	if err != nil {
		return calibration.Answer{}, err
	}
	defer at.Unwatch()
	sh.standing.Store(standSent)
	rep.Shadows.Add(1)
	defer rep.Shadows.Add(-1)
	answer, err := sh.call(within, rep, &at, p.Adapter)
	return answer, at.Cause(err)
}

// choose takes the best replica whose breaker is closed: a shadow is no probe. It serves the weights that are judged:
// a copy's answer counts for its specialist.
func (sh *Shadow) choose(ctx context.Context, p *plan.Plan) (*ensemble.Replica, error) {
	p.At(sh.sp, sh.sp.Edition(sh.adapter))
	found, err := p.Make(ctx, sh.rt, sh.request, &plan.Ask{Now: sh.of.Now()})
	sh.routed(err)
	if err == nil {
		err = p.Check(sh.request)
	}
	if err != nil {
		p.Release(false)
		if sh.probe && sh.sp.Hold != nil && !sh.sp.Snapshot().Serves() {
			sh.sp.Hold.Want() // for the next copy that it is owed
		}
		return nil, fmt.Errorf("%w: %w", errNoPlace, err)
	}
	for _, at := range found.Steps[len(found.Steps)-1].Ranked {
		rep := sh.rt.Replicas[at.Host]
		if rep != nil && rep.Fleet.State() == "closed" && !rep.Fleet.Draining() && !rep.Fleet.Withdrawn() &&
			sh.sp.Board.Breaker().Judges(rep.Revision()) {
			return rep, nil
		}
	}
	p.Release(false)
	return nil, errNoPlace
}

// call sends the body and reads the answer, in memory that is bounded. served is the adapter's name in the engine.
func (sh *Shadow) call(ctx context.Context, rep *ensemble.Replica, p *place.Place, served string) (calibration.Answer,
	error) {
	r, hop := sh.request, &ensemble.Hop{Replica: rep, Answerer: rep, Last: true, NoUsage: true}
	upstream.Prepare(hop, r, served, nil)
	segments, err := upstream.Segments(hop, r, nil)
	if err != nil {
		return calibration.Answer{}, err
	}
	upstream.Trace(hop, sh.trace.Ask(), "")
	q := &engine.Request{HeaderTimeout: sh.rt.Shadow.Timeout, IdleTimeout: sh.rt.Shadow.Timeout}
	upstream.Fill(q, hop, r, segments)
	resp, err := rep.Client.Do(ctx, q)
	if err != nil {
		return calibration.Answer{}, err
	}
	defer resp.Close()
	if resp.Status() != 200 {
		return calibration.Answer{}, fmt.Errorf("%w: status %d", engine.ErrProtocol, resp.Status())
	}
	return sh.read(stream.Source{Engine: &rep.Kind, Request: &r.Parsed, Response: resp, Place: p, Shape: &rep.Answers,
		Rewriter: ensemble.Plain{}, Context: sh.sp.MaxContext()})
}

// unaryFactor is how much longer than its text an answer in one piece may be: it has a frame.
const unaryFactor = 2

// read reads an answer as the client would get it, and keeps its text and its tool calls alone.
func (sh *Shadow) read(src stream.Source) (calibration.Answer, error) {
	most, req := sh.rt.Shadow.AnswerBytes, sh.request
	r := new(stream.Relay)
	r.Terms = upstream.Terms(req, &sh.rt.Limits)
	r.Expendable, r.ResponseBytes, r.Idle = true, unaryFactor*most, sh.rt.Shadow.Timeout
	r.Transcript.Keep(most)
	r.Init(&unsent{&r.Transcript}, &unseen{sh.timer}, unobserved{})
	defer r.Release()
	var err error
	if req.Stream {
		if err = r.Open(src); err == nil {
			_, err = r.Rest()
		}
	} else {
		err = r.Whole(src)
	}
	if err != nil {
		return calibration.Answer{}, err
	}
	answer, ok := answerOf(r, most)
	if !ok {
		return calibration.Answer{}, errLong
	}
	return answer, nil
}

// unseen is the origin of a request whose answer no client waits for.
type unseen struct{ intake.Timer }

// Left implements stream.Origin.
func (*unseen) Left() bool { return false }

// unsent is the client of an answer that goes to no client: it takes all until that is too long to be compared.
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

// unobserved observes an answer of which only the transcript is wanted.
type unobserved struct{}

func (unobserved) Head(time.Time, int)  {}
func (unobserved) Answered()            {}
func (unobserved) FirstToken(time.Time) {}
func (unobserved) Usage(sse.Usage)      {}
