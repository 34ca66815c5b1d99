package sleepers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"octet/routing/fleet"
)

// Pauses after a wake-up that has failed, before the next: doubled with each in a row.
const (
	leastPause = 10 * time.Second
	mostPause  = time.Minute
)

// errStill is a wake-up after which no replica serves.
var errStill = errors.New("no replica serves after it")

// waking is the wake-up of a specialist. The zero waking has asked for none.
type waking struct {
	since  time.Time      // when it was asked; zero while none is under way
	target *fleet.Replica // nil for a program
	number uint64         // of the wake-up, so that a late answer is not another's
	beside bool           // others serve, and are crowded
	woke   bool           // the last one had a replica serve
	row    int            // failures in a row
	next   time.Time      // before which none is asked, after a failure
	took   time.Duration  // measured, a fading mean; 0 is unknown
}

func (w *waking) asked() bool { return !w.since.IsZero() }

// left returns the time until a replica serves, by what was measured; 0 is unknown.
func (w *waking) left(now time.Time) time.Duration {
	switch {
	case w.took == 0:
		return 0
	case w.asked():
		return max(w.took-now.Sub(w.since), 0)
	}
	return w.took + max(w.next.Sub(now), 0)
}

// retry is left and an eighth, so that a client does not come back just before. A wake-up that lasts for longer than
// was measured is taken to last as long again.
func (w *waking) retry(now time.Time) time.Duration {
	left := w.left(now)
	if left == 0 && w.asked() {
		return now.Sub(w.since)
	}
	return cmp.Or(left+left/8, max(w.next.Sub(now), 0))
}

// measure takes in how long a wake-up took.
func (w *waking) measure(took time.Duration) {
	if w.took > 0 {
		took = w.took + (took-w.took)/4
	}
	w.took = took
}

// up returns true if the replica that is woken is available: the one of its name in force, which a reload may have put
// in its place. Any that serves is, where a program wakes.
func (w *waking) up(replicas []Replica, serves bool) bool {
	if w.target == nil {
		return serves
	}
	return slices.ContainsFunc(replicas, func(r Replica) bool {
		return r.Known && r.Member.Spec().Name == w.target.Spec().Name && r.Member.Available()
	})
}

// noteServing ends a wake-up after which a replica serves, or that has taken too long; up says that the one which is
// woken is available. It returns true if the replica that serves was woken. The caller holds mu.
func (one *sleeper) noteServing(serves, up bool, now time.Time) (woke bool) {
	w := &one.waking
	if !w.asked() {
		return w.woke && serves
	}
	switch {
	case up:
		one.woken++
		w.measure(now.Sub(w.since))
		fallthrough
	case serves && !w.beside: // another has come by itself
		w.since, w.row, w.next, w.woke = time.Time{}, 0, time.Time{}, up
	case now.Sub(w.since) >= one.terms.Timeout:
		one.fail(errStill, now)
	}
	return w.woke && serves
}

// wake asks for a replica, unless one is asked for already, or has lately been in vain.
func (one *sleeper) wake(replicas []Replica, beside bool, now time.Time) {
	one.mu.Lock()
	defer one.mu.Unlock()
	w := &one.waking
	if w.asked() || now.Before(w.next) || !one.terms.Wakes {
		return
	}
	wake, target := one.way(replicas, beside)
	if wake == nil {
		return
	}
	w.number++
	number, timeout := w.number, one.terms.Timeout
	began := one.of.begin(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		err := wake(ctx)
		one.ended(number, err)
		one.look(false)
	})
	if began {
		w.since, w.target, w.beside, w.woke = now, target, beside, false
		one.of.config.Log.Info("a replica is woken", "specialist", one.name, "replica", nameOf(target),
			"held", one.queue.Len())
	}
}

// way returns how a replica is woken, and which; nil if there is no way. The program is for where none serves. The
// caller holds mu.
func (one *sleeper) way(replicas []Replica, beside bool) (func(context.Context) error, *fleet.Replica) {
	if argv, run := one.terms.Argv, one.of.config.Run; len(argv) > 0 && !beside {
		return func(ctx context.Context) error { return run(ctx, one.name, argv) }, nil
	}
	var sleeping []Replica
	for _, r := range replicas {
		if r.Member.Wakable() && answers(r.Member) {
			sleeping = append(sleeping, r)
		}
	}
	if first := lacking(replicas); beside && len(first) > 0 {
		sleeping = first
	}
	if i := slices.IndexFunc(replicas, keeps); i >= 0 && !one.stuckAt.IsZero() {
		sleeping = replicas[i : i+1]
	}
	if len(sleeping) == 0 {
		return nil, nil
	}
	r := sleeping[one.waking.row%len(sleeping)] // after a failure the next one
	return r.Wake, r.Member
}

// ended notes the answer to a wake-up. One that succeeds is over when a replica serves.
func (one *sleeper) ended(number uint64, err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if err != nil && one.waking.asked() && one.waking.number == number {
		one.fail(err, time.Now())
	}
}

// fail ends a wake-up in vain. The caller holds mu.
func (one *sleeper) fail(err error, now time.Time) {
	w := &one.waking
	pause := min(leastPause<<min(w.row, 3), mostPause)
	w.since, w.next = time.Time{}, now.Add(pause)
	w.row++
	one.failed++
	one.of.config.Log.Warn("a wake-up has failed", "specialist", one.name, "replica", nameOf(w.target), "error", err,
		"again_after", pause)
}

func nameOf(r *fleet.Replica) string {
	if r == nil {
		return ""
	}
	return r.Spec().Name
}
