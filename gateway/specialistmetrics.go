package gateway

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// specialistMetrics counts what one specialist's requests come to. What is known when a request ends is counted
// together, under one lock, and all is made into metrics when somebody asks. Safe for concurrent use.
type specialistMetrics struct {
	since             time.Time
	offered, admitted [len(bands)]atomic.Uint64 // by bandOf
	pass, fail        atomic.Uint64
	predicted         Accuracy
	ratio             tokenRatio

	mu    sync.Mutex
	ended endings // guarded by mu
}

// endings is what requests had come to when they ended, and streams at their first token.
type endings struct {
	ok                         uint64 // status 200
	prompt, completion, cached uint64 // tokens
	ttft, total                histogram
}

// latency are the bounds of the distributions of durations, in seconds.
var latency = [...]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// histogram counts durations by the smallest of latency that is not below them.
type histogram struct {
	counts [len(latency) + 1]uint64
	sum    float64 // seconds
}

func (h *histogram) add(d time.Duration) {
	seconds, at := d.Seconds(), 0
	for at < len(latency) && seconds > latency[at] {
		at++
	}
	h.counts[at]++
	h.sum += seconds
}

// upTo returns how many there are in all, and up to each bound.
func (h *histogram) upTo() (all uint64, upTo map[float64]uint64) {
	upTo = make(map[float64]uint64, len(latency))
	for i, bound := range latency {
		all += h.counts[i]
		upTo[bound] = all
	}
	return all + h.counts[len(latency)], upTo
}

// answered counts a request that ended.
func (m *specialistMetrics) answered(r *Result, total time.Duration) {
	m.mu.Lock()
	e := &m.ended
	if r.Status == 200 {
		e.ok++
	}
	e.total.add(total)
	e.prompt += uint64(max(r.PromptTokens, 0))
	e.completion += uint64(max(r.CompletionTokens, 0))
	if r.CachedTokens != nil {
		e.cached += uint64(max(*r.CachedTokens, 0))
	}
	m.mu.Unlock()
}

// began counts a stream's first token.
func (m *specialistMetrics) began(ttft time.Duration) {
	m.mu.Lock()
	m.ended.ttft.add(ttft)
	m.mu.Unlock()
}

func (m *specialistMetrics) endings() endings {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// specialists are the metrics of all that were ever served: a prometheus.Collector.
type specialists struct {
	offered, admitted, ok, tokens, verdicts, hits, ttft, total *prometheus.Desc

	failed *prometheus.CounterVec // the rest of ok's series

	mu  sync.Mutex
	all map[string]*specialistMetrics // guarded by mu
}

const (
	requestsName = "octet_requests_total"
	requestsHelp = "Requests that ended, by specialist and HTTP status."
)

func newSpecialists() *specialists {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"specialist"}, labels...), nil)
	}
	return &specialists{
		offered: desc("octet_specialist_offered_total",
			"Requests that a specialist was to answer, by priority: below, at or above 0.", "band"),
		admitted: desc("octet_specialist_admitted_total",
			"Of these, those that got a place at a replica; far below offered is a specialist, or a priority, that "+
				"starves.", "band"),
		ok:       desc(requestsName, requestsHelp, "status"),
		tokens:   desc("octet_tokens_total", "Tokens, by kind.", "kind"),
		verdicts: desc("octet_verdicts_total", "Verdicts on answers.", "result"),
		hits: desc("octet_predicted_hits_total",
			"Answers for which cached tokens were predicted, by how many of them the engine delivered.", "kept"),
		ttft:   desc("octet_ttft_seconds", "Arrival to first token of streamed answers."),
		total:  desc("octet_request_duration_seconds", "Arrival to the end of the answer."),
		failed: counters(requestsName, requestsHelp, "specialist", "status"),
		all:    map[string]*specialistMetrics{},
	}
}

// of returns a specialist's: the same for every generation of the configuration.
func (s *specialists) of(name string) *specialistMetrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.all[name]
	if m == nil {
		m = &specialistMetrics{since: time.Now()}
		s.all[name] = m
	}
	return m
}

// Describe implements prometheus.Collector.
func (s *specialists) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.offered, s.admitted, s.ok, s.tokens, s.verdicts, s.hits, s.ttft, s.total} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *specialists) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	all := maps.Clone(s.all)
	s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.collect(to, name, all[name])
	}
	s.failed.Collect(to)
}

func (s *specialists) collect(to chan<- prometheus.Metric, name string, m *specialistMetrics) {
	count := func(d *prometheus.Desc, n uint64, label string) {
		to <- prometheus.MustNewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, float64(n), m.since, name,
			label)
	}
	for i, band := range bands {
		count(s.offered, m.offered[i].Load(), band)
		count(s.admitted, m.admitted[i].Load(), band)
	}
	count(s.verdicts, m.pass.Load(), "pass")
	count(s.verdicts, m.fail.Load(), "fail")
	hits := m.predicted.Read()
	count(s.hits, hits.All, keptAll)
	count(s.hits, hits.Part, keptPart)
	count(s.hits, hits.None, keptNone)
	e := m.endings()
	count(s.ok, e.ok, "200")
	count(s.tokens, e.prompt, "prompt")
	count(s.tokens, e.completion, "completion")
	count(s.tokens, e.cached, "cached")
	for d, h := range map[*prometheus.Desc]*histogram{s.ttft: &e.ttft, s.total: &e.total} {
		n, upTo := h.upTo()
		to <- prometheus.MustNewConstHistogramWithCreatedTimestamp(d, n, h.sum, upTo, m.since, name)
	}
}
