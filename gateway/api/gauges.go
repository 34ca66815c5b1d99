package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/ensemble"
)

// Gauges read the state of replicas, Gates and the index at the moment of a scrape: nothing is kept up to date in
// between. They are a prometheus.Collector.
type Gauges struct {
	Current Current
	Index   Index
	Open    func() int64 // requests being answered
	Budget  func() int64 // retries that may be made now
}

var (
	blocksDesc = prometheus.NewDesc("octet_kv_blocks", "Modelled KV blocks; free + used + reserved is the pool.",
		[]string{"specialist", "replica", "state"}, nil)
	requestsDesc = prometheus.NewDesc("octet_replica_requests", "Requests at a replica's Gate.",
		[]string{"specialist", "replica", "state"}, nil)
	admittedDesc = prometheus.NewDesc("octet_admitted_total", "Requests that a replica's Gate admitted.",
		[]string{"specialist", "replica"}, nil)
	offeredDesc = prometheus.NewDesc("octet_offered_total",
		"Requests that a replica's Gate was asked for; admitted far below it is a specialist that starves.",
		[]string{"specialist", "replica"}, nil)
	errorDesc = prometheus.NewDesc("octet_gate_model_error",
		"Part by which the Gate's model and what the engine says differ, smoothed: of the pool, or of a prompt's "+
			"cached tokens.", []string{"specialist", "replica", "of"}, nil)
	withheldDesc = prometheus.NewDesc("octet_gate_withheld_blocks",
		"Reserved blocks that other gateways hold, or that are a margin for the model's error.",
		[]string{"specialist", "replica"}, nil)
	healthyDesc = prometheus.NewDesc("octet_replica_healthy", "1 when the last probes were good.",
		[]string{"specialist", "replica"}, nil)
	withdrawnDesc = prometheus.NewDesc("octet_replica_withdrawn",
		"1 while a replica gets no new requests, as its engine has announced its end, says that it does not serve, or "+
			"publishes no events any more.",
		[]string{"specialist", "replica"}, nil)
	whyDesc = prometheus.NewDesc("octet_replica_out",
		"1 while a replica gets no new requests, by the reason: asleep, loading, model_absent, untrusted, shutdown, "+
			"silent, draining or down.", []string{"specialist", "replica", "why"}, nil)
	breakerDesc = prometheus.NewDesc("octet_replica_breaker",
		"State of a replica's availability breaker: 0 closed, 1 half-open, 2 open.", []string{"specialist", "replica"},
		nil)
	staleDesc = prometheus.NewDesc("octet_index_stale",
		"1 while batches of a replica's events are missing, so that it is known in part.",
		[]string{"specialist", "replica"}, nil)
	entriesDesc = prometheus.NewDesc("octet_index_entries", "Distinct blocks in the index.", nil, nil)
	bytesDesc   = prometheus.NewDesc("octet_index_bytes", "Memory of the index, about.", nil, nil)
	evictedDesc = prometheus.NewDesc("octet_index_evicted_blocks_total",
		"Blocks that the index forgot to make room for others.", nil, nil)
	openDesc   = prometheus.NewDesc("octet_open_requests", "Requests being answered.", nil, nil)
	budgetDesc = prometheus.NewDesc("octet_retry_budget",
		"Retries that may be made now beside those that are free: of the last minute's requests, or those in flight, "+
			"a share, less the retries of that minute.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g Gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{blocksDesc, requestsDesc, admittedDesc, offeredDesc, errorDesc, withheldDesc,
		healthyDesc, withdrawnDesc, whyDesc, breakerDesc, staleDesc, entriesDesc, bytesDesc, evictedDesc, openDesc,
		budgetDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g Gauges) Collect(out chan<- prometheus.Metric) {
	for _, rep := range &g.Current().Replicas {
		if rep != nil {
			g.replica(out, rep)
		}
	}
	st := g.Index.Stats()
	emit(out, entriesDesc, float64(st.Entries))
	emit(out, bytesDesc, float64(st.Bytes))
	out <- prometheus.MustNewConstMetric(evictedDesc, prometheus.CounterValue, float64(st.Evicted))
	emit(out, openDesc, float64(g.Open()))
	emit(out, budgetDesc, float64(g.Budget()))
}

func (g Gauges) replica(out chan<- prometheus.Metric, rep *ensemble.Replica) {
	specialist, st := rep.Fleet.Spec().Specialist, rep.Gate.Stats()
	c := rep.Gate.Calibration()
	for state, n := range map[string]int{"free": st.Free, "used": st.Used, "reserved": st.Reserved,
		"cached": st.Cached} {
		emit(out, blocksDesc, float64(n), specialist, rep.Name, state)
	}
	for state, n := range map[string]int{"waiting": st.Waiting, "running": st.Running, "preempting": st.Preempting} {
		emit(out, requestsDesc, float64(n), specialist, rep.Name, state)
	}
	out <- prometheus.MustNewConstMetric(admittedDesc, prometheus.CounterValue, float64(st.Admitted), specialist,
		rep.Name)
	out <- prometheus.MustNewConstMetric(offeredDesc, prometheus.CounterValue, float64(c.Offered), specialist, rep.Name)
	emit(out, errorDesc, c.ModelError, specialist, rep.Name, "blocks")
	emit(out, errorDesc, c.CacheError, specialist, rep.Name, "cache")
	emit(out, withheldDesc, float64(c.Withheld), specialist, rep.Name)
	emit(out, healthyDesc, flag(rep.Fleet.Healthy()), specialist, rep.Name)
	emit(out, withdrawnDesc, flag(rep.Fleet.Withdrawn()), specialist, rep.Name)
	if why := rep.Fleet.Why(); why != "" {
		emit(out, whyDesc, 1, specialist, rep.Name, string(why))
	}
	emit(out, breakerDesc, breakerStates[rep.Fleet.State()], specialist, rep.Name)
	emit(out, staleDesc, flag(g.Index.Host(rep.Host).Stale), specialist, rep.Name)
}

var breakerStates = map[string]float64{"closed": 0, "half-open": 1, "open": 2}

func emit(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
