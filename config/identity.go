package config

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// TenantKey is one of several keys of a tenant: a new one is added before an old one ends.
type TenantKey struct {
	// SHA-256 of the API key, 64 hex digits.
	SHA256 string `yaml:"sha256" required:"true" form:"sha256"`
	// From when on it is refused with 401 invalid_api_key: a time such as 2027-01-31T12:00:00Z, or the beginning of a
	// day of UTC such as 2027-01-31. Empty = never.
	Expires string `yaml:"expires" form:"instant"`
}

// Expiry returns when the key ends; zero means never.
func (k *TenantKey) Expiry() time.Time {
	at, _ := instant(k.Expires) // the form has been checked; "" is the zero time
	return at
}

// AllKeys returns every key of the tenant, key_sha256 first.
func (t *Tenant) AllKeys() (all []TenantKey) {
	if t.KeySHA256 != "" {
		all = append(all, TenantKey{SHA256: t.KeySHA256})
	}
	return append(all, t.Keys...)
}

// JWT has tenants known by tokens that an issuer has signed: RS256, ES256 or EdDSA. A token names its tenant, which is
// declared under tenants.
type JWT struct {
	// The issuer's public keys as a JWKS: an https URL (http on loopback alone), or the path of a file, which is read
	// again when it changes.
	JWKS string `yaml:"jwks" required:"true" form:"jwks"`
	// PEM file of the roots that the URL's certificate is checked with; empty = the system's.
	CA string `yaml:"ca"`
	// What a token's iss must be.
	Issuer string `yaml:"issuer" required:"true" form:"text"`
	// What must be among a token's aud.
	Audience string `yaml:"audience" required:"true" form:"text"`
	// The claim that has the tenant's name.
	TenantClaim string `yaml:"tenant_claim" default:"sub" form:"text"`
	// By how much the clocks of issuer and gateway may differ: exp and nbf are not taken more exactly.
	Leeway time.Duration `yaml:"leeway" default:"30s" range:"0s..5m"`
	// A longer token is refused before anything of it is parsed.
	TokenBytes Size `yaml:"token_bytes" default:"8KiB" range:"512..1MiB"`
	// A longer JWKS is not read.
	JWKSBytes Size `yaml:"jwks_bytes" default:"1MiB" range:"1KiB..16MiB"`
	// How often the JWKS of a URL is asked for; a file is looked at every second.
	Refresh time.Duration `yaml:"refresh" default:"5m" range:"1s..24h"`
	// A key that is not known has the JWKS asked for at once, but not sooner than this after the last time.
	UnknownAfter time.Duration `yaml:"unknown_after" default:"10s" range:"100ms..1h"`
	// Time that the JWKS may take, and that a request with a key that is not known waits for it.
	Timeout time.Duration `yaml:"timeout" default:"2s" range:"10ms..30s"`
	// The keys that came last are used for so long after the JWKS could be read last; then tokens are refused.
	KeepFor time.Duration `yaml:"keep_for" default:"24h" range:"1m..8760h"`
	// Verified tokens that are remembered until they end.
	Tokens int `yaml:"tokens" default:"65536" range:"1..10000000"`
}

// Budget is what a tenant may use of a day and of a month of UTC, prompt and answer; 0 = no bound. A request counts in
// the day and the month in which it came.
type Budget struct {
	// Tokens a day.
	TokensPerDay int64 `yaml:"tokens_per_day" default:"0" range:"0..1000000000000000"`
	// Tokens a month.
	TokensPerMonth int64 `yaml:"tokens_per_month" default:"0" range:"0..1000000000000000"`
}

// instant reads a time of RFC 3339, or a day, which stands for its beginning in UTC; "" is the zero time.
func instant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	return time.Parse(time.RFC3339, text)
}

// formInstant wants what instant reads.
func formInstant(text string) *problem {
	if _, err := instant(text); err != nil {
		return wrong(CodeBadValue, "%q is not a time such as 2027-01-31T12:00:00Z, or a day such as 2027-01-31",
			clip(text))
	}
	return nil
}

// formJWKS wants the URL or the path of a JWKS. Keys that come in plain text from elsewhere could be anyone's.
func formJWKS(text string) *problem {
	if !strings.Contains(text, "://") {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" ||
		u.Scheme != "https" && u.Scheme != "http" {
		return wrong(CodeBadURL, "%q is neither the https URL of a JWKS nor the path of a file", clip(text))
	}
	if u.Scheme == "http" && !localHost(u.Hostname()) {
		return wrong(CodeBadURL, "keys are asked for by https: by http, on the way from %q, they can be replaced",
			clip(u.Hostname()))
	}
	if p := linkLocalURL(text, nil); p != nil {
		return p
	}
	return urlPort(u)
}

// localHost reports whether a host is this machine, as it is written.
func localHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
