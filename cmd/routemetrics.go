package cmd

import (
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// bytesPerToken is what a token of a prompt is taken to be, where bytes are asked for and tokens are known.
const bytesPerToken = 4

// routeMetrics are the series of routing decisions. Labels are names from the configuration and of plugins, nothing of
// a client.
type routeMetrics struct {
	attempts  *prometheus.CounterVec   // status, model, pod, namespace, port
	plugin    *prometheus.HistogramVec // extension_point, plugin_type, plugin_name
	decisions *decisions
}

func newRouteMetrics() *routeMetrics {
	quick := prometheus.ExponentialBuckets(1e-6, 4, 10) // 1 µs to 0.26 s
	return &routeMetrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octet_scheduler_attempts_total",
			Help: "Routing decisions, by outcome and by the replica that was picked."},
			[]string{"status", "model", "pod", "namespace", "port"}),
		plugin: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "octet_plugin_duration_seconds",
			Help: "Time of one plugin in one decision, of a thousand decisions a second at most.", Buckets: quick},
			[]string{"extension_point", "plugin_type", "plugin_name"}),
		decisions: newDecisions(quick),
	}
}

func (m *routeMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.attempts, m.plugin, m.decisions}
}

// forget drops the series of a replica that has gone, so that replicas that come and go leave nothing behind.
func (m *routeMetrics) forget(replica string) {
	m.attempts.DeletePartialMatch(prometheus.Labels{"pod": replica})
}

// measured takes note of one specialist's decisions.
type measured struct {
	specialist string
	vec        *prometheus.CounterVec // attempts
	failed     prometheus.Counter
	decided    *decided
	plugins    map[pluginKey]prometheus.Observer         // never changed
	pods       [index.MaxHosts]atomic.Pointer[podSeries] // who was picked before
}

type pluginKey struct {
	stage  routing.Stage
	plugin string
}

// podSeries is the counter of one replica.
type podSeries struct {
	replica *fleet.Replica
	picked  prometheus.Counter
}

// measure returns who takes note of the decisions of a specialist's workflow, made of these profiles.
func (m *routeMetrics) measure(specialist string, profiles ...*routing.Profile) *measured {
	d := &measured{
		specialist: specialist, vec: m.attempts, failed: m.attempts.WithLabelValues("failure", specialist, "", "", ""),
		decided: m.decisions.of(specialist), plugins: map[pluginKey]prometheus.Observer{},
	}
	for _, p := range profiles {
		for _, s := range p.Stats() {
			d.plugins[pluginKey{s.Stage, s.Plugin}] = m.plugin.WithLabelValues(string(s.Stage), s.Plugin, s.Plugin)
		}
	}
	return d
}

// planned takes note of a decision that counts, and of how long it took.
func (d *measured) planned(c *routing.Context, plan routing.Plan, err error, took time.Duration) {
	if c.Timed() {
		c.EachLap(d.lap)
	}
	if err != nil {
		d.decided.without(took)
		d.failed.Inc()
		return
	}
	h, v := plan.Steps[len(plan.Steps)-1].Ranked[0].Host, c.View()
	snapshot := plugins.Fleet.Get(v)
	if r := snapshot.Replica(h); r != nil {
		d.pod(h, r).Inc()
	}
	depths, blocks := plugins.Depths.Get(v), len(plugins.BlockHashes.Get(v))
	if depths == nil || blocks == 0 {
		d.decided.without(took)
		return
	}
	held := int(depths[h])
	d.decided.with(took, float64(held)/float64(blocks), held*snapshot.BlockSize()*bytesPerToken)
}

func (d *measured) lap(stage routing.Stage, plugin string, took time.Duration) {
	if series := d.plugins[pluginKey{stage, plugin}]; series != nil {
		series.Observe(took.Seconds())
	}
}

func (d *measured) pod(h index.HostID, r *fleet.Replica) prometheus.Counter {
	if s := d.pods[h].Load(); s != nil && s.replica == r {
		return s.picked
	}
	spec, port := r.Spec(), ""
	if u, err := url.Parse(spec.URL); err == nil {
		port = u.Port()
	}
	s := &podSeries{r, d.vec.WithLabelValues("success", d.specialist, spec.Name, spec.Labels["namespace"], port)}
	d.pods[h].Store(s)
	return s.picked
}
