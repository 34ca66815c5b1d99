package shadow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/calibration"
	"octet/engine"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/plan"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/gateway/upstream"
)

// errNoPlace is a specialist of which no replica has a place for a shadow now.
var errNoPlace = errors.New("no place for a shadow")

// answer asks the specialist and reads its answer to the end.
func (sh *Shadow) answer(ctx context.Context) (calibration.Answer, error) {
	if err := sh.request.Parse(sh.request.Kind); err != nil {
		return calibration.Answer{}, err
	}
	var p plan.Plan
	last, err := sh.choose(ctx, &p)
	if err != nil {
		return calibration.Answer{}, err
	}
	sh.chosen = last.rep
	p.Release(true)
	defer last.leave()
	within, err := sh.enter(ctx, last, &p)
	sh.queued(err)
	if err != nil {
		return calibration.Answer{}, err
	}
	if last.partner != nil {
		defer last.partner.leave()
		if within, err = sh.meet(within, last, &p); err != nil {
			return calibration.Answer{}, err
		}
	}
	sh.standing.Store(standSent)
	last.rep.Shadows.Add(1)
	defer last.rep.Shadows.Add(-1)
	answer, err := sh.call(within, last, p.Adapter)
	return answer, place.Cause(within, err)
}

// choose takes the best replica whose breaker is closed: a shadow is no probe. It serves the weights that are judged:
// a copy's answer counts for its specialist. One whose engine has to meet another gets a partner.
func (sh *Shadow) choose(ctx context.Context, p *plan.Plan) (*turn, error) {
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
	n := len(found.Steps) - 1
	last := sh.turnAt(p, &found.Steps[n])
	if last == nil || last.rep.OnlyAfterMeeting() && !sh.pair(p, found.Steps[:n], last) {
		p.Release(false)
		return nil, errNoPlace
	}
	last.hop.Last, last.hop.Answerer = true, last.rep
	return last, nil
}

// call sends the body and reads the answer, in memory that is bounded. served is the adapter's name in the engine.
func (sh *Shadow) call(ctx context.Context, t *turn, served string) (calibration.Answer, error) {
	defer t.place.Unwatch()
	upstream.Trace(&t.hop, sh.trace.Ask(), "")
	q, err := sh.asked(t, served)
	if err != nil {
		return calibration.Answer{}, err
	}
	resp, err := t.rep.Client.Do(ctx, q)
	if err != nil {
		return calibration.Answer{}, err
	}
	defer resp.Close()
	if resp.Status() != 200 {
		return calibration.Answer{}, refused(resp)
	}
	return sh.read(stream.Source{Engine: &t.rep.Kind, Request: &sh.request.Parsed, Response: resp, Place: &t.place,
		Shape: &t.rep.Answers, Rewriter: t.protocol, Context: sh.sp.MaxContext()})
}

// refused is the error of an engine's answer other than 200.
func refused(resp engine.Response) error {
	return fmt.Errorf("%w: status %d", engine.ErrProtocol, resp.Status())
}

// asked is what the engine of a turn is asked.
func (sh *Shadow) asked(t *turn, served string) (*engine.Request, error) {
	r := sh.request
	upstream.Prepare(&t.hop, r, served, nil)
	if err := t.protocol.Request(&t.hop); err != nil {
		return nil, err
	}
	segments, err := upstream.Segments(&t.hop, r, nil)
	if err != nil {
		return nil, err
	}
	q := &engine.Request{HeaderTimeout: sh.rt.Shadow.Timeout, IdleTimeout: sh.rt.Shadow.Timeout}
	upstream.Fill(q, &t.hop, r, segments)
	return q, nil
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
