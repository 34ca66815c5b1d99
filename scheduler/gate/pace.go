package gate

import (
	"math"
	"time"

	"octet/scheduler"
)

// crowd integrates the number of sequences in the engine over time, so that a pace can be put down to the company it
// had.
type crowd struct {
	sum  float64 // sequences × ns, up to at
	at   scheduler.Time
	size int // sequences since at
}

func (c *crowd) tick(now scheduler.Time, size int) {
	c.sum += float64(c.size) * float64(now-c.at)
	c.at, c.size = now, size
}

func (c *crowd) until(now scheduler.Time) float64 { return c.sum + float64(c.size)*float64(now-c.at) }

// sped puts the time since t's tokens were last told down to the came further ones and to who was there. Caller holds
// gateMu.
func (t *Ticket) sped(came int, now scheduler.Time) {
	g := t.gate
	took, sum := float64(now-t.told), g.crowd.until(now)
	g.rates.pace.observe((sum-t.crowd)/took, t.perToken(took, came))
	t.told, t.crowd = now, sum
}

// judged compares the pace that was estimated at t's first token with the one it had. Caller holds gateMu.
func (t *Ticket) judged() {
	if n := t.generated - t.begun; n > 0 && t.first != 0 {
		judge(&t.gate.rates.paceError, t.estimate, t.perToken(float64(t.told-t.first), n))
	}
}

// perToken is the ns a token of one sequence, where all of t's together had n in that time.
func (t *Ticket) perToken(took float64, n int) float64 {
	return took * float64(t.shape.sequences()) / float64(n)
}

// left estimates the tokens that each of t's sequences has to generate, after the first where that is to come: all it
// asked for, which errs to the side of its deadline, or as many as others had.
func (t *Ticket) left() float64 {
	had := t.shape.each(max(t.generated, t.begun))
	if t.first == 0 {
		had++ // the one that the prefill brings
	}
	return max(0, t.gate.rates.tokens(t.maxNew)-float64(had))
}

// since returns from when the tokens of left count: when the last came, or when the first is due.
func (t *Ticket) since(now scheduler.Time) scheduler.Time {
	if t.first != 0 {
		return t.told
	}
	return max(now, t.admitted+t.prefillTime())
}

// prefillTime estimates the time from t's admission to its first token; 0 is unknown.
func (t *Ticket) prefillTime() time.Duration {
	return t.gate.rates.firstToken(t.uncached, t.others)
}

// ends estimates when t will be done at the present pace, always in the future; false where nothing is measured of it
// yet.
func (t *Ticket) ends(now scheduler.Time) (scheduler.Time, bool) {
	r := &t.gate.rates
	if t.first == 0 && !r.prefill.known() {
		return 0, false
	}
	left := t.left()
	if left > 0 && !r.pace.known() {
		return 0, false
	}
	pace := r.pace.level(float64(t.gate.sequences))
	if at := t.since(now) + scheduler.Nanos(pace*left); at > now {
		return at, true
	}
	return now + scheduler.Nanos(pace), true // any token may be its last
}

// ceiling returns how many sequences may be in the engine so that nobody in it is pushed past its own deadline: one
// more slows all by the measured slope of pace over company, and who has a deadline must bear that down to its last
// token. Who could not make it even as things are holds nobody back; who makes it only without any doubt holds back
// further ones. Whoever was told to give way, or is thought away, does not count: running is how many are there then.
// Linear in the running, and free where none of them has a deadline or company costs nothing. Caller holds gateMu.
func (g *Gate) ceiling(running int, now scheduler.Time) int {
	if g.bound == 0 || !g.rates.pace.known() {
		return g.maxRunning
	}
	slope, ok := g.rates.pace.slope()
	alone := g.rates.pace.level(0)
	if !ok || slope*float64(g.maxRunning) <= 1e-6*alone {
		return g.maxRunning
	}
	most := float64(g.maxRunning)
	for _, t := range g.tickets {
		if left := t.left(); t.deadline != maxTime && !t.yielding && !t.away && left > 0 {
			most = min(most, t.bears(float64(running), slope, left, now))
		}
	}
	return int(most)
}

// bears returns how much company t can have up to its deadline, while so many are running.
func (t *Ticket) bears(running, slope, left float64, now scheduler.Time) float64 {
	g := t.gate
	present := g.rates.pace.level(running)
	pace := float64(t.deadline-t.since(now)) / left
	if present > pace {
		return math.Inf(1)
	}
	sure := pace / (1 + doubtful*g.rates.paceError.value() + rounding)
	return max(running, running+math.Floor((sure-present)/slope))
}
