package bearer

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"
)

// Config says which tokens are accepted. All of it is set.
type Config struct {
	JWKS string // a URL, or the path of a file
	CA   string // names the roots of the URL's certificate; empty means the system's
	// TLS returns what the URL is spoken to with, at each connection; nil means the system's roots.
	TLS                           func() *tls.Config
	Issuer, Audience, TenantClaim string
	Leeway                        time.Duration
	Refresh                       time.Duration // how often the URL is asked
	UnknownAfter                  time.Duration // for a key that is not known: not sooner after the last time
	Timeout                       time.Duration // of one answer
	KeepFor                       time.Duration // the last good keys
	TokenBytes, JWKSBytes         int
	Tokens                        int // that are remembered
}

// Verifier verifies tokens. Safe for concurrent use.
type Verifier struct {
	cfg     Config
	log     *slog.Logger
	source  source
	options []jwt.ParserOption
	keys    atomic.Pointer[keyset] // nil before the first
	good    atomic.Int64           // unix nanoseconds at which keys could be read last
	seen    *lru.Cache[[sha256.Size]byte, verified]
	wanted  chan struct{} // has Run ask; holds one, which is enough
	slots   chan struct{} // of signatures that are verified at once

	mu       sync.Mutex
	fetching bool          // guarded by mu
	tried    time.Time     // when the source was asked last; guarded by mu
	failed   error         // of the last time; guarded by mu
	done     chan struct{} // closes when the source has been asked; guarded by mu
	waiting  int           // requests that wait for done; guarded by mu
	fetches  [2]uint64     // that succeeded, and that did not; guarded by mu
}

// verified is a token that was accepted.
type verified struct {
	tenant string
	until  time.Time
	by     *keyset
}

// New returns a Verifier. Of a file it has read the keys; a URL is asked by Run.
func New(c Config, log *slog.Logger) (*Verifier, error) {
	seen, err := lru.New[[sha256.Size]byte, verified](c.Tokens)
	if err != nil {
		return nil, err
	}
	from := sourceOf(&c)
	v := &Verifier{cfg: c, log: log, source: from, seen: seen, wanted: make(chan struct{}, 1),
		slots: make(chan struct{}, max(runtime.GOMAXPROCS(0)/2, 1)), done: make(chan struct{}),
		options: []jwt.ParserOption{jwt.WithValidMethods(algorithms), jwt.WithIssuer(c.Issuer),
			jwt.WithAudience(c.Audience), jwt.WithExpirationRequired(), jwt.WithLeeway(c.Leeway),
			jwt.WithStrictDecoding()}}
	if _, is := from.(*file); is {
		v.refresh(context.Background())
		if v.failed != nil {
			return nil, v.failed
		}
	}
	return v, nil
}

// Inherit has v begin with the last good keys of another Verifier, if both have the same JWKS and v has read none yet:
// other terms alone do not have every token wait for the issuer. It is called before v is used.
func (v *Verifier) Inherit(from *Verifier) {
	if from == nil || from.cfg.JWKS != v.cfg.JWKS || from.cfg.CA != v.cfg.CA || v.keys.Load() != nil {
		return
	}
	v.good.Store(from.good.Load())
	v.keys.Store(from.keys.Load())
}

// Tenant returns the tenant that a token names, at a time. digest is the token's SHA-256. The error is a Refused,
// ErrNoKeys or ErrBusy.
func (v *Verifier) Tenant(ctx context.Context, token string, digest [sha256.Size]byte, now time.Time) (string, error) {
	if len(token) > v.cfg.TokenBytes {
		return "", TooLong
	}
	if known, is := v.seen.Get(digest); is && known.by == v.current(now) && now.Before(known.until) {
		return known.tenant, nil
	}
	h, err := readHeader(token)
	if err != nil {
		return "", err
	}
	set, key, err := v.key(ctx, h, now)
	if err != nil {
		return "", err
	}
	c, err := v.verify(ctx, token, key, now)
	if err != nil {
		return "", err
	}
	v.seen.Add(digest, verified{c.tenant, c.exp.Add(v.cfg.Leeway), set})
	return c.tenant, nil
}

// verify returns the claims of a token that a key has signed. Signatures take half of the processors at most.
func (v *Verifier) verify(ctx context.Context, token string, key crypto.PublicKey, now time.Time) (*claims, error) {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	case <-ctx.Done():
		return nil, ErrBusy
	}
	c := &claims{tenantClaim: v.cfg.TenantClaim}
	parser := jwt.NewParser(append(v.options[:len(v.options):len(v.options)],
		jwt.WithTimeFunc(func() time.Time { return now }))...)
	if _, err := parser.ParseWithClaims(token, c, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
		return nil, reasonOf(err)
	}
	if c.tenant == "" {
		return nil, NoTenant
	}
	return c, nil
}

// current returns the keys in force; nil if there are none, or they are too old.
func (v *Verifier) current(now time.Time) *keyset {
	if now.Sub(time.Unix(0, v.good.Load())) > v.cfg.KeepFor {
		return nil
	}
	return v.keys.Load()
}

// key returns the key that a header names, and the set that it is of.
func (v *Verifier) key(ctx context.Context, h header, now time.Time) (*keyset, crypto.PublicKey, error) {
	set := v.current(now)
	key, ok := set.find(h.Kid, h.Alg)
	if !ok && v.await(ctx) {
		set = v.current(time.Now())
		key, ok = set.find(h.Kid, h.Alg)
	}
	switch {
	case ok:
		return set, key, nil
	case set == nil:
		return nil, nil, ErrNoKeys
	}
	return nil, nil, UnknownKey
}

// State is what is known of the issuer.
type State struct {
	Keys        int
	Age         time.Duration // since they could be read last; zero if they never could
	Good, Lost  uint64        // how often they could be read, and could not
	Remembered  int           // tokens
	Unavailable error         // why they could not be read the last time; nil if they could
}

// State returns what is known of the issuer.
func (v *Verifier) State(now time.Time) State {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := State{Good: v.fetches[0], Lost: v.fetches[1], Remembered: v.seen.Len(), Unavailable: v.failed}
	if set := v.keys.Load(); set != nil {
		s.Keys, s.Age = len(set.keys), max(now.Sub(time.Unix(0, v.good.Load())), 0)
	}
	return s
}

func (s State) String() string {
	return fmt.Sprintf("%d keys, read %v ago", s.Keys, s.Age.Round(time.Second))
}
