package slo

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// series are adversarial: each knows what the lane decided last and chooses its next verdict to make it flap.
var series = map[string]func(r *rand.Rand, n int, s Duty) bool{
	"coin at the floor":     func(r *rand.Rand, _ int, _ Duty) bool { return r.Float64() < 0.9 },
	"coin just below":       func(r *rand.Rand, _ int, _ Duty) bool { return r.Float64() < 0.89 },
	"bursts":                func(_ *rand.Rand, n int, _ Duty) bool { return n/200%2 == 0 },
	"good only while shown": func(_ *rand.Rand, _ int, s Duty) bool { return s == ShadowOnly },
	"good only while not":   func(_ *rand.Rand, _ int, s Duty) bool { return s == Primary },
	"always bad":            func(*rand.Rand, int, Duty) bool { return false },
}

// MEGA-61: whatever the verdicts, there is at most one change in a cool-down, only between the two standings, and none
// upwards without min_samples probes at the floor or above. The oracle keeps every verdict.
func TestNoSeriesMakesALaneFlap(t *testing.T) {
	const recoverFor, least, floor = 10 * time.Minute, 20, 0.9
	for name, next := range series {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			now := newClock().at
			l := newBreaker(CorrectnessConfig{Floor: floor, Window: 24 * time.Hour, MinSamples: least,
				RecoverFor: recoverFor, ProbeShare: 0.1}, now)
			var changed time.Time
			var seen []bool // since the last change
			was := Primary
			for n := range 50_000 {
				now = now.Add(time.Duration(r.IntN(4000)) * time.Millisecond)
				if r.IntN(3) == 0 {
					l.Standing(now)
				}
				mid := l.Standing(now)
				judge(t, was, mid, now, changed, seen)
				if mid != was {
					was, changed, seen = mid, now, nil
				}
				pass := next(r, n, mid)
				l.Count(Verdict{Answered: now, Pass: pass}, now)
				seen = append(seen, pass)
				is := Duty(l.standing.Load())
				if is != was {
					judge(t, was, is, now, changed, seen)
					was, changed, seen = is, now, nil
				}
			}
			if name == "coin at the floor" && l.moves > 20 || name == "always bad" &&
				(l.moves != 1 || was != ShadowOnly) {
				t.Errorf("%d changes in %v", l.moves, now.Sub(newClock().at))
			}
		})
	}
}

func judge(t *testing.T, was, is Duty, now, changed time.Time, seen []bool) {
	t.Helper()
	if is == was {
		return
	}
	if !changed.IsZero() && now.Sub(changed) < 10*time.Minute {
		t.Fatalf("%v after %v, %v after the last change", is, was, now.Sub(changed))
	}
	good := 0
	for _, pass := range seen {
		if pass {
			good++
		}
	}
	if is == Primary && (len(seen) < 20 || float64(good) < 0.9*float64(len(seen))) {
		t.Fatalf("back with %d of %d probes", good, len(seen))
	}
}

// A rate at the floor is no breach: the demotions of a healthy specialist are the false alarms of a 95 % bound, not
// more.
func TestAHealthySpecialistIsSeldomDemoted(t *testing.T) {
	demoted := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := newClock().at
		l := newBreaker(CorrectnessConfig{Floor: 0.95, Window: 24 * time.Hour, MinSamples: 50, RecoverFor: time.Minute,
			ProbeShare: 0.1}, now)
		for range 2000 {
			now = now.Add(time.Second)
			l.Count(Verdict{Answered: now, Pass: r.Float64() < 0.975}, now)
		}
		demoted += int(l.moves)
	}
	if demoted > 4 {
		t.Errorf("%d of 200 specialists at 97.5 %% were demoted by a floor of 95 %%", demoted)
	}
}

// The interval is the set of rates under which the count is not too surprising: solved by bisection here.
func TestWilsonsIntervalIsTheScoreTests(t *testing.T) {
	for all := 1; all < 300; all += 7 {
		for hold := 0; hold <= all; hold++ {
			low, high := count{hold, all}.wilson()
			p := float64(hold) / float64(all)
			far := func(q float64) bool {
				return (p-q)*(p-q) > z*z*q*(1-q)/float64(all)
			}
			edge := func(in, out float64) float64 {
				for range 60 {
					if mid := (in + out) / 2; far(mid) {
						out = mid
					} else {
						in = mid
					}
				}
				return in
			}
			if wantLow, wantHigh := edge(p, 0), edge(p, 1); math.Abs(low-wantLow) > 1e-9 ||
				math.Abs(high-wantHigh) > 1e-9 {
				t.Fatalf("%d of %d: [%v, %v], want [%v, %v]", hold, all, low, high, wantLow, wantHigh)
			}
		}
	}
}

// MEGA-67: a demoted specialist is guaranteed its probes: a share of many requests, and each of few.
func TestADemotedLaneIsGuaranteedProbes(t *testing.T) {
	now := newClock().at
	l := newBreaker(CorrectnessConfig{Floor: 0.9, Window: time.Hour, MinSamples: 1, RecoverFor: time.Minute,
		ProbeShare: 0.1}, now)
	if l.Probe(now) {
		t.Error("a primary was probed")
	}
	l.Count(Verdict{Answered: now, Pass: false}, now)
	probed := func(n int, gap time.Duration) (hits int) {
		for range n {
			now = now.Add(gap)
			if l.Probe(now) {
				hits++
			}
		}
		return hits
	}
	if n := probed(1000, time.Millisecond); n < 95 || n > 105 {
		t.Errorf("%d of 1000 requests were copied", n)
	}
	if n := probed(10, 10*time.Second); n != 10 {
		t.Errorf("%d of 10 rare requests were copied", n)
	}
}

// MEGA-66: the decision needs nothing but the lane, from any number of requests at once.
func TestLaneIsSafeForConcurrentUse(t *testing.T) {
	b := NewBoard(Config{Correctness: CorrectnessConfig{Floor: 0.9, MinSamples: 10, RecoverFor: time.Millisecond}})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 5000 {
				now := time.Now()
				b.Outcome(Verdict{Answered: now, Pass: (i/100+g)%2 == 0})
				b.Breaker().Standing(now)
				b.Breaker().Probe(now)
				if i%500 == 0 {
					_, _ = b.Report(), b.Breaker().State(now)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkBreakerDecision is what a request pays for the correctness breaker.
func BenchmarkBreakerDecision(b *testing.B) {
	now := time.Now()
	for _, s := range []Duty{Primary, ShadowOnly} {
		b.Run(s.String(), func(b *testing.B) {
			l := newBreaker(CorrectnessConfig{Floor: 0.9, Window: time.Hour, MinSamples: 10, RecoverFor: time.Hour,
				ProbeShare: 0.1}, now)
			for range 10 * int(s) {
				l.Count(Verdict{Answered: now, Pass: false}, now)
			}
			b.ReportAllocs()
			for b.Loop() {
				_ = l.Standing(now)
			}
		})
	}
}
