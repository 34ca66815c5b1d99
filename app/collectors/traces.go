package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/trace"
)

// Traces exposes what became of requests' traces.
type Traces struct{ Read func() trace.Sent }

var tracesDesc = prometheus.NewDesc("octet_traces_total",
	"Traces of requests: sent to the receiver, dropped before that as they were too many, or failed to be sent.",
	[]string{"outcome"}, nil)

// Describe implements prometheus.Collector.
func (Traces) Describe(to chan<- *prometheus.Desc) { to <- tracesDesc }

// Collect implements prometheus.Collector.
func (c Traces) Collect(to chan<- prometheus.Metric) {
	n := c.Read()
	for outcome, count := range map[string]uint64{"sent": n.Exported, "dropped": n.Dropped, "failed": n.Failed} {
		to <- prometheus.MustNewConstMetric(tracesDesc, prometheus.CounterValue, float64(count), outcome)
	}
}
