package replay

import (
	"time"

	"octet/routing/fleet"
	"octet/scheduler"
)

// reports are what an engine says of its load. A gateway reads them late.
type reports struct {
	delay time.Duration
	lying bool
	said  []report // oldest first: the last one that is old enough, and younger ones
}

// report is a load at a time.
type report struct {
	at   scheduler.Time
	load fleet.Load
}

// note takes the load at now, where it is to be read later.
func (r *reports) note(now scheduler.Time, load func() fleet.Load) {
	if r.delay == 0 || r.lying {
		return
	}
	if n := len(r.said); n > 0 && r.said[n-1].at == now {
		r.said[n-1].load = load()
		return
	}
	r.said = append(r.said, report{now, load()})
}

// read returns what is known at now of a load; the zero Load before the first report is old enough.
func (r *reports) read(now scheduler.Time, load func() fleet.Load) fleet.Load {
	switch {
	case r.lying:
		return fleet.Load{}
	case r.delay == 0:
		return load()
	}
	for len(r.said) > 1 && r.said[1].at <= now-r.delay {
		r.said = r.said[1:]
	}
	if len(r.said) == 0 || r.said[0].at > now-r.delay {
		return fleet.Load{}
	}
	return r.said[0].load
}
