package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/api"
)

// Findings exposes what was found of replicas when they were connected. It is a prometheus.Collector.
type Findings struct{ Read func() api.Connects }

var findingsDesc = prometheus.NewDesc("octet_doctor_findings",
	"Replicas of which a check of octet doctor finds something, as asked when they were connected: warn, fail.",
	[]string{"check", "status"}, nil)

// Describe implements prometheus.Collector.
func (Findings) Describe(to chan<- *prometheus.Desc) { to <- findingsDesc }

// Collect implements prometheus.Collector.
func (c Findings) Collect(to chan<- prometheus.Metric) {
	type key struct{ check, status string }
	count := map[key]int{}
	for _, f := range c.Read().Findings {
		count[key{f.Check, f.Status}]++
	}
	for k, n := range count {
		gauge(to, findingsDesc, float64(n), k.check, k.status)
	}
}
