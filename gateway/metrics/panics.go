package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/internal/contain"
)

// panics counts contained panics of the process, by what each one ended.
type panics struct{}

var panicsDesc = prometheus.NewDesc("octet_panics_total", "Panics of ours, by what each one ended.", []string{"where"},
	nil)

// Describe implements prometheus.Collector.
func (panics) Describe(out chan<- *prometheus.Desc) { out <- panicsDesc }

// Collect implements prometheus.Collector.
func (panics) Collect(out chan<- prometheus.Metric) {
	for p := range contain.Places {
		out <- prometheus.MustNewConstMetric(panicsDesc, prometheus.CounterValue, float64(contain.Count(p)), p.String())
	}
}
