package shadow

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"octet/calibration"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/gateway/place"
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

// Config is what Shadows work with.
type Config struct {
	Comparer *Comparer
	Audit    *Audit
	Metrics  *metrics.Series
	Now      func() time.Time
	Draining func() bool // no shadow begins while it returns true
}

// Shadows are those of one gateway: the ones that are asked now, and the ones that wait for an answer to be compared
// with. Safe for concurrent use.
type Shadows struct {
	Config

	ctx    context.Context
	end    context.CancelCauseFunc
	asked  atomic.Int64
	parked atomic.Int64

	mu      sync.Mutex // guards all below
	closed  bool
	running sync.WaitGroup
}

// New returns Shadows, of which there are none yet. Close ends them.
func New(c Config) *Shadows {
	a := &Shadows{Config: c}
	a.ctx, a.end = context.WithCancelCause(context.Background())
	return a
}

// Run sends tallies of all requests' confidences on until Close, at the interval in force.
func (a *Shadows) Run(interval func() time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.running.Go(func() { a.Comparer.Records.Run(a.ctx, interval) })
	}
}

// enter takes a place for a shadow of sp. It returns false if no place is left.
func (a *Shadows) enter(rt *ensemble.Runtime, sp *ensemble.Specialist) bool {
	if a.asked.Add(1) <= int64(rt.Shadow.MaxConcurrent) && !a.Draining() {
		return true
	}
	a.asked.Add(-1)
	a.Metrics.Shadow(sp.Name, "budget")
	return false
}

// start starts sh, which has its place.
func (a *Shadows) start(sh *Shadow) {
	ctx, cancel := context.WithCancelCause(a.ctx)
	sh.cancel = cancel
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		cancel(errEnded)
		a.asked.Add(-1)
		sh.standing.Store(standDropped)
		return
	}
	a.running.Go(func() {
		defer cancel(nil)
		a.run(ctx, sh)
	})
}

// run is one shadow's life: its own answer, then the primary's, then what the two come to.
func (a *Shadows) run(ctx context.Context, sh *Shadow) {
	defer contain.End(contain.Shadow, nil)
	answer, err := a.ask(ctx, sh)
	if err == nil && sh.probe && len(answer.Calls) == 0 {
		a.Audit.OnCopy(Copy{Specialist: sh.sp, Tenant: sh.request.Tenant.Name, Receipt: sh.example.Receipt,
			Asked: sh.request.Arrival}, string(answer.Text))
	}
	if err == nil {
		err = a.compare(ctx, sh, answer)
	}
	a.Metrics.Shadow(sh.sp.Name, outcome(err))
}

// ask gets the shadow's answer within its time. The place is given back with it.
func (a *Shadows) ask(ctx context.Context, sh *Shadow) (calibration.Answer, error) {
	defer a.asked.Add(-1)
	defer sh.standing.CompareAndSwap(standUndecided, standDropped)
	ctx, cancel := context.WithTimeoutCause(ctx, sh.rt.Shadow.Timeout, errSlow)
	defer cancel()
	answer, err := sh.answer(ctx)
	err = place.Cause(ctx, err)
	sh.traced(err)
	return answer, err
}

// compare waits for the primary's answer and has the two compared. Few wait: a primary may take very long.
func (a *Shadows) compare(ctx context.Context, sh *Shadow, answer calibration.Answer) error {
	defer a.parked.Add(-1)
	if a.parked.Add(1) > int64(sh.rt.Shadow.MaxWaiting) {
		return errCrowd
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case primary := <-sh.primary:
		pair := &Pair{Example: sh.example, Rules: rulesFor(sh.review, &sh.request.Parsed), Shadow: &sh.rt.Shadow,
			Prompt: sh.request.Render(nil)}
		a.Comparer.Compare(ctx, pair, primary, answer)
		return nil
	}
}

// Close ends all shadows and waits for them. None begins after it.
func (a *Shadows) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.end(errEnded)
	a.running.Wait()
	a.Comparer.Records.Flush()
}
