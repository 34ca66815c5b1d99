package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/calibration/records"
	"octet/classifier"
)

// NewClassified returns the counter of texts that the trained classifier was asked about, by outcome: answered, failed
// or timeout.
func NewClassified() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octet_classifier_total",
		Help: "Texts that the trained classifier was asked about, by outcome; all but answered are the fallback's.",
	}, []string{"outcome"})
	for _, outcome := range []string{"answered", "failed", "timeout"} {
		v.WithLabelValues(outcome)
	}
	return v
}

// NewClassifiedOutside returns the counter of texts that the classifier out of process was asked about, by outcome:
// answered, or why it gave no distribution.
func NewClassifiedOutside() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octet_classifier_http_total",
		Help: "Texts that the classifier over HTTP was asked about, by outcome; all but answered are the model's.",
	}, []string{"outcome"})
	v.WithLabelValues("answered")
	for _, outcome := range classifier.Outages {
		v.WithLabelValues(string(outcome))
	}
	return v
}

// NewSharedRates returns the gauge of a Redis that counts tenants' rates; away returns true while it does not answer.
func NewSharedRates(away func() bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "octet_shared_rates_away",
		Help: "1 while the Redis that counts rates cannot be asked, and gateways go by their parts of them.",
	}, func() float64 {
		if away() {
			return 1
		}
		return 0
	})
}

// Records reads what has become of calibration records at a scrape.
type Records struct{ Stream *records.Stream }

var recordsDesc = prometheus.NewDesc("octet_calibration_records_total",
	"Calibration records, by sink and by what became of them.", []string{"sink", "outcome"}, nil)

// Describe implements prometheus.Collector.
func (m Records) Describe(out chan<- *prometheus.Desc) { out <- recordsDesc }

// Collect implements prometheus.Collector.
func (m Records) Collect(out chan<- prometheus.Metric) {
	for sink, c := range m.Stream.Counts() {
		for outcome, n := range map[string]uint64{"written": c.Written, "dropped_full": c.Full,
			"dropped_failed": c.Failed} {
			count(out, recordsDesc, n, sink, outcome)
		}
	}
}
