package slo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ErrSaved is what Restore wraps when it is given what no Save has written.
var ErrSaved = errors.New("slo: not a saved lane")

// Saved is what a Breaker remembers across restarts.
type Saved struct {
	Standing string    `json:"standing"`
	Changed  time.Time `json:"changed,omitzero"`
	Begun    time.Time `json:"begun,omitzero"`
	Served   time.Time `json:"served,omitzero"`    // since when the weights are what they are
	Revision string    `json:"revision,omitempty"` // of the weights, as an engine told it
	Rolling  []Slot    `json:"rolling,omitempty"`
	Evidence []Slot    `json:"evidence,omitempty"`

	Kinds map[string][]Slot `json:"kinds,omitempty"` // Rolling, apart by kind of verdict
}

// Slot is the verdicts on the answers of a while.
type Slot struct {
	At   time.Time `json:"at"` // when the while began
	Pass int       `json:"pass"`
	All  int       `json:"all"`
	// the tenant that gave them; "" is the gateway's own judge, and files of before
	By string `json:"by,omitempty"`
}

// Save returns what Restore needs. A way back that is under way begins anew after it.
func (l *Breaker) Save(now time.Time) Saved {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.saved(now)
}

// saved is Save under mu.
func (l *Breaker) saved(now time.Time) Saved {
	return Saved{
		Standing: Duty(l.standing.Load()).String(), Changed: l.changed, Begun: l.begun,
		Served: l.served, Revision: l.revision,
		Rolling: l.rolling.saved(now), Evidence: l.evidence.saved(now),
		Kinds: l.kinds.saved(now),
	}
}

// Restore makes the lane what it was when s was saved; what has left the window since is left out. ErrSaved, with
// nothing changed, where s is not possible.
func (l *Breaker) Restore(s Saved, now time.Time) error {
	if s.Standing != Primary.String() && s.Standing != ShadowOnly.String() {
		return fmt.Errorf("%w: standing %.32q", ErrSaved, s.Standing)
	}
	for _, slots := range append(slices.Collect(maps.Values(s.Kinds)), s.Rolling, s.Evidence) {
		for _, slot := range slots {
			if slot.Pass < 0 || slot.Pass > slot.All || slot.All > 1<<40 {
				return fmt.Errorf("%w: %d of %d passed", ErrSaved, slot.Pass, slot.All)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rolling.restore(s.Rolling, now)
	l.evidence.restore(s.Evidence, now)
	l.kinds.restore(s.Kinds, now)
	l.changed, l.begun, l.newest = earlier(s.Changed, now), earlier(s.Begun, now), time.Time{}
	l.served, l.revision = earlier(s.Served, now), s.Revision
	l.due.Store(0)
	to := Primary
	if s.Standing == ShadowOnly.String() && l.floor > 0 {
		to = ShadowOnly
	}
	l.standing.Store(uint32(to))
	return nil
}

// earlier keeps a clock that was ahead from freezing a lane.
func earlier(at, now time.Time) time.Time {
	if at.After(now) {
		return now
	}
	return at
}
