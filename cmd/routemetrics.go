package cmd

import (
	"context"
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

// routeMetrics are the series of routing decisions. Labels are names from the configuration and of plugins, nothing of a client.
type routeMetrics struct {
	attempts *prometheus.CounterVec   // status, model, pod, namespace, port
	total    *prometheus.HistogramVec // specialist
	plugin   *prometheus.HistogramVec // extension_point, plugin_type, plugin_name
	ratio    *prometheus.HistogramVec // specialist
	bytes    *prometheus.HistogramVec // specialist
}

func newRouteMetrics() *routeMetrics {
	quick := prometheus.ExponentialBuckets(1e-6, 4, 10) // 1 µs to 0.26 s
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	return &routeMetrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "octet_scheduler_attempts_total", Help: "Routing decisions, by outcome and by the replica that was picked."},
			[]string{"status", "model", "pod", "namespace", "port"}),
		total:  histogram("octet_scheduler_e2e_duration_seconds", "Time of a whole routing decision.", quick, "specialist"),
		plugin: histogram("octet_plugin_duration_seconds", "Time of one plugin in one decision, of a thousand decisions a second at most.", quick, "extension_point", "plugin_type", "plugin_name"),
		ratio: histogram("octet_prefix_indexer_hit_ratio", "Share of the prompt's blocks that the picked replica is believed to hold.",
			[]float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, .99}, "specialist"),
		bytes: histogram("octet_prefix_indexer_hit_bytes", "About how much of the prompt the picked replica is believed to hold.",
			prometheus.ExponentialBuckets(256, 4, 9), "specialist"),
	}
}

func (m *routeMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.attempts, m.total, m.plugin, m.ratio, m.bytes}
}

// forget drops the series of a replica that has gone, so that replicas that come and go leave nothing behind.
func (m *routeMetrics) forget(replica string) {
	m.attempts.DeletePartialMatch(prometheus.Labels{"pod": replica})
}

// measured is a Workflow that is watched. What it does is the other's.
type measured struct {
	routing.Workflow
	specialist         string
	vec                *prometheus.CounterVec // attempts
	failed             prometheus.Counter
	total, ratio, size prometheus.Observer
	plugins            map[pluginKey]prometheus.Observer         // never changed
	pods               [index.MaxHosts]atomic.Pointer[podSeries] // who was picked before
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

// measure wraps the workflow of a specialist, made of these profiles.
func (m *routeMetrics) measure(specialist string, w routing.Workflow, profiles ...*routing.Profile) routing.Workflow {
	d := &measured{
		Workflow: w, specialist: specialist, vec: m.attempts, failed: m.attempts.WithLabelValues("failure", specialist, "", "", ""),
		total: m.total.WithLabelValues(specialist), ratio: m.ratio.WithLabelValues(specialist), size: m.bytes.WithLabelValues(specialist),
		plugins: map[pluginKey]prometheus.Observer{},
	}
	for _, p := range profiles {
		for _, s := range p.Stats() {
			d.plugins[pluginKey{s.Stage, s.Plugin}] = m.plugin.WithLabelValues(string(s.Stage), s.Plugin, s.Plugin)
		}
	}
	return d
}

// Plan implements routing.Workflow. A dry request counts nowhere.
func (d *measured) Plan(ctx context.Context, c *routing.Context) (routing.Plan, error) {
	start := c.View().Facts().Now
	plan, err := d.Workflow.Plan(ctx, c)
	if c.View().Facts().Dry {
		return plan, err
	}
	d.total.Observe(time.Since(start).Seconds())
	c.EachLap(func(stage routing.Stage, plugin string, took time.Duration) {
		if series := d.plugins[pluginKey{stage, plugin}]; series != nil {
			series.Observe(took.Seconds())
		}
	})
	if err != nil {
		d.failed.Inc()
		return plan, err
	}
	d.picked(c.View(), plan.Steps[len(plan.Steps)-1].Ranked[0].Host)
	return plan, nil
}

// picked counts the replica that is to answer, and what it holds of the prompt.
func (d *measured) picked(v routing.View, h index.HostID) {
	snapshot := plugins.Fleet.Get(v)
	if r := snapshot.Replica(h); r != nil {
		d.pod(h, r).Inc()
	}
	if depths := plugins.Depths.Get(v); depths != nil {
		if blocks := len(plugins.BlockHashes.Get(v)); blocks > 0 {
			d.ratio.Observe(float64(depths[h]) / float64(blocks))
			d.size.Observe(float64(int(depths[h]) * snapshot.BlockSize() * bytesPerToken))
		}
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
