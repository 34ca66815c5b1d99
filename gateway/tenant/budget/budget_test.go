package budget

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func at(text string) time.Time {
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestADayAndAMonthEndByUTC(t *testing.T) {
	west := time.FixedZone("west", -8*60*60)
	for _, c := range []struct{ at, day, month string }{
		{"2026-11-28 01:40:00", "2026-11-29", "2026-12-01"},
		{"2026-12-31 23:59:59", "2027-01-01", "2027-01-01"},
		{"2028-02-28 12:00:00", "2028-02-29", "2028-03-01"},
		{"2027-02-28 12:00:00", "2027-03-01", "2027-03-01"},
	} {
		now := at(c.at)
		for _, now := range []time.Time{now, now.In(west)} {
			u := NewLedger(nil, 0).Of("a").Usage(now)
			if d, m := u.Day.Resets.Format(time.DateOnly), u.Month.Resets.Format(time.DateOnly); d != c.day ||
				m != c.month || now.Before(u.Day.Starts) || now.Before(u.Month.Starts) {
				t.Errorf("at %v: %+v", now, u)
			}
		}
	}
}

func TestABudgetRefusesUntilItsPeriodEnds(t *testing.T) {
	a, l := NewLedger(nil, 0).Of("a"), Limits{Day: 100, Month: 150}
	noon := at("2026-11-28 12:00:00")
	for i, c := range []struct {
		at   time.Time
		n    int64
		span string // of the refusal
		left int64
		next string
	}{
		{at: noon, n: 60},
		{at: noon, n: 41, span: "day", left: 40, next: "2026-11-29"},
		{at: noon, n: 40},
		{at: noon, n: 1, span: "day", next: "2026-11-29"},
		{at: noon, n: 101, span: "day"}, // no day is long enough: there is no time to come back at
		{at: noon, n: 151, span: "month", left: 50},
		{at: noon.Add(12 * time.Hour), n: 50},
		{at: noon.Add(13 * time.Hour), n: 1, span: "month", next: "2026-12-01"},
		{at: noon.Add(72 * time.Hour), n: 100},
	} {
		no := a.Take(c.at, c.n, l)
		if no == nil != (c.span == "") {
			t.Fatalf("%d: %+v", i, no)
		}
		if no == nil {
			continue
		}
		next := ""
		if !no.Resets.IsZero() {
			next = no.Resets.Format(time.DateOnly)
		}
		if no.Span != c.span || no.Left != c.left || next != c.next {
			t.Errorf("%d: %+v", i, no)
		}
	}
}

// An answer counts in the day in which its request came, however late it ends.
func TestAnAnswerThatEndsAfterMidnightCountsBeforeIt(t *testing.T) {
	a, l := NewLedger(nil, 0).Of("a"), Limits{Day: 100}
	evening, morning := at("2026-11-30 23:59:59"), at("2026-12-01 00:00:05")
	if no := a.Take(evening, 80, l); no != nil {
		t.Fatal(no)
	}
	if no := a.Take(morning, 100, l); no != nil {
		t.Errorf("the new day has no room: %+v", no)
	}
	a.Add(evening, morning, 40)
	a.Add(morning, morning, -60)
	if u := a.Usage(morning); u.Day.Tokens != 40 || u.Month.Tokens != 40 {
		t.Errorf("the new day and month: %+v", u)
	}
	if u := a.Usage(evening); u.Day.Tokens != 120 || u.Month.Tokens != 120 {
		t.Errorf("the old: %+v", u)
	}
}

func TestAClockThatJumpsGivesNoBudgetAway(t *testing.T) {
	for name, jump := range map[string]time.Duration{"a second over midnight": time.Second,
		"years": 5 * 365 * 24 * time.Hour, "back": -400 * 24 * time.Hour} {
		a, l := NewLedger(nil, 0).Of("a"), Limits{Day: 100, Month: 100}
		now := at("2026-11-28 23:59:59")
		if no := a.Take(now, 100, l); no != nil {
			t.Fatal(no)
		}
		_ = a.Take(now.Add(jump), 1, l)
		a.Add(now.Add(jump), now.Add(jump), 1)
		if no := a.Take(now, 1, l); no == nil {
			t.Errorf("%s: after the clock is right again there is a new budget", name)
		}
		if no := a.Take(now.Add(24*time.Hour), 1, Limits{Day: 100}); no != nil {
			t.Errorf("%s: the next day does not begin: %+v", name, no)
		}
	}
}

func TestABudgetBeginsAnewAtMidnightInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, l, taken := NewLedger(nil, 0).Of("a"), Limits{Day: 24, Month: 24 * 20}, 0
		for range 31 * 24 * 2 { // January of 2000, where virtual time begins, in half hours
			if a.Take(time.Now(), 1, l) == nil {
				taken++
			}
			time.Sleep(30 * time.Minute)
		}
		if taken != 24*20 {
			t.Errorf("%d were taken of the month", taken)
		}
		if no := a.Take(time.Now(), 1, l); no != nil {
			t.Errorf("in February: %+v", no)
		}
	})
}

// redis is a Shared in memory.
type redis struct {
	mu     sync.Mutex
	counts map[string]int64
	down   bool
}

func (r *redis) Sum(s Sum) (counts [spans]int64, added bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return counts, false, errors.New("down")
	}
	added = true
	for i := range spans {
		if _, is := r.counts[s.Keys[i]]; !is {
			r.counts[s.Keys[i]] = s.Known[i]
		}
		r.counts[s.Keys[i]] += s.Owed[i]
		added = added && (s.Limits[i] == 0 || r.counts[s.Keys[i]]+s.N <= s.Limits[i])
	}
	for i := range spans {
		if added {
			r.counts[s.Keys[i]] += s.N
		}
		counts[i] = r.counts[s.Keys[i]]
	}
	return counts, added, nil
}

func TestGatewaysCountTogetherAndEachItsPartWithoutRedis(t *testing.T) {
	r, l := &redis{counts: map[string]int64{}}, Limits{Day: 100}
	var all [2]*Account
	for i := range all {
		all[i] = NewLedger(r, 2).Of("a")
	}
	now := at("2026-11-28 12:00:00")
	take := func(n int) (taken int) {
		for i := range n {
			if all[i%2].Take(now, 1, l) == nil {
				taken++
			}
		}
		return taken
	}
	if n := take(60); n != 60 {
		t.Fatalf("%d were taken", n)
	}
	all[1].Add(now, now, 0)
	r.down = true
	// what was left when each asked last, by halves: 41/2 and 40/2
	if n := take(80); n != 40 {
		t.Errorf("%d were taken without redis, of 40 that were left", n)
	}
	if no := all[0].Take(now, 1, l); no == nil || !no.Resets.IsZero() && no.Left == 0 {
		t.Errorf("refused for its part alone: %+v", no)
	}
	if u := all[0].Usage(now); !u.Stale || !u.Shared {
		t.Errorf("nothing says that redis is down: %+v", u)
	}
	r.down = false
	all[0].Add(now, now, -10)
	if u := all[1].Usage(now); u.Day.Tokens != 90 || u.Stale {
		t.Errorf("what was owed is not counted: %+v", u)
	}
	if n := take(20); n != 10 {
		t.Errorf("%d were taken of what was given back", n)
	}
}

// Whatever is taken, corrected and refused, by many at once: what is counted is what was used.
func TestNothingIsLostWhereManyCount(t *testing.T) {
	r := &redis{counts: map[string]int64{}}
	for name, shared := range map[string]Shared{"alone": nil, "shared": r} {
		a, l := NewLedger(shared, 2).Of(name), Limits{Day: 5000, Month: 1 << 40}
		now := at("2026-11-28 12:00:00")
		var running sync.WaitGroup
		var used [8]int64
		for i := range used {
			running.Go(func() {
				dice := rand.New(rand.NewPCG(1, uint64(i)))
				for range 500 {
					n := dice.Int64N(20) + 1
					if a.Take(now, n, l) != nil {
						continue
					}
					cost := dice.Int64N(10)
					a.Add(now, now, cost-n)
					used[i] += cost
				}
			})
		}
		running.Wait()
		sum := int64(0)
		for _, n := range used {
			sum += n
		}
		if u := a.Usage(now); u.Day.Tokens != sum || u.Month.Tokens != sum || sum < 4980 || sum > 5080 {
			t.Errorf("%s: %d were used, counted %+v", name, sum, u)
		}
	}
}

func TestAStateIsReadAsItWasWritten(t *testing.T) {
	l, now := NewLedger(nil, 0), at("2026-11-28 23:59:59")
	_ = l.Of("acme").Take(now, 70, Limits{})
	_ = l.Of("acme").Take(now.Add(time.Minute), 20, Limits{})
	l.Of("acme").Add(now, now.Add(time.Minute), 5)
	_ = l.Of("idle")
	var text bytes.Buffer
	if err := l.Save(&text); err != nil || !l.Changed() || l.Changed() {
		t.Fatal(err)
	}
	again := NewLedger(nil, 0)
	if err := again.Load(bytes.NewReader(text.Bytes())); err != nil {
		t.Fatal(err)
	}
	for day, want := range map[time.Time]int64{now: 75, now.Add(time.Minute): 20} {
		if u := again.Of("acme").Usage(day); u.Day.Tokens != want || u.Month.Tokens != 95 {
			t.Errorf("on %v: %+v", day, u)
		}
	}
	for _, torn := range []string{"", "{", text.String()[:text.Len()/2],
		strings.Replace(text.String(), "75", "1e99", 1),
		strings.Replace(text.String(), `"version":1`, `"version":2`, 1),
		strings.Replace(text.String(), `"day"`, `"week"`, 1), `{"version":1,"tenants":{},"tenants":{}}`,
		fmt.Sprintf(`{"version":1,"tenants":{"a":{"day":[{"period":1,"known":0,"own":%d}]}}}`, int64(1)<<62)} {
		bad := NewLedger(nil, 0)
		if err := bad.Load(strings.NewReader(torn)); err == nil || len(bad.accounts) > 0 {
			t.Errorf("%.120s is read: %v", torn, err)
		}
	}
}

func FuzzStateIsReadOrRefused(f *testing.F) {
	f.Add(`{"version":1,"tenants":{"acme":{"day":[{"period":20785,"known":0,"own":7}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		l := NewLedger(nil, 0)
		if l.Load(strings.NewReader(text)) != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := l.Save(&once); err != nil {
			t.Fatal(err)
		}
		again := NewLedger(nil, 0)
		if err := again.Load(bytes.NewReader(once.Bytes())); err != nil {
			t.Fatalf("%s: what was written cannot be read: %v", once.String(), err)
		}
		if err := again.Save(&twice); err != nil || once.String() != twice.String() {
			t.Errorf("%s becomes %s", once.String(), twice.String())
		}
	})
}

func BenchmarkTakeAndAdd(b *testing.B) {
	a, now := NewLedger(nil, 0).Of("a"), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = a.Take(now, 100, Limits{Day: 1 << 50, Month: 1 << 50})
		a.Add(now, now, 20)
	}
}

// What another gateway gives back is no more than it has told of in the period: a request may have been charged the day
// before, or before this gateway listened.
func TestWhatIsGivenBackElsewhereGrantsNothing(t *testing.T) {
	a := NewLedger(nil, 1).Of("acme")
	day, limits := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), Limits{Day: 1000}
	used := func(at time.Time, want int64) {
		t.Helper()
		if got := a.Usage(at).Day.Tokens; got != want {
			t.Errorf("%d are used, want %d", got, want)
		}
	}
	a.Hear(day, -900) // charged before this gateway listened
	used(day, 0)
	if no := a.Take(day, 1001, limits); no == nil {
		t.Error("more than the day has")
	}
	a.Hear(day, 500)
	a.Hear(day, -200)
	used(day, 300)
	a.Add(day, day, 400)
	a.Hear(day, -900)
	used(day, 400)
	next := day.Add(24 * time.Hour)
	a.Hear(day, 600)
	a.Hear(next, -600) // charged the day before
	used(next, 0)
	if no := a.Take(next, 1000, limits); no != nil {
		t.Error("the next day is whole")
	}
}
