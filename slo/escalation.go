package slo

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// EscalationConfig is when a specialist under load is relieved, and when no more. Pressure is a share of what its queue
// may hold or of how long it may keep a request waiting, whichever is nearer to its end: 1 is a refusal. A zero field
// takes the default named beside it.
type EscalationConfig struct {
	Divert, Relax float64       // 0.50, 0.25: step 1 is entered at Divert and left at Relax
	Shed, Ease    float64       // 0.80, 0.50: step 2 is entered at Shed and left at Ease
	Hold          time.Duration // 1 s of pressure at an entry before a step up
	Calm          time.Duration // 5 s of pressure at or below a leave before a step down
}

func (c EscalationConfig) withDefaults() EscalationConfig {
	for _, d := range []struct {
		field *float64
		value float64
	}{{&c.Divert, 0.5}, {&c.Relax, 0.25}, {&c.Shed, 0.8}, {&c.Ease, 0.5}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.Hold <= 0 {
		c.Hold = time.Second
	}
	if c.Calm <= 0 {
		c.Calm = 5 * time.Second
	}
	return c
}

// Steps of an escalation.
const (
	Normal     = 0 // nothing is done
	Diverting  = 1 // unsure requests go to their second choice, shadows are suspended
	Throttling = 2 // and requests below a floor of priority are refused
)

// LeastPriority is the floor that every request passes.
const LeastPriority = -100

// Escalation is one specialist's answer to load. The steps go up and down one at a time. In step 2 the floor of
// priority goes up by one class that has lately asked, again for every Hold that the pressure lasts, and never above
// the most urgent class: where all requests have one priority none is throttled, for the queue's bounds are then the
// fairer ones. It goes down the same way, by one class for every Calm. The floor is that of the intents whose requests
// load the specialist.
//
// Safe for concurrent use. Step, Floor and Loads take no lock.
type Escalation struct {
	cfg   EscalationConfig
	step  atomic.Int32
	floor atomic.Int32 // LeastPriority unless step is Throttling

	mu       sync.Mutex
	pressure float64
	above    time.Time // since when the pressure asks for a step up; zero is not now
	below    time.Time // likewise down
	changed  time.Time
	classes  classes
	loads    loads
	moves    uint64
}

// NewEscalation returns one at Normal.
func NewEscalation(c EscalationConfig) *Escalation {
	e := &Escalation{cfg: c.withDefaults()}
	e.floor.Store(LeastPriority)
	return e
}

// Step returns what is in force.
func (e *Escalation) Step() int { return int(e.step.Load()) }

// Floor returns the least priority that is served.
func (e *Escalation) Floor() int { return int(e.floor.Load()) }

// Loads says whether an intent is one of those whose requests load the specialist: of what has lately asked, the most
// frequent that make up nine tenths. Before the first request each is.
func (e *Escalation) Loads(intent string) bool { return e.loads.has(intent) }

// Intents returns those intents by name.
func (e *Escalation) Intents() []string { return slices.Clone(e.loads.list()) }

// Offer notes that a request of an intent asks with a priority.
func (e *Escalation) Offer(intent string, priority int) {
	e.classes.note(priority)
	e.loads.note(intent)
}

// Observe takes the present pressure and draws the consequences. Call it often: a condition counts as lasting between
// two calls.
func (e *Escalation) Observe(pressure float64, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pressure = pressure
	e.classes.turn(now)
	e.loads.turn(now)
	e.loads.weigh()
	enter, leave := e.bounds()
	since(&e.above, pressure >= enter, now)
	since(&e.below, pressure <= leave, now)
	switch {
	case !e.above.IsZero() && now.Sub(e.above) >= e.cfg.Hold:
		e.above = now
		e.up(now)
	case !e.below.IsZero() && now.Sub(e.below) >= e.cfg.Calm:
		e.below = now
		e.down(now)
	}
}

// bounds are the entry of the next step up, or of the next class in the last, and the leave of this step.
func (e *Escalation) bounds() (enter, leave float64) {
	switch e.step.Load() {
	case Normal:
		return e.cfg.Divert, -1
	case Diverting:
		return e.cfg.Shed, e.cfg.Relax
	}
	return e.cfg.Shed, e.cfg.Ease
}

// since sets at to now when holds begins, and to zero when it ends.
func since(at *time.Time, holds bool, now time.Time) {
	switch {
	case !holds:
		*at = time.Time{}
	case at.IsZero():
		*at = now
	}
}

func (e *Escalation) up(now time.Time) {
	switch step, floor := e.step.Load(), int(e.floor.Load()); step {
	case Normal:
		e.move(Diverting, LeastPriority, now)
	default:
		if next := e.classes.above(floor); next != floor {
			e.move(Throttling, next, now)
		}
	}
}

func (e *Escalation) down(now time.Time) {
	switch step, floor := e.step.Load(), int(e.floor.Load()); step {
	case Throttling:
		if next := e.classes.below(floor); next != LeastPriority {
			e.move(Throttling, next, now)
			return
		}
		e.move(Diverting, LeastPriority, now)
	case Diverting:
		e.move(Normal, LeastPriority, now)
	}
}

func (e *Escalation) move(step int32, floor int, now time.Time) {
	if step != e.step.Load() {
		e.above, e.below, e.changed = time.Time{}, time.Time{}, now
		e.moves++
	}
	e.floor.Store(int32(floor))
	e.step.Store(step)
}

// RetryAfter is when a request that the floor refused may come back: not before the floor could have gone down.
func (e *Escalation) RetryAfter() time.Duration { return e.cfg.Calm }

// EscalationState is an Escalation as GET /admin/breakers shows it.
type EscalationState struct {
	Step        int       `json:"step"` // 0 normal, 1 diverting, 2 throttling
	Pressure    float64   `json:"pressure"`
	Floor       int       `json:"priority_floor"`
	Since       time.Time `json:"since,omitzero"` // zero: ever
	Transitions uint64    `json:"transitions"`
	Enter       float64   `json:"enter"`             // pressure at which it goes on
	Leave       float64   `json:"leave"`             // at or below which it goes back; below zero in step 0
	Intents     []string  `json:"intents,omitempty"` // whose requests load the specialist: the floor is theirs
}

// State returns the present picture.
func (e *Escalation) State() EscalationState {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := EscalationState{Step: e.Step(), Pressure: e.pressure, Floor: e.Floor(), Since: e.changed, Transitions: e.moves,
		Intents: e.Intents()}
	s.Enter, s.Leave = e.bounds()
	return s
}

// Why says in a line what is in force and for what reason.
func (s EscalationState) Why() string {
	return fmt.Sprintf("step %d: pressure %.2f, on at %.2f, back at %.2f", s.Step, s.Pressure, s.Enter, s.Leave)
}
