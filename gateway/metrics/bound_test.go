package metrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// many has three families that grow with n, and one that does not.
type many struct {
	*Series
	requests *prometheus.CounterVec   // replica, status
	seconds  *prometheus.HistogramVec // replica
	healthy  *prometheus.GaugeVec     // replica
}

func newMany(n int) *many {
	m := &many{Series: &Series{registry: prometheus.NewRegistry()},
		requests: counters("t_requests_total", "x", "replica", "status"),
		seconds:  histograms("t_seconds", "x", []float64{1, 2, 5}, "replica"),
		healthy:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "t_healthy", Help: "x"}, []string{"replica"})}
	open := prometheus.NewGauge(prometheus.GaugeOpts{Name: "t_open", Help: "x"})
	m.registry.MustRegister(m.requests, m.seconds, m.healthy, open)
	m.grow(0, n)
	return m
}

func (m *many) grow(from, to int) {
	for i := from; i < to; i++ {
		replica := fmt.Sprintf("r-%d", 1000-i) // those that come later sort first
		m.requests.WithLabelValues(replica, "200").Add(float64(i + 1))
		m.requests.WithLabelValues(replica, "503").Inc()
		m.seconds.WithLabelValues(replica).Observe(float64(i % 4))
		m.healthy.WithLabelValues(replica).Set(1)
	}
}

// page returns the families by name, and how many lines they have.
func page(t *testing.T, from prometheus.Gatherer) (families map[string]*dto.MetricFamily, size int) {
	t.Helper()
	exposed(t, from) // the text is well formed
	all, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	families = map[string]*dto.MetricFamily{}
	for _, f := range all {
		size += lines(f)
		families[f.GetName()] = f
		seen := map[string]bool{}
		for _, m := range f.Metric {
			if key := foldedKey(m, nil); seen[key] {
				t.Errorf("%s has %q twice", f.GetName(), key)
			} else {
				seen[key] = true
			}
		}
	}
	return families, size
}

func value(f *dto.MetricFamily, labels ...string) (v float64, found bool) {
	for _, m := range f.GetMetric() {
		if foldedKey(m, nil) == strings.Join(append(labels, ""), "\xff") {
			switch {
			case m.Counter != nil:
				return m.Counter.GetValue(), true
			case m.Histogram != nil:
				return float64(m.Histogram.GetSampleCount()), true
			}
			return m.Gauge.GetValue(), true
		}
	}
	return 0, false
}

// GAIE-45: whatever the number of series, the page has at most as many lines as max_series says; counters and
// histograms are summed as "other", and nothing of them is lost.
func TestSeriesBeyondTheBoundFallIntoOther(t *testing.T) {
	for _, most := range []int{100, 150, 400, 1000} {
		m := newMany(200) // 400 + 200 × 6 + 200 + 1 lines
		families, size := page(t, m.Bounded(func() int { return most }))
		if size > most || size < most*8/10 {
			t.Errorf("%d lines, with a bound of %d", size, most)
		}
		requests, seconds := families["t_requests_total"], families["t_seconds"]
		var sum, count, inFirst float64
		for _, one := range requests.Metric {
			sum += one.Counter.GetValue()
		}
		for _, one := range seconds.Metric {
			count += float64(one.Histogram.GetSampleCount())
			inFirst += float64(one.Histogram.Bucket[0].GetCumulativeCount())
		}
		if sum != 200*201/2+200 || count != 200 || inFirst != 100 {
			t.Errorf("bound %d: %v requests, %v durations, %v within 1 s", most, sum, count, inFirst)
		}
		others, _ := value(requests, other, "503")
		if own := float64(200) - others; others == 0 || own == 0 {
			t.Errorf("bound %d: the statuses of others are kept apart, %v of 200 in other", most, others)
		}
		if _, mixed := value(families["t_healthy"], other); mixed {
			t.Error("gauges are summed")
		}
		folded, _ := value(families[foldedName])
		shown := len(requests.Metric) + len(seconds.Metric) + len(families["t_healthy"].Metric)
		if want := float64(800 - shown + 3); folded != want { // three lines are sums
			t.Errorf("bound %d: %v folded, want %v", most, folded, want)
		}
	}
}

// GAIE-45: below the bound, and without one, the page is the registry's.
func TestSeriesWithinTheBoundAreAsTheyAre(t *testing.T) {
	m := newMany(20)
	want := exposed(t, m.registry)
	for _, most := range []int{0, 182, 10000} { // 181 lines and the count of what is folded
		got := exposed(t, m.Bounded(func() int { return most }))
		if len(got) != len(want)+1 || !strings.HasSuffix(got[foldedName], foldedName+" 0\n") {
			t.Errorf("bound %d: %d families, and %q", most, len(got), got[foldedName])
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("bound %d: %s is\n%s", most, name, got[name])
			}
		}
	}
}

// GAIE-45: series that had a line of their own keep it when others come, so that no counter jumps.
func TestSeriesThatComeLaterAreFolded(t *testing.T) {
	m := newMany(10)
	bounded := m.Bounded(func() int { return 120 })
	before, _ := page(t, bounded)
	m.grow(10, 300)
	after, size := page(t, bounded)
	if size > 120 {
		t.Errorf("%d lines", size)
	}
	for _, one := range before["t_requests_total"].Metric {
		labels := []string{one.Label[0].GetValue(), one.Label[1].GetValue()}
		if v, found := value(after["t_requests_total"], labels...); !found || v != one.Counter.GetValue() {
			t.Errorf("%v was %v and is %v", labels, one.Counter.GetValue(), v)
		}
	}
}

// GAIE-45: where a name of the configuration is "other", its line takes what is folded.
func TestANameThatIsOtherTakesWhatIsFolded(t *testing.T) {
	m := newMany(0)
	m.requests.WithLabelValues(other, "503").Add(7)
	m.grow(0, 100)
	bounded := m.Bounded(func() int { return 110 })
	families, _ := page(t, bounded)
	var sum float64
	for _, one := range families["t_requests_total"].Metric {
		if one.Label[1].GetValue() == "503" {
			sum += one.Counter.GetValue()
		}
	}
	if sum != 107 {
		t.Errorf("%v requests, want 107", sum)
	}
}
