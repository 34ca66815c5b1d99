package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"octet/config"
	"octet/gateway/tenant/bearer"
)

// issuer is what verifies tokens by auth.jwt. It outlives generations that do not change that.
type issuer struct {
	terms    *config.JWT // of verifier; guarded by App.buildMu
	verifier atomic.Pointer[bearer.Verifier]
	changed  chan struct{} // verifier is another one; holds one, which is enough
}

// verifierOf returns what verifies the tokens of cfg: what is in force, unless that is changed. Nil if nothing does.
func (t *tenancy) verifierOf(cfg *config.Config) (*bearer.Verifier, error) {
	c := cfg.Auth.JWT
	if c == nil {
		return nil, nil //nolint:nilnil // no tokens is what the configuration asks for
	}
	if was := t.issuer.terms; was != nil && *was == *c {
		return t.issuer.verifier.Load(), nil
	}
	v, err := bearer.New(bearer.Config{
		JWKS: c.JWKS, CA: c.CA, Issuer: c.Issuer, Audience: c.Audience, TenantClaim: c.TenantClaim, Leeway: c.Leeway,
		Refresh: c.Refresh, UnknownAfter: c.UnknownAfter, Timeout: c.Timeout, KeepFor: c.KeepFor,
		TokenBytes: int(c.TokenBytes), JWKSBytes: int(c.JWKSBytes), Tokens: c.Tokens,
	}, t.log)
	if err != nil {
		return nil, fmt.Errorf("auth.jwt: %w", err)
	}
	v.Inherit(t.issuer.verifier.Load())
	return v, nil
}

// verify puts what verifies the tokens of cfg in force.
func (t *tenancy) verify(cfg *config.Config, v *bearer.Verifier) {
	t.issuer.terms = cfg.Auth.JWT
	if t.issuer.verifier.Swap(v) == v {
		return
	}
	select {
	case t.issuer.changed <- struct{}{}:
	default:
	}
}

// keepKeys keeps the issuer's keys up to date, whichever is in force, until ctx ends.
func (t *tenancy) keepKeys(ctx context.Context) {
	for ctx.Err() == nil {
		inner, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		if v := t.issuer.verifier.Load(); v != nil {
			running.Go(func() { v.Run(inner) })
		}
		select {
		case <-t.issuer.changed:
		case <-ctx.Done():
		}
		cancel()
		running.Wait()
	}
}
