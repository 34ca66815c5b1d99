package gateway

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"octet/calibration"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/shadow"
	"octet/gateway/wire"
	"octet/internal/contain"
)

// Why a shadow ended without a comparison, beside what its engine did.
var (
	errForgone = errors.New("the request has no answer to compare with")
	errLong    = errors.New("an answer is longer than is compared")
	errEnded   = errors.New("the gateway is shutting down")
	errCrowd   = errors.New("too many shadows wait for the ends of their primaries")
	errSlow    = errors.New("the shadow took too long")
)

// shadows are the second opinions of one gateway: those that are asked now, and those that wait for an answer to be
// compared with.
type shadows struct {
	s        *Server
	comparer *shadow.Comparer
	ctx      context.Context
	end      context.CancelCauseFunc
	flying   atomic.Int64
	parked   atomic.Int64

	mu      sync.Mutex // guards all below
	closed  bool
	running sync.WaitGroup
}

func (a *shadows) open(s *Server, c *shadow.Comparer) {
	a.s, a.comparer = s, c
	a.ctx, a.end = context.WithCancelCause(context.Background())
}

// begin takes a place for sh, and a copy of the body. It returns false if no place is left.
func (a *shadows) begin(sh *secondOpinion, body []byte) bool {
	if a.flying.Add(1) > int64(sh.rt.Shadow.MaxConcurrent) || a.s.seats.Draining() {
		a.flying.Add(-1)
		a.s.metrics.Shadow(sh.sp.Name, "budget")
		return false
	}
	sh.body = bytes.Clone(body)
	return true
}

// fly starts sh, which has its place.
func (a *shadows) fly(sh *secondOpinion) {
	ctx, cancel := context.WithCancelCause(a.ctx)
	sh.cancel = cancel
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		cancel(errEnded)
		a.flying.Add(-1)
		sh.standing.Store(standDropped)
		return
	}
	a.running.Go(func() {
		defer cancel(nil)
		a.run(ctx, sh)
	})
}

// run is one shadow's life: its own answer, then the primary's, then what the two come to.
func (a *shadows) run(ctx context.Context, sh *secondOpinion) {
	defer contain.End(contain.Shadow, nil)
	answer, err := a.ask(ctx, sh)
	if err == nil && sh.probe {
		a.s.audit.OnCopy(shadow.Copy{Specialist: sh.sp, Tenant: sh.tenant, Receipt: sh.example.Receipt,
			Asked: sh.asked},
			string(answer.Text))
	}
	if err == nil {
		err = a.compare(ctx, sh, answer)
	}
	a.s.metrics.Shadow(sh.sp.Name, shadowOutcome(err))
}

// ask gets the shadow's answer within its time. The place is given back with it.
func (a *shadows) ask(ctx context.Context, sh *secondOpinion) (calibration.Answer, error) {
	defer a.flying.Add(-1)
	defer sh.standing.CompareAndSwap(standUndecided, standDropped)
	ctx, cancel := context.WithTimeoutCause(ctx, sh.rt.Shadow.Timeout, errSlow)
	defer cancel()
	answer, err := sh.answer(ctx)
	return answer, place.Cause(ctx, err)
}

// compare waits for the primary's answer and has the two compared. Few wait: a primary may take very long.
func (a *shadows) compare(ctx context.Context, sh *secondOpinion, answer calibration.Answer) error {
	defer a.parked.Add(-1)
	if a.parked.Add(1) > int64(sh.rt.Shadow.MaxWaiting) {
		return errCrowd
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case primary := <-sh.primary:
		pair := &shadow.Pair{Example: sh.example, Rules: sh.review, Shadow: &sh.rt.Shadow, Prompt: sh.render(nil)}
		a.comparer.Compare(ctx, pair, primary, answer)
		return nil
	}
}

// close ends all shadows and waits for them. None begins after it.
func (a *shadows) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.end(errEnded)
	a.running.Wait()
	a.comparer.Records.Flush()
}

// render appends the prompt as a template of our own has it.
func (sh *secondOpinion) render(dst []byte) []byte { return intake.RenderPrompt(sh.kind, &sh.req, dst) }

func (sh *secondOpinion) pieces() [][]byte { return sh.req.Wording(nil, intake.Frames) }

// parse reads the copy of the body, which the exchange has found good.
func (sh *secondOpinion) parse() error {
	return wire.Parse(sh.kind, sh.body, intake.BodyLimits(&sh.rt.Limits), &sh.req)
}
