package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Header is one response header. Its name is in the contract's case.
type Header struct{ Name, Value string }

// publishEvery bounds how often the headers are prepared anew, and so how old they are.
const publishEvery = 250 * time.Millisecond

// publication is what Headers and LinesAt return for a while.
type publication struct {
	made    time.Time
	headers []Header
	lines   []byte // the same as they go over the wire
}

// Headers returns the headers that every answer of this specialist carries, in the contract's order, at most 250 ms
// old. A value with too few samples is absent; X-SLO-Window never is. The slice is shared: do not modify it.
func (b *Board) Headers() []Header { return b.publishedAt(b.cfg.Now()).headers }

// LinesAt is Headers as they go over the wire, each "Name: value\r\n", for a caller that knows the time.
func (b *Board) LinesAt(now time.Time) []byte { return b.publishedAt(now).lines }

func (b *Board) publishedAt(now time.Time) *publication {
	if p := b.published.Load(); p.fresh(now) {
		return p
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.published.Load(); p.fresh(now) { // made while we waited
		return p
	}
	p := &publication{made: now, headers: render(b.read(now), b.cfg)}
	for _, h := range p.headers {
		p.lines = append(append(append(append(p.lines, h.Name...), ": "...), h.Value...), "\r\n"...)
	}
	b.published.Store(p)
	return p
}

// fresh reports whether p can be served at now. A clock that went back does not freeze it.
func (p *publication) fresh(now time.Time) bool {
	return p != nil && now.Sub(p.made).Abs() < publishEvery
}

func render(r Report, cfg Config) []Header {
	headers := make([]Header, 0, 8)
	add := func(name, value string) {
		headers = append(headers, Header{name, value})
	}
	if l := r.TTFT; l.P50 != nil {
		add("X-SLO-TTFT-Ms", l.String())
	}
	if l := r.ITL; l.P50 != nil {
		add("X-SLO-ITL-Ms", l.String())
	}
	if p := r.Admission.P95; p != nil {
		add("X-SLO-Admission-TTFT-P95-Ms", whole(*p))
	}
	if c := r.Correctness; c.Rate != nil {
		add("X-SLO-Correctness", fmt.Sprintf("rate=%.3f, floor=%.3f, samples=%d, window=%s", floored(*c.Rate), c.Floor,
			c.Samples, span(cfg.Correctness.Window)))
	}
	if c, ok := r.Correctness.Kinds[CompileKind]; ok && c.Rate != nil {
		add("X-SLO-Compile-Pass", fmt.Sprintf("rate=%.3f, samples=%d, window=%s", floored(*c.Rate), c.Samples,
			span(cfg.Correctness.Window)))
	}
	if f := r.Deadlines.Fraction; f != nil {
		add("X-SLO-Deadline-Missed", fmt.Sprintf("share=%.3f, samples=%d", ceiled(*f), r.Deadlines.Samples))
	}
	if f := r.Preempted.Fraction; f != nil {
		add("X-SLO-Preempted-Once", strconv.FormatFloat(*f, 'f', 3, 64))
	}
	add("X-SLO-Window", fmt.Sprintf("%s, samples=%d, age=%d", span(cfg.Window), r.Samples, r.AgeMs))
	return headers
}

// floored cuts a pass rate to three digits: it is never rounded up to a floor that it misses.
func floored(rate float64) float64 { return math.Floor(rate*1000+1e-6) / 1000 }

// ceiled rounds a share of failures up to three digits: one of many is never published as none.
func ceiled(share float64) float64 { return math.Ceil(share*1000-1e-6) / 1000 }

// String renders a latency that is known as headers show it.
func (l Latency) String() string {
	return "p50=" + whole(*l.P50) + ", p95=" + whole(*l.P95) + ", p99=" + whole(*l.P99)
}

// whole renders milliseconds as the contract wants them, without a fraction.
func whole(ms float64) string { return strconv.FormatInt(int64(math.Round(ms)), 10) }

// span renders a window's length without units that are zero: 5m, 24h, 1h30m.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
