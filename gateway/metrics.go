package gateway

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the gateway's own series. Labels come from the configuration and from closed lists, never from clients.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // specialist, status
	errors   *prometheus.CounterVec   // code
	attempts *prometheus.CounterVec   // specialist, outcome: failed attempts
	resumed  *prometheus.CounterVec   // specialist, outcome: complete | failed
	ttft     *prometheus.HistogramVec // specialist
	total    *prometheus.HistogramVec // specialist
	tokens   *prometheus.CounterVec   // specialist, kind: prompt | completion | cached
	intents  *prometheus.HistogramVec // intent
	offered  *prometheus.CounterVec   // specialist, band
	admitted *prometheus.CounterVec   // specialist, band
	verdicts *prometheus.CounterVec   // specialist, result: pass | fail
	hits     *prometheus.CounterVec   // specialist, kept: all | part | none of a predicted hit
	panics   prometheus.Counter
	shadows  *prometheus.CounterVec // specialist, outcome
	compared *prometheus.CounterVec // intent, class
	judged   *prometheus.CounterVec // outcome
}

// specialistMetrics are one specialist's handles, resolved once.
type specialistMetrics struct {
	ttft, total                prometheus.Observer
	prompt, completion, cached prometheus.Counter
	ok                         prometheus.Counter
	offered, admitted          [len(bands)]prometheus.Counter // by bandOf
	pass, fail                 prometheus.Counter
	predicted                  predictions
}

// bands are what priorities are counted by.
var bands = [...]string{"low", "normal", "high"}

// bandOf is the index in bands of a priority: below, at or above the one of requests that state none.
func bandOf(priority int) int { return 1 + min(max(priority, -1), 1) }

// NewMetrics registers the gateway's series and the build's identity with a registry of its own.
func NewMetrics(version, commit, buildRef string) *Metrics {
	latency := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("octet_requests_total", "Requests that ended, by specialist and HTTP status.", "specialist", "status"),
		errors:   counters("octet_errors_total", "Requests that ended in a typed error, by code.", "code"),
		attempts: counters("octet_attempts_failed_total", "Attempts on a replica that failed, by the code they would end in.", "specialist", "outcome"),
		resumed:  counters("octet_continued_total", "Streams that went on at another replica after their engine died, by how they ended.", "specialist", "outcome"),
		ttft:     histograms("octet_ttft_seconds", "Arrival to first token of streamed answers.", latency, "specialist"),
		total:    histograms("octet_request_duration_seconds", "Arrival to the end of the answer.", latency, "specialist"),
		tokens:   counters("octet_tokens_total", "Tokens, by kind.", "specialist", "kind"),
		intents:  histograms("octet_intent_duration_seconds", "Arrival to the end of the answer, by declared intent.", latency, "intent"),
		offered:  counters("octet_specialist_offered_total", "Requests that a specialist was to answer, by priority: below, at or above 0.", "specialist", "band"),
		admitted: counters("octet_specialist_admitted_total", "Of these, those that got a place at a replica; far below offered is a specialist, or a priority, that starves.", "specialist", "band"),
		verdicts: counters("octet_verdicts_total", "Verdicts on answers.", "specialist", "result"),
		hits:     counters("octet_predicted_hits_total", "Answers for which cached tokens were predicted, by how many of them the engine delivered.", "specialist", "kept"),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "octet_panics_total", Help: "Requests that ended in a panic of ours."}),
	}
	m.shadows = counters("octet_shadows_total", "Shadow requests that were wanted, by what became of them.", "specialist", "outcome")
	m.compared = counters("octet_shadow_comparisons_total", "Answers compared with a shadow's, by what came of it.", "intent", "class")
	m.judged = counters("octet_shadow_judge_total", "Comparisons that a judge was asked about: ok, or why it has no say.", "outcome")
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "octet_build_info", Help: "1, by what was built."}, []string{"version", "commit", "build_ref"})
	info.WithLabelValues(version, commit, buildRef).Set(1)
	m.registry.MustRegister(m.requests, m.errors, m.attempts, m.resumed, m.ttft, m.total, m.tokens, m.intents, m.offered, m.admitted, m.verdicts, m.hits, m.panics, m.shadows, m.compared, m.judged, info)
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

func (m *Metrics) specialist(name string) *specialistMetrics {
	h := &specialistMetrics{
		pass: m.verdicts.WithLabelValues(name, "pass"), fail: m.verdicts.WithLabelValues(name, "fail"),
		ttft: m.ttft.WithLabelValues(name), total: m.total.WithLabelValues(name), ok: m.requests.WithLabelValues(name, "200"),
		prompt: m.tokens.WithLabelValues(name, "prompt"), completion: m.tokens.WithLabelValues(name, "completion"), cached: m.tokens.WithLabelValues(name, "cached"),
		predicted: newPredictions(m.hits, name),
	}
	for i, band := range bands {
		h.offered[i], h.admitted[i] = m.offered.WithLabelValues(name, band), m.admitted.WithLabelValues(name, band)
	}
	return h
}

func (m *Metrics) refused(code Code) { m.errors.WithLabelValues(string(code)).Inc() }

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
	if sp == nil {
		m.requests.WithLabelValues("", strconv.Itoa(r.Status)).Inc()
		return
	}
	if r.Continued > 0 {
		m.resumed.WithLabelValues(sp.Name, map[bool]string{true: "complete", false: "failed"}[r.Done]).Inc()
	}
	h := sp.handles
	if r.Status == 200 {
		h.ok.Inc()
	} else {
		m.requests.WithLabelValues(sp.Name, strconv.Itoa(r.Status)).Inc()
	}
	h.total.Observe(total.Seconds())
	h.prompt.Add(float64(r.PromptTokens))
	h.completion.Add(float64(r.CompletionTokens))
	if r.CachedTokens != nil {
		h.cached.Add(float64(*r.CachedTokens))
	}
	if intent != "" {
		m.intents.WithLabelValues(intent).Observe(total.Seconds())
	}
}
