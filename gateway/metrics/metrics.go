// Package metrics counts what the gateway's requests come to, and exposes it to Prometheus.
//
// What is known when a request ends is counted together under one lock of its specialist, so that a scrape sees whole
// requests. Labels come from the configuration and from closed lists, never from clients.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/apierr"
)

// Series are all series of one gateway. Safe for concurrent use.
type Series struct {
	registry *prometheus.Registry
	errors   *prometheus.CounterVec   // code
	attempts *prometheus.CounterVec   // specialist, outcome: failed attempts
	resumed  *prometheus.CounterVec   // specialist, outcome: complete | failed
	retries  *prometheus.CounterVec   // by
	lost     *prometheus.CounterVec   // specialist, why
	intents  *prometheus.HistogramVec // intent
	each     *collector
	tenants  *tenants
	shadows  *prometheus.CounterVec // specialist, outcome
	compared *prometheus.CounterVec // intent, class
	calls    *prometheus.CounterVec // intent, calls
	judged   *prometheus.CounterVec // outcome
}

// bands are the labels of priorities: below, at and above the default.
var bands = [...]string{"low", "normal", "high"}

// bandOf returns the index in bands of a priority.
func bandOf(priority int) int { return 1 + min(max(priority, -1), 1) }

// New registers the gateway's series and the build's identity with a registry of its own.
func New(version, commit, buildRef string) *Series {
	m := &Series{
		registry: prometheus.NewRegistry(), each: newCollector(), tenants: newTenants(),
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
	for _, by := range [...]string{"free", "death", "budget", "refused"} { // told before they are counted, for rates
		m.retries.WithLabelValues(by)
	}
	m.shadows = counters("octet_shadows_total", "Shadow requests that were wanted, by what became of them.",
		"specialist", "outcome")
	m.compared = counters("octet_shadow_comparisons_total", "Answers compared with a shadow's, by what came of it.",
		"intent", "class")
	m.calls = counters("octet_shadow_tool_calls_total",
		"Answers compared with a shadow's where one or both call tools, by how the calls relate: "+
			"same | arguments | tools | one.", "intent", "calls")
	m.judged = counters("octet_shadow_judge_total",
		"Comparisons that a judge was asked about: ok, or why it has no say.", "outcome")
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "octet_build_info", Help: "1, by what was built."},
		[]string{"version", "commit", "build_ref"})
	info.WithLabelValues(version, commit, buildRef).Set(1)
	m.registry.MustRegister(m.each, m.tenants, m.errors, m.attempts, m.resumed, m.retries, m.lost, m.intents, panics{},
		m.shadows, m.compared, m.calls, m.judged, info)
	return m
}

// Register adds collectors of other packages.
func (m *Series) Register(cs ...prometheus.Collector) { m.registry.MustRegister(cs...) }

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Specialist returns the counts of the specialist of that name. They outlive configurations.
func (m *Series) Specialist(name string) *Specialist { return m.each.of(name) }

// Refused counts an error that ended a request before it was begun.
func (m *Series) Refused(code apierr.Code) { m.errors.WithLabelValues(string(code)).Inc() }

// AttemptFailed counts an attempt on a replica that failed.
func (m *Series) AttemptFailed(specialist, outcome string) {
	m.attempts.WithLabelValues(specialist, outcome).Inc()
}

// Shadow counts what became of a shadow request.
func (m *Series) Shadow(specialist, outcome string) {
	m.shadows.WithLabelValues(specialist, outcome).Inc()
}

// Ending is what a request came to.
type Ending struct {
	Status           int
	Code             string // of the error; "" without one
	PromptTokens     int
	CompletionTokens int
	CachedTokens     int
	Continued        bool // it went on at another replica
	Done             bool // the answer was complete
	Faulty           bool // it failed for a server's fault, whatever its status
	Total            time.Duration
}

// Ended counts one finished request. sp is nil if no specialist was chosen, intent "" if none was declared.
func (m *Series) Ended(sp *Specialist, intent string, e *Ending) {
	if e.Code != "" {
		m.errors.WithLabelValues(e.Code).Inc()
	}
	if sp == nil {
		m.each.failed.WithLabelValues("", strconv.Itoa(e.Status)).Inc()
		return
	}
	sp.ended(e)
	if e.Status != http.StatusOK {
		m.each.failed.WithLabelValues(sp.name, strconv.Itoa(e.Status)).Inc()
	}
	if e.Continued {
		m.resumed.WithLabelValues(sp.name, map[bool]string{true: "complete", false: "failed"}[e.Done]).Inc()
	}
	if intent != "" {
		m.intents.WithLabelValues(intent).Observe(e.Total.Seconds())
	}
}

// Compared counts a comparison of two answers.
func (m *Series) Compared(intent, class string) { m.compared.WithLabelValues(intent, class).Inc() }

// ComparedCalls counts a comparison of two answers of which at least one calls tools.
func (m *Series) ComparedCalls(intent, calls string) { m.calls.WithLabelValues(intent, calls).Inc() }

// Judged counts what came of asking a judge about a comparison.
func (m *Series) Judged(outcome string) { m.judged.WithLabelValues(outcome).Inc() }

// Retried counts a retry by what paid for it.
func (m *Series) Retried(by string) { m.retries.WithLabelValues(by).Inc() }

// StreamLost counts a stream that ended with its engine after the first byte.
func (m *Series) StreamLost(specialist, why string) { m.lost.WithLabelValues(specialist, why).Inc() }
