package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/app/discovery"
)

// Discovery reads what sources of replicas have found at a scrape.
type Discovery struct {
	Standings func() []discovery.Standing
	Plan      func() *discovery.Plan // in force
}

var (
	sourceUpDesc = desc("octet_discovery_up",
		"1 while a source of replicas can be asked; what it found last stays in force while it cannot.", "specialist",
		"source")
	sourceFoundDesc   = desc("octet_discovery_replicas", "Replicas that a source found last.", "specialist", "source")
	sourceRefusedDesc = desc("octet_discovery_refused",
		"What a source found last and is left out: it has faults, is found twice, or there are too many.", "specialist",
		"source")
	sourceFailuresDesc = desc("octet_discovery_failures_total", "Times that a source could not be asked.",
		"specialist", "source")
	leftDesc    = desc("octet_discovery_left", "Replicas that are found no more, and are kept for a while.")
	pendingDesc = desc("octet_discovery_pending", "Replicas that are listed or found and wait for a slot.")
)

// Describe implements prometheus.Collector.
func (d Discovery) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{sourceUpDesc, sourceFoundDesc, sourceRefusedDesc, sourceFailuresDesc,
		leftDesc, pendingDesc} {
		out <- one
	}
}

// Collect implements prometheus.Collector.
func (d Discovery) Collect(out chan<- prometheus.Metric) {
	plan := d.Plan()
	for _, s := range d.Standings() {
		up := 1.0
		if s.Failing != nil {
			up = 0
		}
		refused := len(s.Set.Refused) + len(plan.Refused[s.Specialist][s.Source])
		gauge(out, sourceUpDesc, up, s.Specialist, s.Source)
		gauge(out, sourceFoundDesc, float64(len(s.Set.Replicas)), s.Specialist, s.Source)
		gauge(out, sourceRefusedDesc, float64(refused), s.Specialist, s.Source)
		count(out, sourceFailuresDesc, s.Failures, s.Specialist, s.Source)
	}
	gauge(out, leftDesc, float64(len(plan.Left)))
	gauge(out, pendingDesc, float64(plan.Pending))
}
