package gate

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"octet/scheduler"
)

// The leases whose first tokens are awaited are those of a slice that is searched: the slow oracle.
func TestAwaitedAsASlice(t *testing.T) {
	for seed := range uint64(50) {
		d := rand.New(rand.NewPCG(seed, 178))
		var w awaited
		var all, gone []*Lease
		for i := range 300 {
			switch at := d.IntN(len(all) + 1); {
			case at == len(all) || d.IntN(3) == 0:
				l := &Lease{}
				l.admitted, l.prefilling = scheduler.Time(i), true
				w.add(l)
				all = append(all, l)
			case d.IntN(3) == 0: // it ends without a first token
				w.remove(all[at])
				gone = append(gone, all[at])
				all = slices.Delete(all, at, at+1)
			default:
				w.came(all[at])
				gone = append(gone, all[:at+1]...)
				all = slices.Delete(all, 0, at+1)
			}
			if len(gone) > 0 { // what is out stays out
				l := gone[d.IntN(len(gone))]
				w.came(l)
				w.remove(l)
			}
			var got []*Lease
			for l := w.eldest; l != nil; l = l.later {
				got = append(got, l)
			}
			if !slices.Equal(got, all) {
				t.Fatalf("seed %d, step %d: %d are awaited, want %d", seed, i, len(got), len(all))
			}
			if err := w.check(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, i, err)
			}
		}
	}
}

// MEGA-50: what stands before a request and is overdue makes it late by as much, as soon as that can be seen; one that
// a later first token overtook does not, and neither does one that has ended.
func TestWhatIsOverdueMakesLate(t *testing.T) {
	const within = time.Second
	for name, end := range map[string]func(b *bench, before *Lease){
		"overtaken": func(b *bench, _ *Lease) {
			l, err := b.ask(100, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.end(l, 100*time.Millisecond)
		},
		"ended": func(b *bench, before *Lease) { b.model.Release(before, b.now) },
		"come":  func(b *bench, before *Lease) { b.model.FirstToken(before, b.now) },
	} {
		b := newBench(t)
		for range 50 {
			b.serve(100, 100*time.Millisecond)
		}
		before, err := b.ask(100, 0)
		if err != nil {
			t.Fatal(err)
		}
		b.now += 500 * time.Millisecond
		l, err := b.ask(100, within)
		if err != nil {
			t.Errorf("%s: it is overdue by 400 ms, 100 ms are to come, and 1 s is left: %v", name, err)
		}
		b.model.Release(l, b.now)
		b.now += 600 * time.Millisecond
		if _, err := b.ask(100, within); !errors.Is(err, scheduler.ErrDeadline) {
			t.Errorf("%s: it is overdue by 1 s: %v", name, err)
		}
		end(b, before)
		if _, err := b.ask(100, within); err != nil {
			t.Errorf("%s: nothing is overdue: %v", name, err)
		}
		if err := b.model.Check(b.now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
