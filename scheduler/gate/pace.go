package gate

import (
	"math"

	"octet/scheduler"
)

// start begins to measure the pace of l, whose first token comes now. occupancy is the roster's until now.
func (l *Lease) start(occupancy float64, now scheduler.Time) {
	l.reported, l.company, l.atFirst = now, occupancy, l.generated+1
}

// observePace puts the time since l last reported tokens down to the further ones that came, and to the company that it
// had. occupancy is the roster's until now.
func (r *rates) observePace(l *Lease, came int, occupancy float64, now scheduler.Time) {
	took := float64(now - l.reported)
	r.pace.observe((occupancy-l.company)/took, l.perToken(took, came))
	l.reported, l.company = now, occupancy
}

// observeEnd has the rates learn from l, which came to its end: its length, its time, and how far its estimated pace
// was off.
func (r *rates) observeEnd(l *Lease, now scheduler.Time) {
	r.drain.Mark(now)
	if l.first == 0 {
		return
	}
	if n := l.generated - l.atFirst; n > 0 {
		judge(&r.paceError, l.estimate, l.perToken(float64(l.reported-l.first), n))
	}
	r.length.observe(float64(l.shape.each(l.generated)))
	r.service.observe(float64(now - l.admitted))
}

// perToken returns the ns a token of one sequence, where all of l's together had n in that time.
func (l *Lease) perToken(took float64, n int) float64 {
	return took * float64(l.shape.sequences()) / float64(n)
}

// left estimates the tokens that each of l's sequences has to generate, after the first if that is to come: all it
// asked for, which errs to the side of its deadline, or as many as others had.
func (r *rates) left(l *Lease) float64 {
	had := l.shape.each(max(l.generated, l.atFirst))
	if l.first == 0 {
		had++ // the one that the prefill brings
	}
	return max(0, r.tokens(l.maxNew)-float64(had))
}

// since returns from when the tokens of left count: when the last came, or when the first is due.
func (r *rates) since(l *Lease, now scheduler.Time) scheduler.Time {
	if l.first != 0 {
		return l.reported
	}
	return max(now, l.admitted+r.prefillTime(l))
}

// ends estimates when l will be done beside so many sequences, always in the future. It returns false if nothing is
// measured of it yet.
func (r *rates) ends(l *Lease, sequences int, now scheduler.Time) (scheduler.Time, bool) {
	if l.first == 0 && !r.ttft.known() {
		return 0, false
	}
	left := r.left(l)
	if left > 0 && !r.pace.known() {
		return 0, false
	}
	pace := r.pace.level(float64(sequences))
	if at := r.since(l, now) + scheduler.Nanos(pace*left); at > now {
		return at, true
	}
	return now + scheduler.Nanos(pace), true // any token may be its last
}

// ceiling returns how many sequences may run so that no running request is pushed past its own deadline: one more slows
// all by the measured slope of pace over company, and a lease with a deadline must bear that down to its last token. A
// lease that is late as things are holds back no other; one that is in time only by the bare estimate holds back
// further ones. Leases that yield, or are imagined gone, do not count: running is how many sequences there are then.
// Linear in the running, and free if none of them has a deadline or company costs nothing.
func (e *engine) ceiling(running int, now scheduler.Time) int {
	pace := &e.rates.pace
	if e.roster.withDeadline == 0 || !pace.known() {
		return e.maxRunning
	}
	slope, ok := pace.slope()
	alone := pace.level(0)
	if !ok || slope*float64(e.maxRunning) <= 1e-6*alone {
		return e.maxRunning
	}
	most := float64(e.maxRunning)
	for _, l := range e.roster.leases {
		if left := e.rates.left(l); l.deadline != maxTime && !l.yielding && !l.imaginedGone && left > 0 {
			perToken := float64(l.deadline-e.rates.since(l, now)) / left
			most = min(most, e.rates.bears(perToken, float64(running), slope))
		}
	}
	return int(most)
}

// bears returns how much company a lease can have that may take so many ns a token, while so many sequences run.
func (r *rates) bears(perToken, running, slope float64) float64 {
	present := r.pace.level(running)
	if present > perToken {
		return math.Inf(1)
	}
	sure := perToken / (1 + safety*r.paceError.value() + rounding)
	return max(running, running+math.Floor((sure-present)/slope))
}
