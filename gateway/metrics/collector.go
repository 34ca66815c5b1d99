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
	offered, admitted, ok, faults, tokens, verdicts, deadlines, hits, hitTokens, routed, ttft,
	total *prometheus.Desc

	failed *prometheus.CounterVec // the rest of ok's series

	mu  sync.Mutex
	all map[string]*Specialist // guarded by mu
}

const (
	requestsName = "octet_requests_total"
	requestsHelp = "Requests that ended, by specialist and HTTP status."
	faultsName   = "octet_server_faults_total"
	faultsHelp   = "Of these, those that failed for a server's fault: with a status of 5xx, or after status 200, as " +
		"the answer broke off. Deadlines that clients have set and that pass are none."
)

// failures are the statuses of server's faults. A specialist has all of them from the beginning, at 0: an outage that
// begins and ends between two scrapes would be no increase of a series that it begins.
var failures = [...]string{"500", "502", "503", "504"}

func newCollector() *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"specialist"}, labels...), nil)
	}
	return &collector{
		offered: desc("octet_specialist_offered_total",
			"Requests that got a place at a replica of a specialist, or ended there without one, by priority: below, "+
				"at or above 0. What a second choice answers is of that one.", "band"),
		admitted: desc("octet_specialist_admitted_total",
			"Of these, those that got a place at a replica; far below offered is a specialist, or a priority, that "+
				"starves.", "band"),
		ok:       desc(requestsName, requestsHelp, "status"),
		faults:   desc(faultsName, faultsHelp),
		tokens:   desc("octet_tokens_total", "Tokens, by kind.", "kind"),
		verdicts: desc("octet_verdicts_total", "Verdicts on answers.", "result"),
		deadlines: desc("octet_deadlines_total",
			"Requests that had declared a deadline, by priority: met, or missed; those that were refused or failed "+
				"before it count as neither.", "band", "result"),
		hits: desc("octet_predicted_hits_total",
			"Answers for which cached tokens were predicted, by how many of them the engine delivered.", "kept"),
		hitTokens: desc("octet_hit_tokens_total",
			"Tokens of prompts in the prefix cache, of answers whose engine tells them: predicted when the replica "+
				"was picked, and delivered.", "kind"),
		routed: desc("octet_routed_tokens_total",
			"Tokens of prompts that picked replicas had to compute, as the index had it: of these, regret are those "+
				"that another eligible replica held. regret / computed is the share that a better pick would have "+
				"saved.", "kind"),
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
		for _, status := range failures {
			s.failed.WithLabelValues(name, status)
		}
		s.all[name] = m
	}
	return m
}

// Describe implements prometheus.Collector.
func (s *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.offered, s.admitted, s.ok, s.faults, s.tokens, s.verdicts, s.deadlines,
		s.hits, s.hitTokens, s.routed, s.ttft, s.total} {
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
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, float64(n), m.since,
			append([]string{name}, labels...)...)
	}
	for i, band := range bands {
		count(s.offered, m.offered[i].Load(), band)
		count(s.admitted, m.admitted[i].Load(), band)
		count(s.deadlines, m.met[i].Load(), band, "met")
		count(s.deadlines, m.missed[i].Load(), band, "missed")
	}
	count(s.verdicts, m.pass.Load(), "pass")
	count(s.verdicts, m.fail.Load(), "fail")
	hits := m.Predicted.Read()
	count(s.hits, hits.All, keptAll)
	count(s.hits, hits.Part, keptPart)
	count(s.hits, hits.None, keptNone)
	predicted, delivered := m.Predicted.Tokens()
	count(s.hitTokens, predicted, "predicted")
	count(s.hitTokens, delivered, "delivered")
	count(s.routed, m.computed.Load(), "computed")
	count(s.routed, m.lost.Load(), "regret")
	e := m.endings()
	count(s.ok, e.ok, "200")
	count(s.faults, e.faults)
	count(s.tokens, e.prompt, "prompt")
	count(s.tokens, e.completion, "completion")
	count(s.tokens, e.cached, "cached")
	for d, h := range map[*prometheus.Desc]*histogram{s.ttft: &e.ttft, s.total: &e.total} {
		n, upTo := h.upTo()
		to <- prometheus.MustNewConstHistogramWithCreatedTimestamp(d, n, h.sum, upTo, m.since, name)
	}
}
