package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Source is the certificates in force, of the same files for as long as it lives. Safe for concurrent use.
type Source struct {
	files Files
	held  atomic.Pointer[inForce]

	mu   sync.Mutex
	used [sha256.Size]byte // of what was looked at last and is decided on: in force, or refused; guarded by mu
	next [sha256.Size]byte // of what was seen at the last look and may be half written; guarded by mu
	bad  error             // why the files are not what is in force; nil if they are; guarded by mu
}

// inForce is Held with the configurations made of it.
type inForce struct {
	Held
	server, client *tls.Config
}

// Open reads the files. The error is a *FileError.
func Open(f Files) (*Source, error) {
	t, err := f.read()
	if err != nil {
		return nil, err
	}
	h, err := f.parse(t)
	if err != nil {
		return nil, err
	}
	s := &Source{files: f, used: t.sum()}
	s.next = s.used
	s.put(h)
	return s, nil
}

func (s *Source) put(h *Held) { s.held.Store(&inForce{*h, serverConfig(h), clientConfig(h)}) }

// Files returns the paths.
func (s *Source) Files() Files { return s.files }

// Held returns what is in force.
func (s *Source) Held() *Held { return &s.held.Load().Held }

// Bad returns why the files are not what is in force; nil if they are.
func (s *Source) Bad() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

// Changed is what a look has come to.
type Changed int

// What a look comes to.
const (
	Same     Changed = iota // nothing new
	Taken                   // other certificates are in force from now on
	Restored                // the files are again what is in force
	Refused                 // the files are no use, as is told once: what was in force stays
)

// Look reads the files again. What differs from what is in force is taken once two looks have seen the same of it: a
// pair is written in two steps. err is why files are refused.
func (s *Source) Look(now time.Time) (Changed, error) {
	t, err := s.files.read()
	sum := t.sum()
	if err != nil {
		sum = sha256.Sum256([]byte(err.Error()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum == s.used {
		s.next = sum
		return Same, nil
	}
	if sum != s.next {
		s.next = sum
		return Same, nil
	}
	s.used = sum
	return s.decide(t, err, now)
}

// decide takes what was read twice, or refuses it. Under mu.
func (s *Source) decide(t texts, err error, now time.Time) (Changed, error) {
	var h *Held
	if err == nil {
		h, err = s.files.parse(t)
	}
	before := s.held.Load()
	if err == nil && h.Expired(now) && !before.Expired(now) {
		err = &FileError{"cert", s.files.Cert, ErrExpired}
	}
	if err != nil {
		s.bad = err
		return Refused, err
	}
	restored := s.bad != nil && same(&before.Held, h)
	s.bad = nil
	if restored {
		return Restored, nil
	}
	s.put(h)
	return Taken, nil
}

// same returns true if nothing differs that a handshake would show.
func same(a, b *Held) bool {
	if (a.Roots == nil) != (b.Roots == nil) || a.Roots != nil && !a.Roots.Equal(b.Roots) {
		return false
	}
	if a.Pair == nil || b.Pair == nil {
		return a.Pair == b.Pair
	}
	if len(a.Pair.Certificate) != len(b.Pair.Certificate) {
		return false
	}
	for i := range a.Pair.Certificate {
		if string(a.Pair.Certificate[i]) != string(b.Pair.Certificate[i]) {
			return false
		}
	}
	return true
}

// serverConfig is what a server offers: TLS 1.2 or later, HTTP/2 or 1.1, no renegotiation, which crypto/tls never
// grants clients. With authorities a client must have a certificate of one of them, shown at each handshake: no session
// is resumed that other authorities have let begin.
func serverConfig(h *Held) *tls.Config {
	if h.Pair == nil {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*h.Pair},
		NextProtos: []string{"h2", "http/1.1"}}
	if h.Roots != nil {
		c.ClientAuth, c.ClientCAs, c.SessionTicketsDisabled = tls.RequireAndVerifyClientCert, h.Roots, true
	}
	return c
}

// clientConfig is what a client asks for: TLS 1.2 or later, the given authorities or the system's.
func clientConfig(h *Held) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: h.Roots}
	if h.Pair != nil {
		c.Certificates = []tls.Certificate{*h.Pair}
	}
	return c
}

// ErrNoServer means that files without a certificate are no server's.
var ErrNoServer = errors.New("certs: a server needs a certificate")

// Server returns the configuration of a server that uses what is in force at each handshake.
func (s *Source) Server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if c := s.held.Load().server; c != nil {
				return c, nil
			}
			return nil, ErrNoServer
		}}
}

// Client returns the configuration of a new connection to a server. It is shared and must not be changed.
func (s *Source) Client() *tls.Config { return s.held.Load().client }
