package gateway

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/ensemble"
	"octet/gateway/front"
	"octet/gateway/intake"
)

// fronts are the servers of both listeners.
type fronts struct {
	cfg         *front.Config
	data, admin front.Bounded

	mu  sync.Mutex
	set [2]int // limits.connections and .connections_per_address in force; guarded by mu
}

// bound has the data listener keep to the bounds of l from now on. It does nothing if f is nil.
func (f *fronts) bound(l *ensemble.Limits) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := [2]int{l.Connections, l.ConnectionsPerAddress}; now != f.set {
		f.set = now
		f.data.Bound(f.cfg.Room(l.Connections), l.ConnectionsPerAddress)
	}
}

// frontConfig returns what both listeners' servers need, by the Runtime of now.
func (s *Server) frontConfig() *front.Config {
	rt, replicas := s.runtime.Load(), 0
	for _, rep := range &rt.Replicas {
		if rep != nil {
			replicas++
		}
	}
	l := &rt.Limits
	return &front.Config{
		Kind: s.options.Front, Base: s.cutOff, Replicas: replicas, Log: s.log, Refuse: s.reject, NewID: intake.NewID,
		TLS: s.options.TLS, AdminTLS: s.options.AdminTLS,
		Limits: front.Limits{
			HeaderTimeout: l.HeaderTimeout, KeepaliveTimeout: l.KeepaliveTimeout, WriteTimeout: l.WriteTimeout,
			HeaderBytes: l.HeaderBytes, HeaderFields: l.HeaderFields,
			Connections: l.Connections, PerAddress: l.ConnectionsPerAddress, Handshakes: l.Handshakes,
		},
	}
}

// connections tells of the connections of both listeners at a scrape. It is a prometheus.Collector.
type connections struct{ of func() *fronts }

var (
	connectionsDesc = prometheus.NewDesc("octet_connections", "Open connections, those in a TLS handshake included.",
		[]string{"listener"}, nil)
	turnedDesc = prometheus.NewDesc("octet_connections_refused_total",
		"Connections that were not served: all places are taken (full), or those of their address (address).",
		[]string{"listener", "why"}, nil)
	handshakesDesc = prometheus.NewDesc("octet_tls_handshakes_total",
		"TLS handshakes by how they have ended: done, failed, late, crowded, plain (the client spoke plain HTTP).",
		[]string{"listener", "result"}, nil)
)

// Describe implements prometheus.Collector.
func (connections) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{connectionsDesc, turnedDesc, handshakesDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c connections) Collect(out chan<- prometheus.Metric) {
	f := c.of()
	if f == nil {
		return
	}
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	for name, l := range map[string]front.Bounded{"data": f.data, "admin": f.admin} {
		turned := l.Turned()
		out <- prometheus.MustNewConstMetric(connectionsDesc, prometheus.GaugeValue, float64(l.Connections()), name)
		count(turnedDesc, turned.Full, name, "full")
		count(turnedDesc, turned.Address, name, "address")
		shakes, secure := front.HandshakesOf(l)
		if !secure {
			continue
		}
		count(handshakesDesc, shakes.Done, name, "done")
		count(handshakesDesc, shakes.Failed, name, "failed")
		count(handshakesDesc, shakes.Late, name, "late")
		count(handshakesDesc, shakes.Crowded, name, "crowded")
		count(handshakesDesc, shakes.Plain, name, "plain")
	}
}
