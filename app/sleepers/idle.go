package sleepers

import (
	"context"
	"slices"
	"time"

	"octet/routing/fleet"
)

// crowdedFor is how long requests must queue at every replica that serves before another one is woken.
const crowdedFor = time.Second

// stuckFor is how long a replica must sleep with requests at its engine before it is woken for them: those that it
// refuses have left it by then.
const stuckFor = time.Second

// idle is since when a replica has had nothing to do.
type idle struct {
	taken uint64 // requests
	since time.Time
}

// rest puts replicas to sleep that have been idle for long enough, unless requests are held.
func (one *sleeper) rest(now time.Time) {
	replicas := one.of.config.Found(one.name).Replicas
	one.mu.Lock()
	after, tired := one.terms.After, map[*fleet.Replica]*idle{}
	var ready []Replica
	for _, r := range replicas {
		i := one.tired[r.Member]
		if i == nil {
			i = &idle{since: now}
		}
		tired[r.Member] = i
		nothing, taken := r.Idle()
		if taken != i.taken || !nothing || !r.Known || !r.Member.Available() || !r.Member.Quiet() {
			i.taken, i.since = taken, now
		}
		if after > 0 && now.Sub(i.since) >= after {
			i.since = now // in vain, it is tried again when it has been idle for as long again
			ready = append(ready, r)
		}
	}
	one.tired = tired
	one.mu.Unlock()
	awake := slices.ContainsFunc(replicas, func(r Replica) bool { return answers(r.Member) && r.Member.Available() })
	for _, r := range ready {
		if answers(r.Member) || !awake { // those that compute prompts for others sleep after them
			one.lay(r)
		}
	}
}

// lay asks the engine of an idle replica to sleep.
func (one *sleeper) lay(r Replica) {
	if one.queue.Len() > 0 || !r.Member.Rest() {
		return
	}
	one.mu.Lock()
	timeout := one.terms.Timeout
	one.mu.Unlock()
	nothing, _ := r.Idle()
	began := nothing && one.of.begin(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		err := r.Sleep(ctx)
		one.rise(r)
		one.lain(r, err)
		one.look(false)
	})
	if !began {
		r.Member.Rise()
	}
}

// rise ends the rest of a replica, and of one that has taken its place meanwhile.
func (one *sleeper) rise(r Replica) {
	r.Member.Rise()
	replicas := one.of.config.Found(one.name).Replicas
	for _, now := range replicas {
		if now.Member.Spec().Name == r.Member.Spec().Name {
			now.Member.Rise()
		}
	}
}

// lain notes the answer of an engine that was asked to sleep.
func (one *sleeper) lain(r Replica, err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if err != nil {
		one.of.config.Log.Warn("a replica was not put to sleep", "replica", r.Member.Spec().Name, "error", err)
		return
	}
	one.rested++
	one.of.config.Log.Info("an idle replica sleeps", "replica", r.Member.Spec().Name)
}

// crowded reports whether requests have been queued at every replica that serves for crowdedFor, while one sleeps. The
// caller holds mu.
func (one *sleeper) crowded(replicas []Replica, now time.Time) bool {
	sleeps, queued := false, true
	for _, r := range replicas {
		sleeps = sleeps || r.Member.Said() == fleet.Asleep && answers(r.Member)
		if r.Member.Available() && answers(r.Member) {
			queued = queued && r.Member.Load().Waiting > 0
		}
	}
	if !sleeps || !queued {
		one.crowdedAt = time.Time{}
		return false
	}
	if one.crowdedAt.IsZero() {
		one.crowdedAt = now
	}
	return now.Sub(one.crowdedAt) >= crowdedFor
}

// stuck reports whether a replica has slept with requests at its engine for stuckFor: another gateway, or an operator,
// has put it to sleep. vLLM keeps what it is sent while it sleeps until it is woken. The caller holds mu.
func (one *sleeper) stuck(replicas []Replica, now time.Time) bool {
	if !slices.ContainsFunc(replicas, keeps) {
		one.stuckAt = time.Time{}
		return false
	}
	if one.stuckAt.IsZero() {
		one.stuckAt = now
	}
	return now.Sub(one.stuckAt) >= stuckFor
}

// keeps returns true if a replica sleeps, can be woken and has requests.
func keeps(r Replica) bool { return r.Member.Wakable() && r.Busy() }
