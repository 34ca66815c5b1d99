package collectors

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// decisions are the distributions of all specialists' decisions. Each decision is in up to three of them, so they are
// counted together, under one lock, and made into metrics at a scrape.
type decisions struct {
	total, ratio, bytes *prometheus.Desc // specialist
	bounds              [distributions][]float64

	mu  sync.Mutex
	all map[string]*decided // by specialist; guarded by mu
}

const (
	ofTime = iota // seconds
	ofRatio
	ofBytes
	distributions
)

// decided counts the decisions of one specialist.
type decided struct {
	mu     sync.Mutex
	counts [distributions]distribution // guarded by mu
}

// distribution counts values, each under the smallest bound that is not below it.
type distribution struct {
	bounds []float64 // ascending; never changed
	counts []uint64  // one more than bounds
	sum    float64
}

func (d *distribution) add(value float64) {
	at, half := 0, len(d.bounds)/2
	if value > d.bounds[half] {
		at = half + 1
	}
	for at < len(d.bounds) && !(value <= d.bounds[at]) {
		at++
	}
	d.counts[at]++
	d.sum += value
}

func newDecisions(quick []float64) *decisions {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"specialist"}, nil)
	}
	return &decisions{
		total: desc("octet_scheduler_e2e_duration_seconds", "Time of a whole routing decision."),
		ratio: desc("octet_prefix_indexer_hit_ratio",
			"Share of the prompt's blocks that the picked replica is believed to hold."),
		bytes: desc("octet_prefix_indexer_hit_bytes",
			"About how much of the prompt the picked replica is believed to hold."),
		bounds: [distributions][]float64{
			ofTime: quick, ofRatio: {0, .1, .2, .3, .4, .5, .6, .7, .8, .9, .99},
			ofBytes: prometheus.ExponentialBuckets(256, 4, 9),
		},
		all: map[string]*decided{},
	}
}

// of returns the counts of a specialist: the same for every generation of the configuration.
func (m *decisions) of(specialist string) *decided {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.all[specialist]
	if d == nil {
		d = &decided{}
		for i, bounds := range m.bounds {
			d.counts[i] = distribution{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
		}
		m.all[specialist] = d
	}
	return d
}

// without counts a decision of which only the duration is known.
func (d *decided) without(took time.Duration) {
	d.mu.Lock()
	d.counts[ofTime].add(took.Seconds())
	d.mu.Unlock()
}

// with counts a decision, and what of the prompt the picked replica is believed to hold.
func (d *decided) with(took time.Duration, ratio float64, bytes int) {
	d.mu.Lock()
	d.counts[ofTime].add(took.Seconds())
	d.counts[ofRatio].add(ratio)
	d.counts[ofBytes].add(float64(bytes))
	d.mu.Unlock()
}

// Describe implements prometheus.Collector.
func (m *decisions) Describe(to chan<- *prometheus.Desc) { to <- m.total; to <- m.ratio; to <- m.bytes }

// Collect implements prometheus.Collector.
func (m *decisions) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	all := maps.Clone(m.all)
	m.mu.Unlock()
	for _, specialist := range slices.Sorted(maps.Keys(all)) {
		now := all[specialist].copied()
		for i, desc := range []*prometheus.Desc{ofTime: m.total, ofRatio: m.ratio, ofBytes: m.bytes} {
			count, upTo := now[i].cumulated()
			to <- prometheus.MustNewConstHistogram(desc, count, now[i].sum, upTo, specialist)
		}
	}
}

func (d *decided) copied() [distributions]distribution {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.counts
	for i := range now {
		now[i].counts = slices.Clone(now[i].counts)
	}
	return now
}

// cumulated returns how many values there were, and how many of them up to each bound.
func (d *distribution) cumulated() (count uint64, upTo map[float64]uint64) {
	upTo = make(map[float64]uint64, len(d.bounds))
	for i, bound := range d.bounds {
		count += d.counts[i]
		upTo[bound] = count
	}
	return count + d.counts[len(d.bounds)], upTo
}
