package app

import (
	"errors"
	"fmt"
	"time"

	"octet/config"
	"octet/internal/certs"
)

// certificateFaults reads every file of certificates that the configuration names.
func certificateFaults(path string, cfg *config.Config) error {
	all := &config.Faults{File: path}
	eachCertificate(cfg, func(key string, f certs.Files) {
		_, err := certs.Read(f)
		var of *certs.FileError
		if !errors.As(err, &of) || errors.Is(err, certs.ErrAlone) { // the keys' own check tells of half a pair
			return
		}
		name := of.Key
		if name == "ca" && (key == dataTLS || key == adminTLS || key == eventsTLS) {
			name = "client_ca"
		}
		all.List = append(all.List, config.Fault{Path: key + "." + name, Code: config.CodeUnreadable,
			Message: err.Error()})
	})
	if len(all.List) == 0 {
		return nil
	}
	return all
}

// eachCertificate calls see with the files of each section that has some.
func eachCertificate(cfg *config.Config, see func(key string, f certs.Files)) {
	listeners := listenFiles(cfg)
	for _, key := range []string{dataTLS, adminTLS, eventsTLS} {
		if f, has := listeners[key]; has {
			see(key, f)
		}
	}
	if f := issuerFiles(cfg.Auth.JWT); !f.Zero() {
		see(issuerTLS, f)
	}
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		at := fmt.Sprintf("specialists[%d].", i)
		for j := range sp.Replicas {
			if f := filesOf(sp.Replicas[j].TLS); !f.Zero() {
				see(fmt.Sprintf("%sreplicas[%d].tls", at, j), f)
			}
		}
		if sp.Discover == nil {
			continue
		}
		if f := filesOf(sp.Discover.Template.Replica.TLS); !f.Zero() {
			see(at+"discover.template.tls", f)
		}
	}
}

// Exposures returns what of a configuration that can be served is open to others, or of no use now or before soon has
// passed; one a line.
func Exposures(cfg *config.Config, now time.Time, soon time.Duration) (all []string) {
	if cfg.AnonymousExposed() {
		all = append(all, fmt.Sprintf("listen.data: on %s any client is served without a key: "+
			"set auth.anonymous: false, or listen.tls.client_ca", cfg.Listen.Data))
	}
	if cfg.Exposed() && cfg.Listen.TLS == nil {
		all = append(all, fmt.Sprintf("listen.data: on %s keys and prompts go over the network as they are: "+
			"set listen.tls", cfg.Listen.Data))
	}
	if cfg.AdminExposed() && cfg.Listen.AdminTLS == nil {
		all = append(all, fmt.Sprintf("listen.admin: on %s the operators' token goes over the network as it is: "+
			"set listen.admin_tls", cfg.Listen.Admin))
	}
	eachCertificate(cfg, func(key string, f certs.Files) {
		h, err := certs.Read(f)
		if err != nil || !h.Expired(now.Add(soon)) {
			return
		}
		verb := "expires"
		if h.Expired(now) {
			verb = "has expired"
		}
		all = append(all, fmt.Sprintf("%s.cert: %s %s on %s", key, f.Cert, verb, h.Expires.Format(time.DateOnly)))
	})
	return all
}

// warnOfExposure logs, once, that any client that reaches the data listener is served, in clear text.
func (a *App) warnOfExposure(cfg *config.Config) {
	if cfg.AnonymousExposed() && cfg.Listen.TLS == nil {
		a.Log.Warn("any client that reaches the data listener is served, without a key and without TLS: set "+
			"auth.anonymous: false and listen.tls", "listen.data", cfg.Listen.Data)
	}
}
