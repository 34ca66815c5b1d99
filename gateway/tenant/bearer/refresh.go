package bearer

import (
	"context"
	"errors"
	"time"
)

// mostWaiting bounds the requests that wait for a key at once. Further ones are refused.
const mostWaiting = 256

// Run keeps the keys up to date until ctx ends.
func (v *Verifier) Run(ctx context.Context) {
	for {
		v.refresh(ctx)
		if !v.rest(ctx) {
			return
		}
	}
}

// Look asks the source once, beside Run or without it, and returns what is known then.
func (v *Verifier) Look(ctx context.Context) State {
	v.refresh(ctx)
	return v.State(time.Now())
}

// rest waits until the source is to be asked again; false: ctx has ended.
func (v *Verifier) rest(ctx context.Context) bool {
	v.mu.Lock()
	tried, wait := v.tried, v.source.every()
	if v.failed != nil {
		wait = min(wait, v.cfg.UnknownAfter)
	}
	v.mu.Unlock()
	next := time.NewTimer(wait)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-next.C:
			return true
		case <-v.wanted:
			if time.Since(tried) >= v.cfg.UnknownAfter {
				return true
			}
		}
	}
}

// await has the source asked because of a key that is not known, and waits for it: false if it may not be asked now,
// enough requests wait, or it takes too long.
func (v *Verifier) await(ctx context.Context) bool {
	v.mu.Lock()
	soon := !v.tried.IsZero() && time.Since(v.tried) < v.cfg.UnknownAfter
	if !v.fetching && soon || v.waiting >= mostWaiting {
		v.mu.Unlock()
		return false
	}
	if !v.fetching {
		select {
		case v.wanted <- struct{}{}:
		default:
		}
	}
	done := v.done
	v.waiting++
	v.mu.Unlock()
	late := time.NewTimer(v.cfg.Timeout)
	defer func() {
		late.Stop()
		v.mu.Lock()
		v.waiting--
		v.mu.Unlock()
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-late.C:
	}
	return false
}

// refresh asks the source, and puts what it says in force if that is good.
func (v *Verifier) refresh(ctx context.Context) {
	v.mu.Lock()
	v.fetching, v.tried = true, time.Now()
	v.mu.Unlock()
	set, err := v.ask(ctx)
	if ctx.Err() != nil { // it says nothing of the source
		v.asked()
		return
	}
	now := time.Now()
	if err == nil {
		v.good.Store(now.UnixNano())
	}
	if old := v.keys.Load(); err == nil && set != nil && (old == nil || old.sum != set.sum) {
		v.keys.Store(set)
		v.log.Info("keys of the issuer are in force", "jwks", v.cfg.JWKS, "keys", len(set.keys))
	}
	defer v.asked()
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil && v.failed == nil {
		v.log.Warn("the JWKS cannot be read: the last good keys stay", "jwks", v.cfg.JWKS, "keep_for", v.cfg.KeepFor,
			"error", err)
	}
	v.failed = err
	if err == nil {
		v.fetches[0]++
	} else {
		v.fetches[1]++
	}
}

// asked tells the requests that wait that the source has been asked.
func (v *Verifier) asked() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fetching = false
	close(v.done)
	v.done = make(chan struct{})
}

// ask reads the source once; a nil set says that it is as it was.
func (v *Verifier) ask(ctx context.Context) (*keyset, error) {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()
	text, err := v.source.read(ctx)
	if errors.Is(err, errSame) {
		v.mu.Lock()
		defer v.mu.Unlock()
		return nil, v.failed // a file that was bad stays bad until it changes
	}
	if err != nil {
		return nil, err
	}
	return readKeys(text)
}
