package gate

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A Book beside a list that is searched from end to end: which requests it knows, which it has forgotten, how many are
// away at each priority, and that none is told an earlier time than one before it that is as urgent, while the engines
// say the same.
func TestABookIsAListOfWhoIsAway(t *testing.T) {
	type entry struct {
		id       uint64
		priority int
		due      time.Time
		lapses   time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		b, now := NewBook(rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "grain")), time.Unix(50, 0)
		var list []entry
		forget := func(keep func(entry) bool) {
			kept := list[:0]
			for _, e := range list {
				if keep(e) {
					kept = append(kept, e)
				}
			}
			list = kept
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pass")) * time.Millisecond)
			forget(func(e entry) bool { return e.lapses.After(now) })
			c := Caller{ID: uint64(rapid.IntRange(1, 4).Draw(t, "id"))}
			switch rapid.IntRange(0, 2).Draw(t, "does") {
			case 0, 1:
				s := Sent{Caller: c, Priority: rapid.IntRange(0, 2).Draw(t, "priority"), After: 100 * time.Millisecond,
					Every: 200 * time.Millisecond, Room: 8}
				ahead := 0
				for _, e := range list {
					if e.priority >= s.Priority {
						ahead++
					}
				}
				b.Expected(0, now) // whose time has lapsed is forgotten, and counts as not come
				share := b.share()
				told := b.Tell(&s, now, now)
				least := s.After + time.Duration(share*float64(ahead)*float64(s.Every))
				if told < least || told > b.grains(least*3/2+100*time.Millisecond) || b.grain > 0 && told%b.grain != 0 {
					t.Fatalf("%d ahead, of whom %.2f come: told %v", ahead, share, told)
				}
				lapse := min(max(told/lapseShare, lapseLeast), lapseMost)
				list = append(list, entry{c.ID, s.Priority, now.Add(told), now.Add(told + lapse)})
			case 2:
				at := -1
				for i, e := range list {
					if e.id == c.ID && (at < 0 || e.due.Before(list[at].due)) {
						at = i
					}
				}
				came := b.Come(c, now)
				if at < 0 && came || at >= 0 && !list[at].due.After(now) && !came {
					t.Fatalf("%d came: %t", c.ID, came)
				}
				if came {
					list = append(list[:at], list[at+1:]...)
				}
			}
			for priority := range 3 {
				want := 0
				for _, e := range list {
					if e.priority >= priority {
						want++
					}
				}
				if got := b.Expected(priority, now) / b.share(); int(got+0.5) != want {
					t.Fatalf("%.1f away at %d, want %d", got, priority, want)
				}
			}
			if b.Away() != len(list) {
				t.Fatalf("%d are away, want %d", b.Away(), len(list))
			}
		}
	})
}

// One request that comes early keeps the place that it has, and gives it up when it is served.
func TestOneThatComesEarlyKeepsItsPlace(t *testing.T) {
	b, now := NewBook(time.Second), time.Unix(50, 0)
	s := Sent{Caller: Caller{ID: 1, Exact: true}, After: 8 * time.Second, Every: time.Second}
	if told := b.Tell(&s, now, now); told != 8*time.Second {
		t.Fatal(told)
	}
	for range 5 {
		now = now.Add(time.Second)
		if b.Come(s.Caller, now) {
			t.Fatal("it came too early")
		}
		b.Tell(&s, now, now)
	}
	if told := b.Tell(&s, now, now); told != 3*time.Second || b.Away() != 1 {
		t.Errorf("told %v, %d are away", told, b.Away())
	}
	if b.Served(s.Caller); b.Away() != 0 || b.Since(s.Caller, now) != now {
		t.Errorf("%d are away", b.Away())
	}
}
