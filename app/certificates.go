package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"octet/app/collectors"
	"octet/config"
	"octet/internal/certs"
)

// certificatesEvery is how often files of certificates are read.
const certificatesEvery = time.Second

// certificates are those of all listeners, and those that are shown and trusted where engines are spoken to.
type certificates struct {
	log *slog.Logger

	mu        sync.Mutex
	listeners map[string]*held       // by the key of their section; set once
	trusted   map[certs.Files]*held  // of replicas and of auth.jwt; guarded by mu, as what it holds
	used      map[string]certs.Files // by replica; guarded by mu
	issuer    certs.Files            // of auth.jwt; guarded by mu
}

// held is the files of one use.
type held struct {
	source *certs.Source // nil while they were never good
	failed string        // why it is nil, as it was logged
	ended  bool          // that the certificate in force has expired was logged; owned by look
}

func newCertificates(log *slog.Logger) *certificates {
	return &certificates{log: log, listeners: map[string]*held{}, trusted: map[certs.Files]*held{}}
}

// The sections that have certificates, beside replicas.
const (
	dataTLS  = "listen.tls"
	adminTLS = "listen.admin_tls"
	// eventsTLS is that of the listener that engines stream their cache events to
	eventsTLS = "events.grpc"
	// pickerTLS is that of the picker, which has flags instead
	pickerTLS = "epp"
	// issuerTLS has what the issuer of tokens is spoken to with
	issuerTLS = "auth.jwt"
)

// listen opens the files of the listeners, and of the picker's if it has some.
func (c *certificates) listen(cfg *config.Config, picker certs.Files) error {
	all := listenFiles(cfg)
	if !picker.Zero() {
		all[pickerTLS] = picker
	}
	for key, files := range all {
		source, err := certs.Open(files)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		c.listeners[key] = &held{source: source}
	}
	return nil
}

func listenFiles(cfg *config.Config) map[string]certs.Files {
	all := map[string]certs.Files{}
	for key, t := range map[string]*config.ListenTLS{dataTLS: cfg.Listen.TLS, adminTLS: cfg.Listen.AdminTLS} {
		if t != nil {
			all[key] = certs.Files{Cert: t.Cert, Key: t.Key, CA: t.ClientCA}
		}
	}
	if g := cfg.Events.GRPC; g != nil && g.Cert != "" {
		all[eventsTLS] = certs.Files{Cert: g.Cert, Key: g.Key, CA: g.ClientCA}
	}
	return all
}

func filesOf(t *config.ReplicaTLS) certs.Files {
	if t == nil {
		return certs.Files{}
	}
	return certs.Files{Cert: t.Cert, Key: t.Key, CA: t.CA}
}

func (c *certificates) data() *tls.Config  { return c.server(dataTLS) }
func (c *certificates) admin() *tls.Config { return c.server(adminTLS) }

// server returns the TLS of a listener; nil for plain HTTP.
func (c *certificates) server(key string) *tls.Config {
	if h := c.listeners[key]; h != nil {
		return h.source.Server()
	}
	return nil
}

// client returns what makes the TLS of each new connection to a replica; nil for the usual one. While the files were
// never good, no certificate is trusted.
func (c *certificates) client(t *config.ReplicaTLS) func() *tls.Config {
	if t == nil {
		return nil
	}
	h := c.trust(filesOf(t))
	return func() *tls.Config {
		made := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		c.mu.Lock()
		if h.source != nil {
			made = h.source.Client().Clone()
		}
		c.mu.Unlock()
		made.ServerName = t.ServerName
		return made
	}
}

// trust returns what is held of files, which are read if they are new.
func (c *certificates) trust(f certs.Files) *held {
	c.mu.Lock()
	h, known := c.trusted[f]
	if !known {
		h = &held{}
		c.trusted[f] = h
	}
	c.mu.Unlock()
	if !known {
		c.open(f, h)
	}
	return h
}

// open tries to read files that were never good.
func (c *certificates) open(f certs.Files, h *held) {
	source, err := certs.Open(f)
	failed := ""
	if err != nil {
		source, failed = nil, err.Error()
	}
	c.mu.Lock()
	news := failed != h.failed
	h.source, h.failed = source, failed
	c.mu.Unlock()
	if news && err != nil {
		c.log.Error("certificates cannot be used, nothing is reached with them", "error", err)
	}
}

// commit forgets the files of replicas, and of an issuer, that are no more.
func (c *certificates) commit(replicas map[string]*replica, issuer certs.Files) {
	used := map[string]certs.Files{}
	for name, r := range replicas {
		if f := filesOf(&r.key.tls); !f.Zero() {
			used[name] = f
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used, c.issuer = used, issuer
	keep := map[certs.Files]*held{}
	for _, f := range append(slices.Collect(maps.Values(used)), issuer) {
		if h := c.trusted[f]; h != nil {
			keep[f] = h
		}
	}
	c.trusted = keep
}

// look reads all files again, and logs what changes. One goroutine does. No file is read under the lock, for which new
// connections wait.
func (c *certificates) look(now time.Time) {
	for key, h := range c.listeners {
		c.lookAt(key, h, h.source, now)
	}
	c.mu.Lock()
	sources := make(map[*held]*certs.Source, len(c.trusted))
	trusted, issuer := maps.Clone(c.trusted), c.issuer
	for _, h := range trusted {
		sources[h] = h.source
	}
	c.mu.Unlock()
	for f, h := range trusted {
		if source := sources[h]; source != nil {
			use := "replicas[].tls"
			if f == issuer {
				use = issuerTLS
			}
			c.lookAt(use, h, source, now)
		} else {
			c.open(f, h)
		}
	}
}

// lookAt looks at the files of one use.
func (c *certificates) lookAt(use string, h *held, source *certs.Source, now time.Time) {
	changed, err := source.Look(now)
	f, expires := source.Files(), source.Held().Expires
	log := c.log.With("use", use, "cert", f.Cert, "ca", f.CA)
	switch changed {
	case certs.Taken:
		h.ended = false
		log.Info("certificates reloaded", "expires", expires)
	case certs.Restored:
		log.Info("certificates are again those in force", "expires", expires)
	case certs.Refused:
		log.Error("certificates were not reloaded, the last good ones stay", "error", err, "expires", expires)
	case certs.Same:
	}
	if source.Held().Expired(now) && !h.ended {
		h.ended = true
		log.Error("the certificate in force has expired", "expired", expires)
	}
}

// read tells of what is in force.
func (c *certificates) read() (all []collectors.Certificate) {
	add := func(use, replica string, h *held) {
		one := collectors.Certificate{Use: use, Replica: replica, Refused: true}
		if h.source != nil {
			one.Expires, one.Refused = h.source.Held().Expires, h.source.Bad() != nil
		}
		all = append(all, one)
	}
	for key, h := range c.listeners {
		add(key, "", h)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.trusted[c.issuer]; h != nil {
		add(issuerTLS, "", h)
	}
	for name, f := range c.used {
		if h := c.trusted[f]; h != nil {
			add("replica", name, h)
		}
	}
	return all
}
