package collectors

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"octet/adapters"
)

// Adapters reads what keepers of adapters have done, at a scrape.
type Adapters struct {
	Of func() map[string]*adapters.Keeper // by specialist
}

var (
	adapterLoadsDesc = desc("octet_adapter_loads_total", "Adapters that engines have loaded, or failed to.",
		"specialist", "outcome")
	adapterUnloadsDesc = desc("octet_adapter_unloads_total",
		"Adapters that engines were told to unload, by why: to make room for another (evicted), as their load is less "+
			"(unneeded), as another edition is in force (replaced), as there are fewer slots (overfull).",
		"specialist", "reason")
	adapterRequestsDesc = desc("octet_adapter_requests_total",
		"Requests for an adapter, by whether it was loaded where they went (found), was loaded for them (waited), "+
			"could not be (refused), or not in time (late).", "specialist", "outcome")
	adapterWaitingDesc = desc("octet_adapter_waiting", "Requests that wait for an adapter to be loaded.", "specialist")
	adapterLoadedDesc  = desc("octet_adapter_loaded", "Adapters that are loaded, over all replicas.", "specialist")
)

var unloadReasons = [adapters.Causes]string{adapters.ForRoom: "evicted", adapters.Unneeded: "unneeded",
	adapters.Replaced: "replaced", adapters.Overfull: "overfull"}

// Describe implements prometheus.Collector.
func (Adapters) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{adapterLoadsDesc, adapterUnloadsDesc, adapterRequestsDesc, adapterWaitingDesc,
		adapterLoadedDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (a Adapters) Collect(out chan<- prometheus.Metric) {
	keepers := a.Of()
	for _, sp := range slices.Sorted(maps.Keys(keepers)) {
		c := keepers[sp].Counts()
		counter(out, adapterLoadsDesc, c.Loads, sp, "loaded")
		counter(out, adapterLoadsDesc, c.Failures, sp, "failed")
		for why, n := range c.Unloads {
			counter(out, adapterUnloadsDesc, n, sp, unloadReasons[why])
		}
		counter(out, adapterRequestsDesc, c.Found, sp, "found")
		counter(out, adapterRequestsDesc, c.Waited, sp, "waited")
		counter(out, adapterRequestsDesc, c.Refused, sp, "refused")
		counter(out, adapterRequestsDesc, c.Late, sp, "late")
		gauge(out, adapterWaitingDesc, float64(c.Waiting), sp)
		gauge(out, adapterLoadedDesc, float64(c.Loaded), sp)
	}
}

func counter(out chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}
