package app

import (
	"time"

	"octet/routing/fleet"
)

// lives tells the fleet what cache events say of replicas' lives. It implements fabric.Lives.
type lives struct{ app *App }

// Ended implements events.Lives.
func (l lives) Ended(replica string, at time.Time) {
	if r, ok := l.app.replicas.fleet.Find(replica); ok {
		r.ShutDown(at, time.Now())
	}
}

// Began implements events.Lives.
func (l lives) Began(replica string) {
	if r, ok := l.app.replicas.fleet.Find(replica); ok {
		r.Return(fleet.WhyEvents)
	}
}

// Silent implements fabric.Lives.
func (l lives) Silent(replica string, silent bool) {
	if r, ok := l.app.replicas.fleet.Find(replica); ok {
		r.SetSilent(silent)
	}
}
