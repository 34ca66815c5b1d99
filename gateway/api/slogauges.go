package api

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/classifier"
	"octet/gateway/ensemble"
	"octet/slo"
)

// SLOGauges read the breakers, the escalations and the published windows at the moment of a scrape. Each is one
// specialist's: no latency of the ensemble exists. They are a prometheus.Collector.
type SLOGauges struct {
	Current Current
	Knobs   *slo.Knobs
	Now     func() time.Time
}

func specialistDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"specialist"}, labels...), nil)
}

var (
	demotedDesc = specialistDesc("octet_lane_demoted",
		"1 while a specialist is demoted for its correctness, and others stand in.")
	movesDesc = specialistDesc("octet_lane_transitions_total", "Demotions and recoveries.")
	rateDesc  = specialistDesc("octet_correctness_rate",
		"Pass rate over the correctness window; absent with too few verdicts.")
	floorDesc    = specialistDesc("octet_correctness_floor", "The least pass rate that a specialist owes.")
	samplesDesc  = specialistDesc("octet_correctness_samples", "Verdicts in the correctness window.")
	kindRateDesc = specialistDesc("octet_correctness_kind_rate",
		"Pass rate of the verdicts of one kind over the correctness window: compile is the compile-pass rate; absent "+
			"with too few.", "kind")
	kindSamplesDesc = specialistDesc("octet_correctness_kind_samples",
		"Answers in the correctness window that verdicts of one kind judged.", "kind")
	stepDesc = specialistDesc("octet_load_step",
		"Step of the load escalation in force: 0 normal, 1 diverting, 2 throttling.")
	pressureDesc = specialistDesc("octet_load_pressure", "How near a new request is to a refusal: 1 is one.")
	lowestDesc   = specialistDesc("octet_load_floor", "Least priority that is served under load; -100 is every one.")
	intentFloor  = prometheus.NewDesc("octet_intent_floor",
		"Least priority of an intent that is served, by configuration, an operator, or where it loads a specialist; "+
			"-100 is every one.", []string{"intent"}, nil)
	intentDivert = prometheus.NewDesc("octet_intent_divert_threshold",
		"Confidence below which a request of an intent goes to its second choice while its first is under load.",
		[]string{"intent"}, nil)
	publishDesc = specialistDesc("octet_slo_ms",
		"Published percentiles over the rolling window; absent with too few samples.", "of", "quantile")
	intentDesc = specialistDesc("octet_slo_intent_ttft_ms", "Published time to the first token by declared intent.",
		"intent", "quantile")
	onceDesc = specialistDesc("octet_slo_preempted_once",
		"Share of answers that were preempted at least once: transparency, no objective.")
	missedDesc = specialistDesc("octet_slo_deadline_missed",
		"Share of the requests with a deadline whose deadline passed before the answer, or its first token, was there.")
)

// Describe implements prometheus.Collector.
func (g SLOGauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		demotedDesc, movesDesc, rateDesc, floorDesc, samplesDesc, stepDesc, pressureDesc, lowestDesc, intentFloor,
		intentDivert, publishDesc, intentDesc, onceDesc, missedDesc, kindRateDesc,
		kindSamplesDesc,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g SLOGauges) Collect(out chan<- prometheus.Metric) {
	rt := g.Current()
	g.intents(out, rt.Intents)
	if !slices.Contains(rt.Intents, classifier.Unspecified) {
		g.intents(out, []string{classifier.Unspecified})
	}
	for _, sp := range rt.Specialists {
		g.lane(out, sp)
		g.published(out, sp)
		if sp.Load != nil {
			emit(out, stepDesc, float64(sp.Escalation()), sp.Name)
			emit(out, pressureDesc, sp.Load.State().Pressure, sp.Name)
			floor, _ := sp.HighestFloor()
			emit(out, lowestDesc, float64(floor), sp.Name)
		}
	}
}

// knobs tells the two that load turns, of each intent.
func (g SLOGauges) intents(out chan<- prometheus.Metric, intents []string) {
	for _, intent := range intents {
		if v, ok := g.Knobs.Value(slo.PriorityFloor + intent); ok {
			emit(out, intentFloor, v, intent)
		}
		if v, ok := g.Knobs.Value(slo.DivertThreshold + intent); ok {
			emit(out, intentDivert, v, intent)
		}
	}
}

func (g SLOGauges) lane(out chan<- prometheus.Metric, sp *ensemble.Specialist) {
	st := sp.Board.Breaker().State(g.Now())
	emit(out, demotedDesc, flag(st.Standing == slo.ShadowOnly.String()), sp.Name)
	out <- prometheus.MustNewConstMetric(movesDesc, prometheus.CounterValue, float64(st.Transitions), sp.Name)
}

func (g SLOGauges) published(out chan<- prometheus.Metric, sp *ensemble.Specialist) {
	r := sp.Board.Report()
	emit(out, floorDesc, r.Correctness.Floor, sp.Name)
	emit(out, samplesDesc, float64(r.Correctness.Samples), sp.Name)
	known(out, rateDesc, r.Correctness.Rate, sp.Name)
	for kind, k := range r.Correctness.Kinds {
		known(out, kindRateDesc, k.Rate, sp.Name, kind)
		emit(out, kindSamplesDesc, float64(k.Samples), sp.Name, kind)
	}
	known(out, onceDesc, r.Preempted.Fraction, sp.Name)
	known(out, missedDesc, r.Deadlines.Fraction, sp.Name)
	percentiles(out, publishDesc, r.TTFT, sp.Name, "ttft")
	percentiles(out, publishDesc, r.ITL, sp.Name, "itl")
	known(out, publishDesc, r.Admission.P95, sp.Name, "admission_ttft", "0.95")
	for intent, l := range r.Intents {
		percentiles(out, intentDesc, l, sp.Name, intent)
	}
}

func percentiles(out chan<- prometheus.Metric, d *prometheus.Desc, l slo.Latency, labels ...string) {
	labels = labels[:len(labels):len(labels)]
	known(out, d, l.P50, append(labels, "0.5")...)
	known(out, d, l.P95, append(labels, "0.95")...)
	known(out, d, l.P99, append(labels, "0.99")...)
}

func known(out chan<- prometheus.Metric, d *prometheus.Desc, v *float64, labels ...string) {
	if v != nil {
		emit(out, d, *v, labels...)
	}
}
