package collectors

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"octet/routing"
	"octet/routing/approx"
	"octet/routing/fleet"
	"octet/routing/index"
)

// Pools reads the fleet and the plugins' own counts at a scrape.
type Pools struct {
	Fleet    *fleet.Fleet
	Index    index.Indexer
	Guesses  *approx.Index
	Profiles func() map[string][]*routing.Profile // by specialist; of the configuration in force
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
func (g Pools) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{readyDesc, meanKVDesc, meanQueueDesc, podQueueDesc, meanRunDesc, backlogDesc,
		inFlightDesc, sizeDesc, panicsDesc, outOfRangeDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g Pools) Collect(out chan<- prometheus.Metric) {
	gauge(out, sizeDesc, float64(g.Index.Stats().Entries), "exact")
	gauge(out, sizeDesc, float64(g.Guesses.Stats().Blocks), "guessed")
	for specialist, profiles := range g.Profiles() {
		g.pool(out, specialist)
		for _, s := range pluginStats(profiles) {
			count(out, panicsDesc, s.Panics, specialist, string(s.Stage), s.Plugin)
			if s.Stage == routing.StageScore {
				count(out, outOfRangeDesc, s.OutOfRange, specialist, string(s.Stage),
					s.Plugin)
			}
		}
	}
}

func (g Pools) pool(out chan<- prometheus.Metric, specialist string) {
	snapshot := g.Fleet.Snapshot(specialist)
	var kv, waiting, running float64
	for h := range snapshot.Hosts.All() {
		r := snapshot.Replica(h)
		l := r.Load()
		kv, waiting, running = kv+l.KVUsage, waiting+float64(l.Waiting), running+float64(l.Running)
		name := r.Spec().Name
		gauge(out, podQueueDesc, float64(l.Waiting), specialist, name)
		gauge(out, backlogDesc, float64(l.Backlog), specialist, name)
		gauge(out, inFlightDesc, float64(l.Tokens), specialist, name)
	}
	gauge(out, readyDesc, float64(snapshot.Available().Count()), specialist)
	if n := float64(snapshot.Len()); n > 0 {
		gauge(out, meanKVDesc, kv/n, specialist)
		gauge(out, meanQueueDesc, waiting/n, specialist)
		gauge(out, meanRunDesc, running/n, specialist)
	}
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
