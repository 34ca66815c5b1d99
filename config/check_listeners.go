package config

import (
	"net"
	"net/url"
	"strings"
)

func checkListeners(c *Config, r *report) {
	if clash(c.Listen.Data, c.Listen.Admin) {
		r.addAt("listen.admin", CodeConflict,
			"the admin listener needs an address of its own, not the data listener's %s", clip(c.Listen.Data))
	}
	if c.Events.GRPC != nil &&
		(clash(c.Events.GRPC.Listen, c.Listen.Data) || clash(c.Events.GRPC.Listen, c.Listen.Admin)) {
		r.addAt("events.grpc.listen", CodeConflict, "the event listener needs an address of its own")
	}
	if n := len(c.Admin.Token); n > 0 && n < leastToken {
		r.addAt("admin.token", CodeOutOfRange, "a token of %d bytes is soon guessed; at least %d", n, leastToken)
	}
	checkEventListener(c, r)
	if c.Admin.Token == "" && !loopback(c.Listen.Admin) {
		r.addAt("admin.token", CodeAdminExposed, "without a token the admin listener must be on loopback, not on %s",
			clip(c.Listen.Admin))
	}
}

// checkEventListener notes a listener that takes events of replicas from any client.
func checkEventListener(c *Config, r *report) {
	g := c.Events.GRPC
	if g == nil || loopback(g.Listen) || len(g.Publishers) > 0 && g.Cert != "" || g.ClientCA != "" {
		return
	}
	r.addAt("events.grpc.listen", CodeExposed,
		"on %s any client could say what replicas hold: it needs client_ca, or publishers behind cert and key",
		clip(g.Listen))
}

// leadsTo reports whether a replica's URL is one of our own listeners, as far as it can be told without asking.
func leadsTo(replica, listener string) bool {
	u, err := url.Parse(replica)
	if err != nil {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host, own, err := net.SplitHostPort(listener)
	if err != nil || own != port || strings.Trim(own, "0") == "" {
		return false
	}
	at := net.JoinHostPort(u.Hostname(), port)
	return strings.EqualFold(u.Hostname(), host) || wildcard(u.Hostname()) || loopback(at) &&
		(wildcard(host) || loopback(listener) && (u.Hostname() == "localhost" || host == "localhost"))
}

// clash reports whether two listeners cannot both be had: one port, and one host or a wildcard. Port 0 never clashes.
func clash(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || strings.Trim(portA, "0") == "" {
		return false
	}
	return hostA == hostB || wildcard(hostA) || wildcard(hostB) || loopback(a) && loopback(b) &&
		!(net.ParseIP(hostA) != nil && net.ParseIP(hostB) != nil)
}

// Exposed returns true if the data listener can be reached from other machines.
func (c *Config) Exposed() bool { return !loopback(c.Listen.Data) }

// AdminExposed returns true if the admin listener can be reached from other machines.
func (c *Config) AdminExposed() bool { return !loopback(c.Listen.Admin) }

// AnonymousExposed returns true if requests without a key, and without a client's certificate, are served to other
// machines.
func (c *Config) AnonymousExposed() bool {
	certified := c.Listen.TLS != nil && c.Listen.TLS.ClientCA != ""
	return c.Exposed() && c.Auth.Anonymous && !certified
}

// checkReplicaTLS notes half a pair, and TLS for a URL that does not speak it. Nothing is told of the URL of a
// template.
func checkReplicaTLS(rep *Replica, path string, r *report) {
	t := rep.TLS
	if t == nil {
		return
	}
	if (t.Cert == "") != (t.Key == "") {
		r.addAt(path+".tls.key", CodeConflict, "a certificate needs its key, and a key its certificate")
	}
	if u, err := url.Parse(rep.URL); err == nil && u.Scheme == "http" {
		r.addAt(path+".tls", CodeConflict, "its url is http: TLS is spoken to https URLs")
	}
}

func wildcard(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
