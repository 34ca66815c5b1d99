package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	shaA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	shaB = "0f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	shaC = "1f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

func TestWhatNamesNoTenantOrTwoIsAFault(t *testing.T) {
	jwt := "jwt: {jwks: \"https://id.example.com/jwks\", issuer: x, audience: y}"
	for _, c := range []struct{ name, auth, want string }{
		{"a tenant without a key", "tenants: [{name: a}]", "auth.tenants[0].key_sha256: missing"},
		{"an empty list of keys", "tenants: [{name: a, keys: []}]", "auth.tenants[0].key_sha256: missing"},
		{"a key of two tenants", "tenants: [{name: a, key_sha256: " + shaA + "}, {name: b, keys: [{sha256: " +
			strings.ToUpper(shaA) + "}]}]", "auth.tenants[1].keys[0].sha256: duplicate_name"},
		{"a key twice", "tenants: [{name: a, keys: [{sha256: " + shaA + "}, {sha256: " + shaA + "}]}]",
			"auth.tenants[0].keys[1].sha256: duplicate_name"},
		{"an empty key", "tenants: [{name: a, keys: [{sha256: " + noKey + "}]}]",
			"auth.tenants[0].keys[0].sha256: bad_value"},
		{"no time", "tenants: [{name: a, keys: [{sha256: " + shaA + ", expires: tomorrow}]}]",
			"auth.tenants[0].keys[0].expires: bad_value"},
		{"a day that is none", "tenants: [{name: a, keys: [{sha256: " + shaA + ", expires: \"2027-02-30\"}]}]",
			"auth.tenants[0].keys[0].expires: bad_value"},
		{"tokens and no tenants", jwt, "auth.jwt: conflict"},
		{"keys in plain text", strings.Replace(jwt, "https", "http", 1) + ", tenants: [{name: a}]",
			"auth.jwt.jwks: bad_url"},
		{"keys of a cloud's metadata", strings.Replace(jwt, "id.example.com", "169.254.169.254", 1) +
			", tenants: [{name: a}]", "auth.jwt.jwks: bad_url"},
		{"no audience", strings.Replace(jwt, ", audience: y", "", 1) + ", tenants: [{name: a}]",
			"auth.jwt.audience: missing"},
		{"an empty issuer", strings.Replace(jwt, "issuer: x", `issuer: ""`, 1) + ", tenants: [{name: a}]",
			"auth.jwt.issuer: missing"},
	} {
		_, err := Parse("octet.yaml", []byte(small+"auth: {"+c.auth+"}\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %s, found %v", c.name, c.want, err)
		}
	}
	parsed(t, small+"auth: {"+jwt+", tenants: [{name: a}]}\n")
	parsed(t, small+"auth: {jwt: {jwks: /etc/octet/jwks.json, issuer: x, audience: y}, tenants: [{name: a}]}\n")
}

func TestExpiresIsATimeOrADay(t *testing.T) {
	cfg := parsed(t, small+"auth: {tenants: [{name: a, key_sha256: "+shaA+", keys: ["+
		"{sha256: "+shaB+", expires: 2027-01-31}, {sha256: "+shaC+", expires: \"2027-01-31T12:00:00+02:00\"}]}]}\n")
	all := cfg.Auth.Tenants[0].AllKeys()
	if len(all) != 3 || !all[0].Expiry().IsZero() ||
		!all[1].Expiry().Equal(time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)) ||
		!all[2].Expiry().Equal(time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("found %+v", all)
	}
}

// A key that ends soon is told by its place and its tenant, never by its hash.
func TestKeysThatEndSoonAreTold(t *testing.T) {
	cfg := parsed(t, small+"auth: {tenants: [{name: acme, key_sha256: "+shaA+", keys: ["+
		"{sha256: "+shaB+", expires: 2027-01-31}, {sha256: "+shaC+", expires: 2027-03-01}]}]}\n")
	const fortnight = 14 * 24 * time.Hour
	for at, want := range map[string][]string{
		"2027-01-16T23:59:59Z": nil,
		"2027-01-17T00:00:00Z": {"auth.tenants[0].keys[0]: a key of acme expires in 14 days, at 2027-01-31T00:00:00Z"},
		"2027-01-31T00:00:00Z": {"auth.tenants[0].keys[0]: a key of acme has expired, at 2027-01-31T00:00:00Z"},
	} {
		now, _ := time.Parse(time.RFC3339, at)
		if got := cfg.Auth.Ending(now, fortnight); !slices.Equal(got, want) {
			t.Errorf("at %s: %q", at, got)
		}
	}
}
