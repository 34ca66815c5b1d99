package metrics

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

const (
	foldedName = "octet_metrics_folded_series"
	foldedHelp = "Label sets that metrics.max_series keeps off this page: counters and histograms are summed as " +
		"\"other\", gauges are left out."
)

// Bounded returns a gatherer of all series, of at most most() lines; zero means no limit.
//
// Labels come from the configuration and from closed lists, so what the series hold in memory is bounded already, by
// the configuration. This bounds what a scrape and its reader have to hold.
func (m *Series) Bounded(most func() int) prometheus.Gatherer {
	return &bounded{from: m.registry, most: most, seed: maphash.MakeSeed()}
}

// bounded is a prometheus.Gatherer that gives each family the same number of lines, where all of them do not fit:
// small families stay whole. Within a family the series that came first keep their own lines from scrape to scrape.
// Label values of the further ones become "other": of as few labels as it takes, those with the most values first.
// Counters and histograms are summed, and at least one of them keeps its own line, so that "other" is never the sum of
// all. Gauges are left out: a sum of states or of percentiles says nothing.
type bounded struct {
	from prometheus.Gatherer
	most func() int
	seed maphash.Seed

	arrivedMu sync.Mutex
	// number in the order of arrival, of each series of the last scrape; guarded by arrivedMu
	arrived  map[uint64]uint64
	arrivals uint64 // guarded by arrivedMu
}

// Gather implements prometheus.Gatherer.
func (b *bounded) Gather() ([]*dto.MetricFamily, error) {
	families, err := b.from.Gather()
	b.arrivedMu.Lock()
	defer b.arrivedMu.Unlock()
	b.arrive(families)
	folded := 0
	if most := b.most(); most > 0 {
		room := share(families, most-1) // one line is foldedName's
		for _, f := range families {
			if lines(f) > room {
				folded += b.fold(f, room)
			}
		}
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 })
	at, _ := slices.BinarySearchFunc(families, foldedName,
		func(f *dto.MetricFamily, name string) int { return strings.Compare(f.GetName(), name) })
	return slices.Insert(families, at, foldedFamily(folded)), err
}

// arrive numbers the series that the last scrape did not have, and forgets those that are gone.
func (b *bounded) arrive(families []*dto.MetricFamily) {
	now := make(map[uint64]uint64, len(b.arrived))
	for _, f := range families {
		for _, m := range f.Metric {
			key := b.key(f, m)
			number, known := b.arrived[key]
			if !known {
				b.arrivals++
				number = b.arrivals
			}
			now[key] = number
		}
	}
	b.arrived = now
}

func (b *bounded) key(f *dto.MetricFamily, m *dto.Metric) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	_, _ = h.WriteString(f.GetName())
	for _, l := range m.Label {
		_ = h.WriteByte(0xff) // in no label value
		_, _ = h.WriteString(l.GetValue())
	}
	return h.Sum64()
}

// fold shortens a family to at most room lines. It returns how many series have no line of their own any more.
func (b *bounded) fold(f *dto.MetricFamily, room int) int {
	units := room / linesOf(f.Metric[0])
	own, labels := units, []int(nil)
	if units > 1 && (f.GetType() == dto.MetricType_COUNTER || f.GetType() == dto.MetricType_HISTOGRAM) {
		var sums int
		labels, sums = foldable(f.Metric, units/2)
		own -= sums
	}
	numbers := make([]uint64, len(f.Metric))
	for i, m := range f.Metric {
		numbers[i] = b.arrived[b.key(f, m)]
	}
	slices.Sort(numbers)
	first := func(m *dto.Metric) bool { return b.arrived[b.key(f, m)] < numbers[own] }
	folded := len(f.Metric) - own
	f.Metric = sumOthers(f.Metric, labels, first)
	return folded
}

// share returns the most lines that a family may have, so that all together have at most most.
func share(families []*dto.MetricFamily, most int) int {
	sizes := make([]int, len(families))
	for i, f := range families {
		sizes[i] = lines(f)
	}
	slices.Sort(sizes)
	for i, n := range sizes {
		if part := most / (len(sizes) - i); n > part {
			return part
		}
		most -= n
	}
	return math.MaxInt
}

func lines(f *dto.MetricFamily) (n int) {
	for _, m := range f.Metric {
		n += linesOf(m)
	}
	return n
}

// linesOf returns the lines of one label set: of a histogram its buckets, the one without a bound, sum and count.
func linesOf(m *dto.Metric) int {
	switch {
	case m.Histogram != nil:
		return len(m.Histogram.Bucket) + 3
	case m.Summary != nil:
		return len(m.Summary.Quantile) + 2
	}
	return 1
}

func foldedFamily(n int) *dto.MetricFamily {
	value := float64(n)
	return &dto.MetricFamily{Name: new(foldedName), Help: new(foldedHelp), Type: dto.MetricType_GAUGE.Enum(),
		Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &value}}}}
}
