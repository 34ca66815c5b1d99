package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"octet/app/doctor"
	"octet/config"
	"octet/gateway/tenant/bearer"
	"octet/internal/certs"
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
	v, err := tokensBy(c, t.trust, t.log)
	if err != nil {
		return nil, err
	}
	v.Inherit(t.issuer.verifier.Load())
	return v, nil
}

// tokensBy returns what verifies tokens by c; trust has the roots of its URL.
func tokensBy(c *config.JWT, trust *certificates, log *slog.Logger) (*bearer.Verifier, error) {
	terms := bearer.Config{
		JWKS: c.JWKS, CA: c.CA, Issuer: c.Issuer, Audience: c.Audience, TenantClaim: c.TenantClaim, Leeway: c.Leeway,
		Refresh: c.Refresh, UnknownAfter: c.UnknownAfter, Timeout: c.Timeout, KeepFor: c.KeepFor,
		TokenBytes: int(c.TokenBytes), JWKSBytes: int(c.JWKSBytes), Tokens: c.Tokens,
	}
	if c.CA != "" {
		if _, err := certs.Read(issuerFiles(c)); err != nil {
			return nil, fmt.Errorf("auth.jwt.ca: %w", err)
		}
		terms.TLS = trust.client(&config.ReplicaTLS{CA: c.CA})
	}
	v, err := bearer.New(terms, log)
	if err != nil {
		return nil, fmt.Errorf("auth.jwt: %w", err)
	}
	return v, nil
}

// issuerFiles are the certificates that the issuer is spoken to with; zero without any.
func issuerFiles(c *config.JWT) certs.Files {
	if c == nil {
		return certs.Files{}
	}
	return certs.Files{CA: c.CA}
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
		select {
		case <-t.issuer.changed: // told before what is loaded now was
		default:
		}
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

// askIssuer asks the issuer of a configuration that is not served for its keys, once.
func askIssuer(ctx context.Context, c *config.JWT, trust *certificates) *doctor.Issuer {
	v, err := tokensBy(c, trust, slog.New(slog.DiscardHandler))
	if err != nil {
		return &doctor.Issuer{JWKS: c.JWKS, Err: err}
	}
	return issuerOf(c, v.Look(ctx))
}

// issuerOf is what doctor judges of what is known of an issuer.
func issuerOf(c *config.JWT, s bearer.State) *doctor.Issuer {
	return &doctor.Issuer{JWKS: c.JWKS, Keys: s.Keys, Age: s.Age, KeepFor: c.KeepFor, Err: s.Unavailable}
}
