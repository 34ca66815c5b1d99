package slo

import "time"

// Report is what a Board knows, as GET /v1/slo/{specialist} shows it. A value with too few samples is null.
type Report struct {
	WindowSeconds float64            `json:"window_seconds"`
	MinSamples    int                `json:"min_samples"`
	Samples       int                `json:"samples"` // answers with a first token in the window
	AgeMs         int64              `json:"age_ms"`  // for how long nothing new has come in
	TTFT          Latency            `json:"ttft"`
	ITL           Latency            `json:"itl"`
	Admission     Latency            `json:"admission_ttft"`    // from admission to the first token
	Intents       map[string]Latency `json:"intents,omitempty"` // time to the first token by declared intent
	Preempted     Share              `json:"preempted_once"`    // for transparency; not an objective
	Deadlines     Share              `json:"deadline_missed"`   // of the requests that declared one
	Correctness   Correctness        `json:"correctness"`
}

// Latency is a distribution in milliseconds.
type Latency struct {
	P50     *float64 `json:"p50_ms"`
	P95     *float64 `json:"p95_ms"`
	P99     *float64 `json:"p99_ms"`
	Samples int      `json:"samples"`
}

// Share is a fraction of answers.
type Share struct {
	Fraction *float64 `json:"fraction"`
	Samples  int      `json:"samples"`
}

// Correctness is the pass rate over its own, longer window, and what is owed.
type Correctness struct {
	Rate              *float64 `json:"rate"`
	Floor             float64  `json:"floor"`
	Samples           int      `json:"samples"`
	MinSamples        int      `json:"min_samples"`
	WindowSeconds     float64  `json:"window_seconds"`
	RecoverForSeconds float64  `json:"recover_for_seconds"`
	Standing          string   `json:"standing"` // primary | shadow-only
	Low               *float64 `json:"low"`      // the true rate is between low and high with 95 % confidence
	High              *float64 `json:"high"`

	// the verdicts of the window apart by kind; an answer is one sample of each kind that judged it
	Kinds map[string]KindRate `json:"kinds,omitempty"`
}

// KindRate is the pass rate of the verdicts of one kind, over the window of Correctness.
type KindRate struct {
	Rate    *float64 `json:"rate"`
	Samples int      `json:"samples"`
	Low     *float64 `json:"low"` // as of Correctness
	High    *float64 `json:"high"`
}

// Report reads all windows as of now. It costs some ten microseconds, during which observations wait.
func (b *Board) Report() Report {
	now := b.cfg.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read(now)
}

// read is Report under mu.
func (b *Board) read(now time.Time) Report {
	b.roll(now)
	r := Report{
		WindowSeconds: b.cfg.Window.Seconds(), MinSamples: b.cfg.MinSamples,
		AgeMs: max(now.Sub(b.newest).Milliseconds(), 0),
		TTFT:  b.latency(&b.ttft), ITL: b.latency(&b.itl), Admission: b.latency(&b.admission),
	}
	r.Samples = r.TTFT.Samples
	ends := b.ends.sum(now)
	r.Preempted = Share{Samples: ends.all, Fraction: known(ends, b.cfg.MinSamples)}
	deadlines := b.deadlines.sum(now)
	r.Deadlines = Share{Samples: deadlines.all, Fraction: known(deadlines, b.cfg.MinSamples)}
	owed, outcomes := b.cfg.Correctness, b.breaker.tally(now)
	r.Correctness = Correctness{
		Rate: known(outcomes, owed.MinSamples), Floor: owed.Floor, Samples: outcomes.all, MinSamples: owed.MinSamples,
		WindowSeconds: owed.Window.Seconds(), RecoverForSeconds: owed.RecoverFor.Seconds(),
		Standing: b.breaker.Standing(now).String(), Kinds: b.breaker.rates(now),
	}
	if low, high := outcomes.wilson(); r.Correctness.Rate != nil {
		r.Correctness.Low, r.Correctness.High = &low, &high
	}
	if len(b.intents) > 0 {
		r.Intents = make(map[string]Latency, len(b.intents))
	}
	for name, w := range b.intents {
		r.Intents[name] = b.latency(w)
	}
	return r
}

func (b *Board) latency(w *window) Latency {
	l := Latency{Samples: w.merge()}
	if l.Samples < b.cfg.MinSamples {
		return l
	}
	for _, q := range []struct {
		at   float64
		into **float64
	}{{0.50, &l.P50}, {0.95, &l.P95}, {0.99, &l.P99}} {
		ms := w.quantile(q.at).Seconds() * 1e3
		*q.into = &ms
	}
	return l
}

// known is the rate of a count that is large enough, nil of a smaller one.
func known(c count, least int) *float64 {
	if c.all < least {
		return nil
	}
	rate := c.rate()
	return &rate
}
