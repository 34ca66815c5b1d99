package slo

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func board(c *clock) *Board {
	return NewBoard(Config{Window: 5 * time.Minute, MinSamples: 20,
		Correctness: CorrectnessConfig{Floor: 0.95, MinSamples: 20}, Now: c.now})
}

// shown are the headers by name.
func shown(b *Board) map[string]string {
	m := make(map[string]string)
	for _, h := range b.Headers() {
		m[h.Name] = h.Value
	}
	return m
}

// MEGA-51, MEGA-52, MEGA-53, MEGA-54, MEGA-55: names and formats are the contract's, per specialist.
func TestHeadersHaveTheContractsNamesAndFormats(t *testing.T) {
	c := newClock()
	b := board(c)
	for i := range 412 {
		b.ObserveTTFT(b.cfg.Now(), time.Duration(100+i)*time.Millisecond)
		b.ObserveAdmission(b.cfg.Now(), 40*time.Millisecond)
		b.ObserveITL(10*time.Millisecond, 20*time.Millisecond)
		b.ObserveEnd(b.cfg.Now(), i%100 == 0)
		b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: i >= 11})
	}
	c.advance(1500 * time.Millisecond)
	for name, form := range map[string]string{
		"X-SLO-TTFT-Ms":               `^p50=30\d, p95=(48|49)\d, p99=51\d$`,
		"X-SLO-ITL-Ms":                `^p50=10, p95=20, p99=20$`,
		"X-SLO-Admission-TTFT-P95-Ms": `^40$`,
		"X-SLO-Correctness":           `^rate=0\.973, floor=0\.950, samples=412, window=24h$`,
		"X-SLO-Preempted-Once":        `^0\.012$`,
		"X-SLO-Window":                `^5m, samples=412, age=1500$`,
	} {
		if got := shown(b)[name]; !regexp.MustCompile(form).MatchString(got) {
			t.Errorf("%s: %q, want %s", name, got, form)
		}
	}
	var order []string
	var lines string
	for _, h := range b.Headers() {
		order = append(order, h.Name)
		lines += h.Name + ": " + h.Value + "\r\n"
	}
	if got := string(b.LinesAt(c.now())); got != lines {
		t.Errorf("lines %q, want %q", got, lines)
	}
	want := "X-SLO-TTFT-Ms X-SLO-ITL-Ms X-SLO-Admission-TTFT-P95-Ms X-SLO-Correctness X-SLO-Preempted-Once X-SLO-Window"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("order %s", got)
	}
}

// MEGA-57: with one sample too few a value is absent, in headers and in the report; the window itself is always told.
func TestAValueWithTooFewSamplesIsAbsent(t *testing.T) {
	for name, observe := range map[string]func(*Board){
		"X-SLO-TTFT-Ms":               func(b *Board) { b.ObserveTTFT(b.cfg.Now(), time.Second) },
		"X-SLO-ITL-Ms":                func(b *Board) { b.ObserveITL(time.Second) },
		"X-SLO-Admission-TTFT-P95-Ms": func(b *Board) { b.ObserveAdmission(b.cfg.Now(), time.Second) },
		"X-SLO-Preempted-Once":        func(b *Board) { b.ObserveEnd(b.cfg.Now(), true) },
		"X-SLO-Correctness":           func(b *Board) { b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: true}) },
	} {
		c := newClock()
		b := board(c)
		for n := range 20 {
			if h := shown(b); len(h) != 1 || h["X-SLO-Window"] == "" {
				t.Fatalf("%s: after %d samples %v", name, n, h)
			}
			if n == 0 && shown(b)["X-SLO-Window"] != "5m, samples=0, age=0" {
				t.Errorf("empty: %v", shown(b))
			}
			observe(b)
			c.advance(time.Second)
		}
		if h := shown(b); len(h) != 2 || h[name] == "" {
			t.Errorf("%s: with enough samples %v", name, h)
		}
	}
	text, _ := json.Marshal(board(newClock()).Report())
	for _, absent := range []string{`"p50_ms":null`, `"p95_ms":null`, `"p99_ms":null`, `"fraction":null`,
		`"rate":null`} {
		if !strings.Contains(string(text), absent) {
			t.Errorf("%s is not in %s", absent, text)
		}
	}
}

// exact is the oracle: the least observation that q of all do not exceed.
func exact(ds []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[int(math.Ceil(q*float64(len(sorted))))-1]
}

func TestQuantilesAreWithinTwoPercentOfTheExactOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() time.Duration{
		"uniform":     func() time.Duration { return time.Duration(r.Int64N(int64(time.Minute))) },
		"exponential": func() time.Duration { return time.Duration(r.ExpFloat64() * float64(200*time.Millisecond)) },
		"log-normal": func() time.Duration {
			return time.Duration(math.Exp(r.NormFloat64()*3) * float64(time.Millisecond))
		},
		"constant": func() time.Duration { return 12345 * time.Microsecond },
		"two humps": func() time.Duration {
			return []time.Duration{time.Millisecond, 10 * time.Second}[r.IntN(2)] + time.Duration(r.Int64N(1000))
		},
	} {
		c := newClock()
		b := board(c)
		var all []time.Duration
		for range 20_000 {
			d := draw()
			all = append(all, max(d, shortest))
			b.ObserveTTFT(b.cfg.Now(), d)
			c.advance(time.Millisecond) // over several slots, all within the window
		}
		l := b.Report().TTFT
		for q, got := range map[float64]*float64{0.5: l.P50, 0.95: l.P95, 0.99: l.P99} {
			want := exact(all, q).Seconds() * 1e3
			if math.Abs(*got-want) > 0.02*want {
				t.Errorf("%s: p%v is %v ms, exactly %v", name, q*100, *got, want)
			}
		}
	}
}

func TestQuantilesOfFewSamplesAreNearestRanks(t *testing.T) {
	for n := 1; n <= 60; n++ {
		b := NewBoard(Config{MinSamples: 1, Now: newClock().now})
		var all []time.Duration
		for i := range n {
			all = append(all, time.Second<<(i%30)/1000+time.Duration(i/30)*time.Hour)
			b.ObserveTTFT(b.cfg.Now(), all[i])
		}
		l := b.Report().TTFT
		for q, got := range map[float64]*float64{0.5: l.P50, 0.95: l.P95, 0.99: l.P99} {
			if want := exact(all, q).Seconds() * 1e3; math.Abs(*got-min(want, 24*3600*1e3)) > 0.02*want {
				t.Errorf("p%v of %d is %v ms, exactly %v", q*100, n, *got, want)
			}
		}
	}
}

func TestAnObservationOutOfRangeIsClamped(t *testing.T) {
	b := board(newClock())
	for range 10 {
		b.ObserveTTFT(b.cfg.Now(), -time.Hour)
		b.ObserveTTFT(b.cfg.Now(), 0)
		b.ObserveTTFT(b.cfg.Now(), 1000*time.Hour)
	}
	l := b.Report().TTFT
	if l.Samples != 30 || *l.P50 > 0.0011 || *l.P99 > 1.01*24*3600*1e3 {
		t.Errorf("got %d samples, p50=%v, p99=%v", l.Samples, *l.P50, *l.P99)
	}
}

// What an observation counts towards, second by second: never more than the window, never less than nine tenths of it.
func TestAnObservationIsForgottenWithItsSlot(t *testing.T) {
	for offset := 0; offset < 60; offset += 7 {
		c := newClock()
		b := board(c)
		c.advance(time.Duration(offset) * time.Second)
		for range 20 {
			b.ObserveTTFT(b.cfg.Now(), time.Second)
			b.ObserveEnd(b.cfg.Now(), true)
		}
		gone := -1
		for s := range 400 {
			r := b.Report()
			if (r.TTFT.Samples == 20) != (r.Preempted.Samples == 20) {
				t.Fatalf("the windows differ after %d s", s)
			}
			if r.TTFT.Samples == 0 && gone < 0 {
				gone = s
			}
			if r.TTFT.Samples != 0 && gone >= 0 {
				t.Fatalf("it came back after %d s", s)
			}
			c.advance(time.Second)
		}
		if gone <= 270-1 || gone > 300 {
			t.Errorf("at second %d: gone after %d s", offset, gone)
		}
	}
}

// The slow oracle of the ring: every observation with its slot's number, filtered on read.
func TestTheRingCountsWhatAFilterOverAllObservationsCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := newClock()
	start := c.now()
	b := board(c)
	var at []int64
	slot := func() int64 { return int64(c.now().Sub(start) / (30 * time.Second)) }
	for range 3000 {
		switch r.IntN(4) {
		case 0:
			c.advance(time.Duration(r.Int64N(int64(20 * time.Second))))
		case 1:
			if r.IntN(40) == 0 {
				c.advance(time.Duration(r.Int64N(int64(20 * time.Minute))))
			}
		default:
			b.ObserveTTFT(b.cfg.Now(), time.Second)
			at = append(at, slot())
		}
		want := 0
		for _, s := range at {
			if s > slot()-slots {
				want++
			}
		}
		if got := b.Report().TTFT.Samples; got != want {
			t.Fatalf("%d samples, want %d", got, want)
		}
	}
}

func TestCorrectnessLooksBackOverItsOwnWindow(t *testing.T) {
	c := newClock()
	b := board(c)
	for range 50 {
		b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: false})
	}
	c.advance(23 * time.Hour)
	for range 50 {
		b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: true})
	}
	if r := b.Report().Correctness; r.Samples != 100 || *r.Rate != 0.5 {
		t.Errorf("got %d, %v", r.Samples, *r.Rate)
	}
	c.advance(time.Hour)
	if r := b.Report().Correctness; r.Samples != 50 || *r.Rate != 1 {
		t.Errorf("got %d, %v", r.Samples, *r.Rate)
	}
	c.advance(48 * time.Hour)
	if r := b.Report().Correctness; r.Samples != 0 || r.Rate != nil {
		t.Errorf("an empty window has the rate %v", *r.Rate)
	}
}

func TestARateIsNeverShownAboveAFloorThatItMisses(t *testing.T) {
	c := newClock()
	b := board(c)
	for i := range 10_000 {
		b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: i >= 501})
	}
	if got := shown(b)["X-SLO-Correctness"]; !strings.HasPrefix(got, "rate=0.949, floor=0.950") {
		t.Errorf("got %s", got)
	}
}

func TestHeadersAreAtMostAQuarterOfASecondOld(t *testing.T) {
	c := newClock()
	b := board(c)
	first := b.Headers()
	for range 20 {
		b.ObserveTTFT(b.cfg.Now(), time.Second)
	}
	c.advance(249 * time.Millisecond)
	if again := b.Headers(); &again[0] != &first[0] {
		t.Error("made anew too soon")
	}
	c.advance(time.Millisecond)
	if again := b.Headers(); len(again) != 2 {
		t.Errorf("old headers: %v", again)
	}
	c.advance(-time.Hour)
	if again := b.Headers(); !strings.HasSuffix(again[len(again)-1].Value, "samples=20, age=0") {
		t.Errorf("after the clock went back: %v", again)
	}
}

// MEGA-58: times between later tokens are a window of their own, apart from the time to the first.
func TestGapsReachTheBoardWhole(t *testing.T) {
	for n := range 100 {
		b := board(newClock())
		var g Gaps
		g.Add(time.Hour) // for no request
		g.Reset(b)
		for range n {
			g.Add(time.Millisecond)
		}
		g.Flush()
		g.Flush()
		if got := b.Report().ITL.Samples; got != n {
			t.Errorf("%d of %d", got, n)
		}
	}
	var nobody Gaps
	for range 100 {
		nobody.Add(time.Second)
	}
	nobody.Flush()
}

// MEGA-56: two specialists share nothing, and a report is one specialist's.
func TestBoardsShareNothing(t *testing.T) {
	c := newClock()
	a, b := board(c), board(c)
	for range 20 {
		a.ObserveTTFT(a.cfg.Now(), time.Second)
		a.ObserveITL(time.Second)
		a.Outcome(Verdict{Answered: a.cfg.Now(), Pass: true})
	}
	if r := b.Report(); r.Samples != 0 || r.ITL.Samples != 0 || r.Correctness.Samples != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestConcurrentUseLosesNothing(t *testing.T) {
	const workers, each = 8, 500
	b := NewBoard(Config{Window: time.Hour, MinSamples: 1})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var g Gaps
			g.Reset(b)
			for i := range each {
				b.ObserveTTFT(b.cfg.Now(), time.Millisecond)
				b.ObserveAdmission(b.cfg.Now(), time.Millisecond)
				b.ObserveEnd(b.cfg.Now(), i%2 == 0)
				b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: true})
				g.Add(time.Millisecond)
				_ = b.Headers()
				if i%100 == 0 {
					_ = b.Report()
				}
			}
			g.Flush()
		})
	}
	wg.Wait()
	r := b.Report()
	for name, n := range map[string]int{"ttft": r.TTFT.Samples, "itl": r.ITL.Samples, "admission": r.Admission.Samples,
		"ends": r.Preempted.Samples, "outcomes": r.Correctness.Samples} {
		if n != workers*each {
			t.Errorf("%s: %d", name, n)
		}
	}
}

func TestWindowsAreWrittenWithoutUnitsThatAreZero(t *testing.T) {
	for d, want := range map[time.Duration]string{
		5 * time.Minute: "5m", 24 * time.Hour: "24h", 90 * time.Minute: "1h30m", 30 * time.Second: "30s",
		90 * time.Second: "1m30s",
		10 * time.Minute: "10m", time.Hour + time.Second: "1h0m1s", 20 * time.Hour: "20h",
		500 * time.Millisecond: "500ms",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// Example shows one specialist's window as its answers' headers tell it.
func Example() {
	b := NewBoard(Config{MinSamples: 3, Now: newClock().now})
	for _, ttft := range []time.Duration{80, 90, 100} {
		b.ObserveTTFT(b.cfg.Now(), ttft*time.Millisecond)
	}
	for _, h := range b.Headers() {
		fmt.Printf("%s: %s\n", h.Name, h.Value)
	}
	// Output:
	// X-SLO-TTFT-Ms: p50=89, p95=101, p99=101
	// X-SLO-Window: 5m, samples=3, age=0
}
