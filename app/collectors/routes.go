package collectors

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

// bytesPerToken is the assumed length of a prompt's token, for metrics in bytes.
const bytesPerToken = 4

// Routes are the series of routing decisions. Labels are names of the configuration and of plugins, never a client's.
type Routes struct {
	attempts  *prometheus.CounterVec   // status, model, pod, namespace, port
	plugin    *prometheus.HistogramVec // extension_point, plugin_type, plugin_name
	decisions *decisions
}

// NewRoutes returns series without samples.
func NewRoutes() *Routes {
	quick := prometheus.ExponentialBuckets(1e-6, 4, 10) // 1 µs to 0.26 s
	return &Routes{
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

// Collectors returns all series.
func (m *Routes) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.attempts, m.plugin, m.decisions}
}

// Forget drops the series of a replica that has gone, so that replicas that come and go leave nothing behind.
func (m *Routes) Forget(replica string) {
	m.attempts.DeletePartialMatch(prometheus.Labels{"pod": replica})
}

// Route counts one specialist's decisions.
type Route struct {
	specialist string
	vec        *prometheus.CounterVec // attempts
	failed     prometheus.Counter
	decided    *decided
	plugins    map[pluginKey]prometheus.Observer         // never changed
	pods       [index.MaxHosts]atomic.Pointer[podSeries] // of replicas that were picked before
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

// Of returns what counts the decisions of a specialist's workflow, made of these profiles.
func (m *Routes) Of(specialist string, profiles ...*routing.Profile) *Route {
	d := &Route{
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

// Planned counts a decision and how long it took.
func (d *Route) Planned(c *routing.Context, plan routing.Plan, err error, took time.Duration) {
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

func (d *Route) lap(stage routing.Stage, plugin string, took time.Duration) {
	if series := d.plugins[pluginKey{stage, plugin}]; series != nil {
		series.Observe(took.Seconds())
	}
}

func (d *Route) pod(h index.HostID, r *fleet.Replica) prometheus.Counter {
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
