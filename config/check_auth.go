package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func checkAuth(c *Config, r *report) {
	if !c.Auth.Anonymous && len(c.Auth.Tenants) == 0 {
		r.addAt("auth.anonymous", CodeConflict, "a key is required, but no tenant has one")
	}
	if c.Auth.JWT != nil && len(c.Auth.Tenants) == 0 {
		r.addAt("auth.jwt", CodeConflict, "a token names a tenant, and auth.tenants declares none")
	}
	if n := len(c.Auth.Secret); n > 0 && n < leastToken {
		r.addAt("auth.secret", CodeOutOfRange, "a secret of %d bytes is soon guessed; at least %d", n, leastToken)
	}
	names, keys, salts := newNames(r, CodeDuplicateName), newNames(r, CodeDuplicateName), map[string]string{}
	for i, t := range c.Auth.Tenants {
		path := item("auth.tenants", i)
		names.take(t.Name, path+".name")
		keys.take(strings.ToLower(t.KeySHA256), path+".key_sha256")
		for j, k := range t.Keys {
			keys.take(strings.ToLower(k.SHA256), item(path+".keys", j)+".sha256")
		}
		checkTenant(&t, path, salts, r)
		checkKeys(c, &t, path, r)
		for j, s := range t.Specialists {
			checkKnown(c, r, s, item(path+".specialists", j))
		}
	}
}

// noKey is the SHA-256 of a key of no bytes.
const noKey = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// checkTenant notes what would give a tenant the rights of another one, or of every client. salts has the paths of
// those that are taken.
func checkTenant(t *Tenant, path string, salts map[string]string, r *report) {
	if strings.EqualFold(t.Name, Anonymous) {
		r.addAt(path+".name", CodeReservedName, "%q is what requests without a key are called", clip(t.Name))
	}
	if first, taken := salts[t.CacheSalt]; taken && t.CacheSalt != "" {
		r.addAt(path+".cache_salt", CodeDuplicateName,
			"the salt is that of %s: two tenants with one salt share what they have cached", first)
	}
	salts[t.CacheSalt] = path
}

// maxKeys is how many keys a tenant may have.
const maxKeys = 64

// checkKeys notes a tenant that no request could be of, and keys that every client has.
func checkKeys(c *Config, t *Tenant, path string, r *report) {
	bad := func(f Fault) bool { return f.Path == path+".key_sha256" || f.Path == path } // it is noted already
	if len(t.AllKeys()) == 0 && c.Auth.JWT == nil && !slices.ContainsFunc(r.faults, bad) {
		r.addAt(path+".key_sha256", CodeMissing, "without auth.jwt a tenant has a key: key_sha256, or keys")
	}
	if len(t.Keys) > maxKeys {
		r.addAt(path+".keys", CodeTooMany, "%d keys, at most %d", len(t.Keys), maxKeys)
	}
	empty := func(path, sum string) {
		if strings.EqualFold(sum, noKey) {
			r.addAt(path, CodeBadValue, "this is the SHA-256 of an empty key, which every client has")
		}
	}
	empty(path+".key_sha256", t.KeySHA256)
	for i, k := range t.Keys {
		empty(item(path+".keys", i)+".sha256", k.SHA256)
	}
}

// Ending returns a line for each key that has ended at now, or ends within a time of it. A key is named by its place:
// nothing of it is told.
func (a *Auth) Ending(now time.Time, within time.Duration) (lines []string) {
	for i := range a.Tenants {
		for j, k := range a.Tenants[i].Keys {
			at, path := k.Expiry(), item(item("auth.tenants", i)+".keys", j)
			switch name := a.Tenants[i].Name; {
			case at.IsZero():
			case !now.Before(at):
				lines = append(lines, fmt.Sprintf("%s: a key of %s has expired, at %s", path, name,
					at.UTC().Format(time.RFC3339)))
			case at.Sub(now) <= within:
				lines = append(lines, fmt.Sprintf("%s: a key of %s expires in %d days, at %s", path, name,
					int(at.Sub(now)/(24*time.Hour)), at.UTC().Format(time.RFC3339)))
			}
		}
	}
	return lines
}
