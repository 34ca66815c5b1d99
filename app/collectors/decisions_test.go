package collectors

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// What is counted together says what Prometheus' own histograms say of the same values.
func TestDecisionsAreDistributedAsHistogramsWouldHaveIt(t *testing.T) {
	draw, quick := rand.New(rand.NewPCG(5, 6)), prometheus.ExponentialBuckets(1e-6, 4, 10)
	m := newDecisions(quick)
	d := m.of("debug")
	if m.of("debug") != d {
		t.Error("another generation counts elsewhere")
	}
	own := [distributions]prometheus.Histogram{}
	for i, bounds := range m.bounds {
		own[i] = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x", Buckets: bounds})
	}
	for range 5000 {
		took, ratio, bytes := time.Duration(draw.Int64N(1<<uint(draw.IntN(30))+1)), float64(draw.IntN(21))/20,
			draw.IntN(1<<uint(draw.IntN(28))+1)
		own[ofTime].Observe(took.Seconds())
		if draw.IntN(4) == 0 {
			d.without(took)
			continue
		}
		d.with(took, ratio, bytes)
		own[ofRatio].Observe(ratio)
		own[ofBytes].Observe(float64(bytes))
	}
	told := make(chan prometheus.Metric, distributions)
	m.Collect(told)
	for i := range own {
		var got, want dto.Metric
		if err := (<-told).Write(&got); err != nil {
			t.Fatal(err)
		}
		if err := own[i].Write(&want); err != nil {
			t.Fatal(err)
		}
		if g, w := shape(&got), shape(&want); !cmp.Equal(g, w) {
			t.Errorf("distribution %d (-Prometheus +ours):\n%s", i, cmp.Diff(w, g))
		}
	}
}

func shape(m *dto.Metric) (all []float64) {
	h := m.GetHistogram()
	all = append(all, float64(h.GetSampleCount()), h.GetSampleSum())
	for _, b := range h.GetBucket() {
		all = append(all, b.GetUpperBound(), float64(b.GetCumulativeCount()))
	}
	return all
}
