package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/app/sleepers"
)

// Sleepers tells of requests that are held and of replicas that are woken, at the moment of a scrape. It is a
// prometheus.Collector.
type Sleepers struct{ States func() []sleepers.State }

var (
	heldDesc = prometheus.NewDesc("octet_held_requests", "Requests that wait for a replica to wake or to appear.",
		[]string{"specialist"}, nil)
	wakeupsDesc = prometheus.NewDesc("octet_wakeups_total",
		"Wake-ups that were asked for held requests: woke, failed.", []string{"specialist", "result"}, nil)
	wakeTimeDesc = prometheus.NewDesc("octet_wake_seconds", "Time from a wake-up until a replica serves, as measured.",
		[]string{"specialist"}, nil)
	sleepsDesc = prometheus.NewDesc("octet_sleeps_total", "Idle replicas that were put to sleep.",
		[]string{"specialist"}, nil)
)

// Describe implements prometheus.Collector.
func (c Sleepers) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heldDesc, wakeupsDesc, wakeTimeDesc, sleepsDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c Sleepers) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.States() {
		count := func(d *prometheus.Desc, n uint64, labels ...string) {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n),
				append([]string{s.Specialist}, labels...)...)
		}
		gauge(out, heldDesc, float64(s.Held), s.Specialist)
		count(wakeupsDesc, s.Woken, "woke")
		count(wakeupsDesc, s.Failed, "failed")
		count(sleepsDesc, s.Rested)
		if s.WakeTime > 0 {
			gauge(out, wakeTimeDesc, s.WakeTime.Seconds(), s.Specialist)
		}
	}
}
