package gateway

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/apierr"
)

// Metrics are the gateway's own series. Labels come from the configuration and from closed lists, never from clients.
type Metrics struct {
	registry *prometheus.Registry
	errors   *prometheus.CounterVec   // code
	attempts *prometheus.CounterVec   // specialist, outcome: failed attempts
	resumed  *prometheus.CounterVec   // specialist, outcome: complete | failed
	retries  *prometheus.CounterVec   // by
	lost     *prometheus.CounterVec   // specialist, why
	intents  *prometheus.HistogramVec // intent
	each     *specialists
	shadows  *prometheus.CounterVec // specialist, outcome
	compared *prometheus.CounterVec // intent, class
	judged   *prometheus.CounterVec // outcome
}

// bands are what priorities are counted by.
var bands = [...]string{"low", "normal", "high"}

// bandOf is the index in bands of a priority: below, at or above the one of requests that state none.
func bandOf(priority int) int { return 1 + min(max(priority, -1), 1) }

// NewMetrics registers the gateway's series and the build's identity with a registry of its own.
func NewMetrics(version, commit, buildRef string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), each: newSpecialists(),
		errors: counters("octet_errors_total", "Requests that ended in a typed error, by code.", "code"),
		attempts: counters("octet_attempts_failed_total",
			"Attempts on a replica that failed, by the code they would end in.", "specialist", "outcome"),
		resumed: counters("octet_continued_total",
			"Streams that went on at another replica after their engine died, by how they ended.", "specialist",
			"outcome"),
		retries: counters("octet_retries_total",
			"Retries, by what paid for them: free | death | budget; refused were not made.", "by"),
		lost: counters("octet_streams_lost_total",
			"Streams that ended with their engine after the first byte: kind cannot go on from its text | budget | "+
				"attempts | elsewhere no other took it.", "specialist", "why"),
		intents: histograms("octet_intent_duration_seconds", "Arrival to the end of the answer, by declared intent.",
			latency[:], "intent"),
	}
	m.shadows = counters("octet_shadows_total", "Shadow requests that were wanted, by what became of them.",
		"specialist", "outcome")
	m.compared = counters("octet_shadow_comparisons_total", "Answers compared with a shadow's, by what came of it.",
		"intent", "class")
	m.judged = counters("octet_shadow_judge_total",
		"Comparisons that a judge was asked about: ok, or why it has no say.", "outcome")
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "octet_build_info", Help: "1, by what was built."},
		[]string{"version", "commit", "build_ref"})
	info.WithLabelValues(version, commit, buildRef).Set(1)
	m.registry.MustRegister(m.each, m.errors, m.attempts, m.resumed, m.retries, m.lost, m.intents, panics{}, m.shadows,
		m.compared, m.judged, info)
	return m
}

// Register adds collectors of other rooms.
func (m *Metrics) Register(cs ...prometheus.Collector) { m.registry.MustRegister(cs...) }

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func (m *Metrics) specialist(name string) *specialistMetrics { return m.each.of(name) }

func (m *Metrics) refused(code apierr.Code) { m.errors.WithLabelValues(string(code)).Inc() }

func (m *Metrics) attemptFailed(specialist, outcome string) {
	m.attempts.WithLabelValues(specialist, outcome).Inc()
}

func (m *Metrics) shadow(specialist, outcome string) {
	m.shadows.WithLabelValues(specialist, outcome).Inc()
}

// ended counts one finished request. sp is nil where none was chosen.
func (m *Metrics) ended(sp *Specialist, intent string, r *Result, total time.Duration) {
	if r.Code != "" {
		m.errors.WithLabelValues(r.Code).Inc()
	}
	name := ""
	if sp != nil {
		name = sp.Name
		sp.handles.answered(r, total)
	}
	if sp == nil || r.Status != 200 {
		m.each.failed.WithLabelValues(name, strconv.Itoa(r.Status)).Inc()
	}
	if sp != nil && r.Continued > 0 {
		m.resumed.WithLabelValues(name, map[bool]string{true: "complete", false: "failed"}[r.Done]).Inc()
	}
	if sp != nil && intent != "" {
		m.intents.WithLabelValues(intent).Observe(total.Seconds())
	}
}
