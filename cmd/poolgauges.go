package cmd

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"octet/routing"
	"octet/routing/approx"
	"octet/routing/fleet"
	"octet/routing/index"
)

// poolGauges read the fleet and the plugins' own counts at the moment of a scrape.
type poolGauges struct {
	fleet    *fleet.Fleet
	index    index.Indexer
	guesses  *approx.Index
	patterns *atomic.Pointer[map[string]pattern] // by specialist; of the configuration in force
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	readyDesc  = desc("octet_pool_ready_pods", "Replicas that are healthy and not draining.", "specialist")
	meanKVDesc = desc("octet_pool_average_kv_cache_utilization", "Mean used part of the replicas' KV pools.",
		"specialist")
	meanQueueDesc = desc("octet_pool_average_queue_size", "Mean number of requests waiting for a replica.",
		"specialist")
	podQueueDesc = desc("octet_pool_per_pod_queue_size", "Requests waiting for a replica.", "specialist", "replica")
	meanRunDesc  = desc("octet_pool_average_running_requests",
		"Mean number of requests that a replica's engine is batching.", "specialist")
	backlogDesc = desc("octet_replica_backlog_tokens",
		"Prompt tokens on their way to a replica that it has yet to compute, as predicted.", "specialist", "replica")
	inFlightDesc = desc("octet_replica_tokens_in_flight",
		"Tokens, of prompts and answers, of the requests at a replica.", "specialist", "replica")
	sizeDesc = desc("octet_prefix_indexer_size",
		"Blocks that are known to be held (exact), and replicas' blocks that are guessed to be since they were "+
			"routed there.", "index")
	panicsDesc = desc("octet_plugin_panics_total", "Panics of a plugin; each was one request's 500.", "specialist",
		"extension_point", "plugin_name")
	outOfRangeDesc = desc("octet_plugin_scores_clamped_total",
		"Scores outside of 0 … 1, not a number included, that were clamped.", "specialist", "extension_point",
		"plugin_name")
)

// Describe implements prometheus.Collector.
func (g poolGauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{readyDesc, meanKVDesc, meanQueueDesc, podQueueDesc, meanRunDesc, backlogDesc,
		inFlightDesc, sizeDesc, panicsDesc, outOfRangeDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g poolGauges) Collect(out chan<- prometheus.Metric) {
	emit(out, sizeDesc, prometheus.GaugeValue, float64(g.index.Stats().Entries), "exact")
	emit(out, sizeDesc, prometheus.GaugeValue, float64(g.guesses.Stats().Blocks), "guessed")
	for specialist, p := range *g.patterns.Load() {
		g.pool(out, specialist)
		for _, s := range pluginStats(p.profiles) {
			emit(out, panicsDesc, prometheus.CounterValue, float64(s.Panics), specialist, string(s.Stage), s.Plugin)
			if s.Stage == routing.StageScore {
				emit(out, outOfRangeDesc, prometheus.CounterValue, float64(s.OutOfRange), specialist, string(s.Stage),
					s.Plugin)
			}
		}
	}
}

func (g poolGauges) pool(out chan<- prometheus.Metric, specialist string) {
	snapshot := g.fleet.Snapshot(specialist)
	var kv, waiting, running float64
	for h := range snapshot.Hosts.All() {
		r := snapshot.Replica(h)
		l := r.Load()
		kv, waiting, running = kv+l.KVUsage, waiting+float64(l.Waiting), running+float64(l.Running)
		name := r.Spec().Name
		emit(out, podQueueDesc, prometheus.GaugeValue, float64(l.Waiting), specialist, name)
		emit(out, backlogDesc, prometheus.GaugeValue, float64(l.Backlog), specialist, name)
		emit(out, inFlightDesc, prometheus.GaugeValue, float64(l.Tokens), specialist, name)
	}
	emit(out, readyDesc, prometheus.GaugeValue, float64(snapshot.Available().Count()), specialist)
	if n := float64(snapshot.Len()); n > 0 {
		emit(out, meanKVDesc, prometheus.GaugeValue, kv/n, specialist)
		emit(out, meanQueueDesc, prometheus.GaugeValue, waiting/n, specialist)
		emit(out, meanRunDesc, prometheus.GaugeValue, running/n, specialist)
	}
}

func emit(out chan<- prometheus.Metric, d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, kind, v, labels...)
}

// pluginStats adds up what the profiles of one specialist count: a plugin in several of them is one series.
func pluginStats(profiles []*routing.Profile) (all []routing.PluginStats) {
	for _, p := range profiles {
		for _, s := range p.Stats() {
			i := slices.IndexFunc(all,
				func(o routing.PluginStats) bool { return o.Stage == s.Stage && o.Plugin == s.Plugin })
			if i < 0 {
				all = append(all, s)
				continue
			}
			all[i].Panics += s.Panics
			all[i].OutOfRange += s.OutOfRange
		}
	}
	return all
}
