package tenant

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"time"
)

// Key is a key of a tenant.
type Key struct {
	SHA256  string    // 64 hex digits
	Expires time.Time // zero means never
}

// digest is the SHA-256 of what a client gives as its key.
type digest = [sha256.Size]byte

// held is a key and its tenant.
type held struct {
	digest  digest
	expires int64 // unix nanoseconds; zero means never
	tenant  *Tenant
}

// keyring finds the tenant of a key. Keys are found by a hash that is drawn for each process, and compared in constant
// time: neither the time that a key takes nor a chosen one tells anything of those that are held.
type keyring struct {
	seed maphash.Seed
	by   map[uint64][]held
}

// none is compared with keys that are not held, so that they take the time of others.
var none = []held{{}}

func newKeyring(keys int) keyring { return keyring{maphash.MakeSeed(), make(map[uint64][]held, keys)} }

func (k *keyring) add(key Key, t *Tenant) error {
	raw, err := hex.DecodeString(key.SHA256)
	if err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("tenant %s: the SHA-256 of a key is not %d hex digits", t.Name, 2*sha256.Size)
	}
	h := held{digest: digest(raw), tenant: t}
	if !key.Expires.IsZero() {
		h.expires = key.Expires.UnixNano()
	}
	at := maphash.Bytes(k.seed, raw)
	k.by[at] = append(k.by[at], h)
	return nil
}

// find returns the tenant of a key; nil if it is not held. ended is true for a key that was good until it expired.
func (k *keyring) find(d *digest, now time.Time) (t *Tenant, ended bool) {
	list := k.by[maphash.Bytes(k.seed, d[:])]
	if len(list) == 0 {
		list = none
	}
	for i := range list {
		if h := &list[i]; subtle.ConstantTimeCompare(h.digest[:], d[:]) == 1 && h.tenant != nil {
			t, ended = h.tenant, h.expires != 0 && now.UnixNano() >= h.expires
		}
	}
	return t, ended
}

func (k *keyring) empty() bool { return len(k.by) == 0 }
