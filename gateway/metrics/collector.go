package metrics

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collector exposes the counts of all specialists that were ever served: a prometheus.Collector.
type collector struct {
	offered, admitted, ok, tokens, verdicts, deadlines, hits, ttft, total *prometheus.Desc

	failed *prometheus.CounterVec // the rest of ok's series

	mu  sync.Mutex
	all map[string]*Specialist // guarded by mu
}

const (
	requestsName = "octet_requests_total"
	requestsHelp = "Requests that ended, by specialist and HTTP status."
)

func newCollector() *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"specialist"}, labels...), nil)
	}
	return &collector{
		offered: desc("octet_specialist_offered_total",
			"Requests that a specialist was to answer, by priority: below, at or above 0.", "band"),
		admitted: desc("octet_specialist_admitted_total",
			"Of these, those that got a place at a replica; far below offered is a specialist, or a priority, that "+
				"starves.", "band"),
		ok:       desc(requestsName, requestsHelp, "status"),
		tokens:   desc("octet_tokens_total", "Tokens, by kind.", "kind"),
		verdicts: desc("octet_verdicts_total", "Verdicts on answers.", "result"),
		deadlines: desc("octet_deadlines_total",
			"Requests that had declared a deadline: met, or missed; those that were refused or failed before it count "+
				"as neither.", "result"),
		hits: desc("octet_predicted_hits_total",
			"Answers for which cached tokens were predicted, by how many of them the engine delivered.", "kept"),
		ttft:   desc("octet_ttft_seconds", "Arrival to first token of streamed answers."),
		total:  desc("octet_request_duration_seconds", "Arrival to the end of the answer."),
		failed: counters(requestsName, requestsHelp, "specialist", "status"),
		all:    map[string]*Specialist{},
	}
}

// of returns a specialist's counts: the same for every generation of the configuration.
func (s *collector) of(name string) *Specialist {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.all[name]
	if m == nil {
		m = &Specialist{name: name, since: time.Now()}
		s.all[name] = m
	}
	return m
}

// Describe implements prometheus.Collector.
func (s *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.offered, s.admitted, s.ok, s.tokens, s.verdicts, s.deadlines, s.hits, s.ttft,
		s.total} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *collector) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	all := maps.Clone(s.all)
	s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.collect(to, name, all[name])
	}
	s.failed.Collect(to)
}

func (s *collector) collect(to chan<- prometheus.Metric, name string, m *Specialist) {
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
	count(s.deadlines, m.met.Load(), "met")
	count(s.deadlines, m.missed.Load(), "missed")
	hits := m.Predicted.Read()
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
