package replay

import (
	"math"
	"slices"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
)

// Result is what a policy did with a trace. Times are seconds.
type Result struct {
	Profile  string  `json:"profile"`
	Rate     float64 `json:"rate"`
	Requests int     `json:"requests"`
	Refused  int     `json:"refused"`
	HitRate  float64 `json:"hit_rate"` // of prompt tokens
	// requests that were routed to where a part of the prompt was taken to be cached
	Predicted int `json:"predicted"`
	// share of these where all of that part was cached when the prompt was computed
	Kept      float64 `json:"kept"`
	TTFT      Spread  `json:"ttft_s"`
	ITL       Spread  `json:"itl_s"`
	Goodput   float64 `json:"goodput"`   // share of requests within the goal
	Imbalance float64 `json:"imbalance"` // busiest replica's busy time over the mean
	Busy      float64 `json:"busy"`      // share of the time in which the mean replica computes
	Makespan  float64 `json:"makespan_s"`
	// Throughput is answer tokens a second, from the first arrival to the last token.
	Throughput float64 `json:"tokens_per_s"`
	// Curve is the TTFT of each hundredth of the requests, ascending.
	Curve []float64 `json:"-"`
	// Decision is the mean time of a routing decision, hashing included: the only figure that depends on the machine.
	Decision time.Duration `json:"-"`
}

// Spread is a distribution.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// meter collects during a run.
type meter struct {
	gaps      *ddsketch.DDSketch // seconds
	sum       time.Duration
	decisions int
	routing   time.Duration
	fault     error
}

// itlAccuracy is the relative error of the quantiles of the times between tokens, of which there are millions.
const itlAccuracy = 0.005

func newMeter() meter {
	s, err := ddsketch.NewDefaultDDSketch(itlAccuracy)
	if err != nil {
		panic(err) // the accuracy is in bounds
	}
	return meter{gaps: s}
}

func (m *meter) gap(d time.Duration) {
	m.sum += d
	_ = m.gaps.Add(d.Seconds()) // finite and not negative
}

func (m *meter) took(d time.Duration) {
	m.routing += d
	m.decisions++
}

func (r *run) result(name string) Result {
	out := Result{Profile: name, Rate: r.config.Rate, Requests: len(r.lives), Makespan: r.now.Seconds()}
	out.Decision = r.out.routing / time.Duration(max(1, r.out.decisions))
	var ttft []float64
	cached, prompt, answer, good, kept := 0, 0, 0, 0, 0
	for i := range r.lives {
		l := &r.lives[i]
		if l.refused {
			out.Refused++
			continue
		}
		ttft = append(ttft, (l.first - l.at).Seconds())
		cached += l.cached
		prompt += l.Input
		answer += l.Output
		if r.good(l) {
			good++
		}
		if l.predicted > 0 {
			out.Predicted++
		}
		if l.predicted > 0 && l.cached >= l.predicted {
			kept++
		}
	}
	out.Throughput = ratio(float64(answer), out.Makespan)
	out.HitRate = ratio(float64(cached), float64(prompt))
	out.Kept = ratio(float64(kept), float64(out.Predicted))
	out.Goodput = ratio(float64(good), float64(len(r.lives)))
	out.TTFT = spread(ttft)
	out.Curve = curve(ttft)
	out.ITL = r.out.spread()
	out.Busy, out.Imbalance = r.load()
	return out
}

func (r *run) good(l *life) bool {
	return l.first-l.at <= r.config.Goal.TTFT && l.last-l.first <= r.config.Goal.TPOT*time.Duration(l.Output-1)
}

// load returns how busy the mean replica was, and the busiest beside it.
func (r *run) load() (busy, imbalance float64) {
	most, sum := time.Duration(0), time.Duration(0)
	for _, rep := range r.replicas {
		most, sum = max(most, rep.busy), sum+rep.busy
	}
	mean := sum.Seconds() / float64(len(r.replicas))
	return ratio(mean, r.now.Seconds()), ratio(most.Seconds(), mean)
}

func (m *meter) spread() (s Spread) {
	n := m.gaps.GetCount()
	if n == 0 {
		return s
	}
	q, _ := m.gaps.GetValuesAtQuantiles([]float64{0.5, 0.9, 0.99}) // it is not empty
	return Spread{m.sum.Seconds() / n, q[0], q[1], q[2]}
}

// spread sorts v. Quantiles are nearest ranks.
func spread(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return Spread{sum / float64(len(v)), nearest(v, 0.5), nearest(v, 0.9), nearest(v, 0.99)}
}

// curve returns the hundredths of sorted v; nil when it is empty.
func curve(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	hundredths := make([]float64, 101)
	for i := range hundredths {
		hundredths[i] = nearest(v, float64(i)/100)
	}
	return hundredths
}

// nearest returns the quantile q of sorted v by nearest rank.
func nearest(v []float64, q float64) float64 {
	return v[min(len(v)-1, max(0, int(math.Ceil(q*float64(len(v))))-1))]
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
