package slo

import (
	"sync/atomic"
	"time"
)

// Dial is one knob's place, found once: to read it costs no look-up and takes no lock. A nil Dial, and one whose knob
// is not defined, say that there is no such knob.
type Dial struct {
	now      func() time.Time
	knob     atomic.Pointer[Knob]     // nil: not defined
	override atomic.Pointer[Override] // an operator's
	set      atomic.Pointer[Override] // by the gateway itself; never expires
}

// define makes d the place of a knob. What stands in for the one before stays where the new one allows it.
func (d *Dial) define(knob Knob) {
	for _, stands := range []*atomic.Pointer[Override]{&d.override, &d.set} {
		if o := stands.Load(); o != nil && !knob.allows(o.Value) {
			stands.Store(nil)
		}
	}
	d.knob.Store(&knob)
}

// undefine takes the knob away, and what stands in for it.
func (d *Dial) undefine() {
	d.knob.Store(nil)
	d.override.Store(nil)
	d.set.Store(nil)
}

// Value returns what is in force; false when there is no such knob.
func (d *Dial) Value() (float64, bool) {
	v, _, ok := d.Lookup()
	return v, ok
}

// Lookup is Value, and whether an operator has set it.
func (d *Dial) Lookup() (v float64, overridden, ok bool) {
	if v, overridden, ok = d.Own(); overridden || !ok {
		return v, overridden, ok
	}
	if o := d.set.Load(); o != nil {
		return o.Value, false, true
	}
	return v, false, true
}

// Own is Lookup without what the gateway itself has set: an operator's value, else the configured one.
func (d *Dial) Own() (v float64, overridden, ok bool) {
	if d == nil {
		return 0, false, false
	}
	knob := d.knob.Load()
	if knob == nil {
		return 0, false, false
	}
	if o := d.override.Load(); o != nil && o.holds(d.now) {
		return o.Value, true, true
	}
	return knob.Default, false, true
}

// holds asks for the time only where that matters.
func (o *Override) holds(now func() time.Time) bool { return o.Until.IsZero() || now().Before(o.Until) }
