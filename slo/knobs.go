package slo

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sentinels of Knobs.
var (
	ErrUnknownKnob = errors.New("slo: no such knob")
	ErrOutOfRange  = errors.New("slo: value out of the knob's range")
	ErrExpired     = errors.New("slo: the override would have ended already")
	ErrKnob        = errors.New("slo: unusable knob") // a definition's fault
)

// Knob is one number that the config sets and an operator can override while the gateway runs.
type Knob struct {
	Name     string
	Default  float64
	Min, Max float64 // both allowed
}

// Prefixes of the knobs that each intent has, then of those that each specialist has.
const (
	ShadowThreshold = "shadow_threshold." // below this confidence a shadow copy is dispatched
	DivertThreshold = "divert_threshold." // below this confidence, under escalation, the second choice answers
	PriorityFloor   = "priority_floor."   // requests of a lower priority are refused
	LoadStep        = "escalation."       // the step of a specialist's escalation
	// in its last step, requests of a lower priority and of the intents that load it are refused
	LoadFloor = "load_floor."
)

// IntentKnobs returns the three knobs of one intent. The floor's default lets every priority pass.
func IntentKnobs(intent string, shadow, divert float64) []Knob {
	return []Knob{
		{Name: ShadowThreshold + intent, Default: shadow, Max: 1},
		{Name: DivertThreshold + intent, Default: divert, Max: 1},
		{Name: PriorityFloor + intent, Default: -100, Min: -100, Max: 100},
	}
}

// SpecialistKnobs returns the two knobs of one specialist. Its Escalation sets them, unless an operator does.
func SpecialistKnobs(specialist string) []Knob {
	return []Knob{
		{Name: LoadStep + specialist, Default: Normal, Min: Normal, Max: Throttling},
		{Name: LoadFloor + specialist, Default: LeastPriority, Min: LeastPriority, Max: -LeastPriority},
	}
}

// Override is a value that stands in for a knob's default.
type Override struct {
	Value float64   `json:"value"`
	By    string    `json:"by"`
	Why   string    `json:"why"`
	Since time.Time `json:"since"`          // set by Set
	Until time.Time `json:"until,omitzero"` // zero: until it is cleared
}

// KnobState is a knob and what is in force.
type KnobState struct {
	Name     string    `json:"name"`
	Value    float64   `json:"value"` // in force
	Default  float64   `json:"default"`
	Min      float64   `json:"min"`
	Max      float64   `json:"max"`
	Override *Override `json:"override,omitempty"` // an operator's, or nil
	// what the gateway set by itself: in force unless there is an override
	Set *Override `json:"set,omitempty"`
}

// Knobs are the knobs of one gateway. Reading takes no lock and allocates nothing. Safe for concurrent use.
type Knobs struct {
	now   func() time.Time
	table atomic.Pointer[map[string]*Dial] // the map is never modified; a Dial in it may have no knob

	changeMu sync.Mutex // one Define, Dial, Set or Clear at a time
	told     func(name string, o *Override)
}

// NewKnobs returns knobs at their defaults. A nil now stands for time.Now.
func NewKnobs(now func() time.Time, knobs ...Knob) (*Knobs, error) {
	if now == nil {
		now = time.Now
	}
	k := &Knobs{now: now}
	k.table.Store(&map[string]*Dial{})
	if err := k.Define(knobs...); err != nil {
		return nil, err
	}
	return k, nil
}

// Define replaces the set of knobs, as a new config says. An override lives on where its knob does and still allows it.
// On error, ErrKnob, nothing changes.
func (k *Knobs) Define(knobs ...Knob) error {
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	defined := make(map[string]Knob, len(knobs))
	for _, knob := range knobs {
		if _, twice := defined[knob.Name]; twice || knob.Name == "" || !knob.allows(knob.Default) {
			return fmt.Errorf("%w: %q: named twice, or not at all, or a default out of its range", ErrKnob, knob.Name)
		}
		defined[knob.Name] = knob
	}
	table := maps.Clone(*k.table.Load())
	for name, d := range table {
		if _, stays := defined[name]; !stays {
			d.undefine()
		}
	}
	for name, knob := range defined {
		if table[name] == nil {
			table[name] = &Dial{now: k.now}
		}
		table[name].define(knob)
	}
	k.table.Store(&table)
	return nil
}

func (k Knob) allows(v float64) bool { return v >= k.Min && v <= k.Max && !math.IsNaN(v) }

// Dial returns a knob's place for frequent reads. It stays good when the knobs are defined anew, and may be
// asked for before its knob is.
func (k *Knobs) Dial(name string) *Dial {
	if d := (*k.table.Load())[name]; d != nil {
		return d
	}
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	table := maps.Clone(*k.table.Load())
	if table[name] == nil {
		table[name] = &Dial{now: k.now}
		k.table.Store(&table)
	}
	return table[name]
}

// defined returns the place of a knob that there is, and the knob; nil otherwise.
func (k *Knobs) defined(name string) (*Dial, *Knob) {
	d := (*k.table.Load())[name]
	if d == nil {
		return nil, nil
	}
	return d, d.knob.Load()
}

// Value returns what is in force for a knob; false when there is no such knob.
func (k *Knobs) Value(name string) (float64, bool) { return (*k.table.Load())[name].Value() }

// Lookup is Value, and whether an operator has set it.
func (k *Knobs) Lookup(name string) (v float64, overridden, ok bool) {
	return (*k.table.Load())[name].Lookup()
}

// Own is Lookup without what the gateway itself has set: an operator's value, else the configured one.
func (k *Knobs) Own(name string) (v float64, overridden, ok bool) {
	return (*k.table.Load())[name].Own()
}

// Default returns the configured value; false when there is no such knob.
func (k *Knobs) Default(name string) (float64, bool) {
	_, knob := k.defined(name)
	if knob == nil {
		return 0, false
	}
	return knob.Default, true
}

// Adjust is how the gateway itself sets a knob that no operator has; the default puts it back. Values out of the knob's
// range are brought into it. Of a knob that is not there nothing becomes.
func (k *Knobs) Adjust(name string, o Override) {
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	d, knob := k.defined(name)
	if knob == nil {
		return
	}
	o.Value, o.Since, o.Until = min(max(o.Value, knob.Min), knob.Max), k.now(), time.Time{}
	if o.Value == knob.Default {
		d.set.Store(nil)
		return
	}
	d.set.Store(&o)
}

// Reset takes back what Adjust has set.
func (k *Knobs) Reset(name string) {
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	if d := (*k.table.Load())[name]; d != nil {
		d.set.Store(nil)
	}
}

// OnChange has told called with each change by Set and Clear, one at a time; nil is an end of an override. It is called
// once, before the first change.
func (k *Knobs) OnChange(told func(name string, o *Override)) { k.told = told }

// Set overrides a knob, in place of any override there is. ErrUnknownKnob, ErrOutOfRange or ErrExpired.
func (k *Knobs) Set(name string, o Override) error {
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	if err := k.set(name, o); err != nil {
		return err
	}
	k.tell(name, &o)
	return nil
}

// Adopt is Set, or with nil Clear, for a change that was made at another gateway: OnChange is not told of it. latest
// says whether it is to be adopted, while no other change is made. adopted is false if not, or with an error.
func (k *Knobs) Adopt(name string, o *Override, latest func() bool) (adopted bool, err error) {
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	switch {
	case !latest():
		return false, nil
	case o == nil:
		err = k.clear(name)
	default:
		err = k.set(name, *o)
	}
	return err == nil, err
}

func (k *Knobs) tell(name string, o *Override) {
	if k.told != nil {
		k.told(name, o)
	}
}

// set is Set under changeMu.
func (k *Knobs) set(name string, o Override) error {
	d, knob := k.defined(name)
	now := k.now()
	switch {
	case knob == nil:
		return fmt.Errorf("%w: %q", ErrUnknownKnob, name)
	case !knob.allows(o.Value):
		return fmt.Errorf("%w: %s must be within %v and %v, not %v", ErrOutOfRange, name, knob.Min, knob.Max, o.Value)
	case !o.Until.IsZero() && !now.Before(o.Until):
		return fmt.Errorf("%w: %s until %v", ErrExpired, name, o.Until)
	}
	o.Since = now
	d.override.Store(&o)
	return nil
}

// Clear puts a knob back to its default. Without an override nothing changes.
func (k *Knobs) Clear(name string) error {
	k.changeMu.Lock()
	defer k.changeMu.Unlock()
	if err := k.clear(name); err != nil {
		return err
	}
	k.tell(name, nil)
	return nil
}

// clear is Clear under changeMu.
func (k *Knobs) clear(name string) error {
	d, knob := k.defined(name)
	if knob == nil {
		return fmt.Errorf("%w: %q", ErrUnknownKnob, name)
	}
	d.override.Store(nil)
	return nil
}

// List returns all knobs by name.
func (k *Knobs) List() []KnobState {
	table := *k.table.Load()
	list := make([]KnobState, 0, len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		d := table[name]
		knob := d.knob.Load()
		if knob == nil {
			continue
		}
		s := KnobState{Name: name, Value: knob.Default, Default: knob.Default, Min: knob.Min, Max: knob.Max}
		if o := d.set.Load(); o != nil {
			held := *o
			s.Value, s.Set = o.Value, &held
		}
		if o := d.override.Load(); o != nil && o.holds(k.now) {
			held := *o
			s.Value, s.Override = o.Value, &held
		}
		list = append(list, s)
	}
	return list
}
