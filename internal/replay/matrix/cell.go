package matrix

import (
	"fmt"
	"math"
	"time"

	"octet/internal/replay"
)

// Trace is a load with a name.
type Trace struct {
	Name string
	replay.Trace
	// Brief is a trace like others, such as a mix or another seed. It is played in the base cell and in pairs alone.
	Brief bool
}

// Cell is one comparison.
type Cell struct {
	Group    Group
	Trace    int // of the design's traces
	Replicas int
	Pool     float64 // of the trace's base pool
	Decode   time.Duration
	Load     float64
	Late     time.Duration // cache events
	Blind    Blind
}

// Group is why a cell is in the design.
type Group uint8

// Groups.
const (
	Base    Group = iota
	Alone         // one factor is not the base cell's
	Pairs         // two levels meet that meet nowhere else
	Unknown       // the gateway does not learn what it could
)

// String returns the name that a command line uses.
func (g Group) String() string { return [...]string{"base", "alone", "pairs", "unknown"}[g] }

// Groups are the names of all.
var Groups = []string{"base", "alone", "pairs", "unknown"}

// Blind is what a gateway does not learn.
type Blind uint8

// Blinds.
const (
	Sees        Blind = iota
	NoEvents          // engines publish no cache events
	LateMetrics       // reports of load are lateMetrics old
	Liars             // a quarter of the replicas report to be idle
)

// lateMetrics is how old reports of load are where they are late.
const lateMetrics = 10 * time.Second

// String says it in a table.
func (b Blind) String() string {
	return [...]string{"", "no events", "metrics 10 s late", "a quarter lies"}[b]
}

// Setup is what all cells have in common.
type Setup struct {
	Config   replay.Config // engine, goal and seed; the rest is the cells'
	Requests int           // of a cell at most
}

// busyAtLoadOne is the share of the time in which engines that compute nothing twice work at load 1.
const busyAtLoadOne = 0.7

// poolOf returns the tokens of a base pool of a trace: 32 of its mean requests, rounded to a power of two, and no less
// than four of its largest. So a quarter of it can serve any request.
func poolOf(t *replay.Trace) int {
	sum, most := 0, 0
	for i := range t.Requests {
		tokens := t.Requests[i].Input + t.Requests[i].Output
		sum, most = sum+tokens, max(most, tokens)
	}
	mean := float64(sum) / float64(len(t.Requests))
	tokens := 1 << int(math.Round(math.Log2(32*mean)))
	for tokens < 4*(most+t.Block) {
		tokens *= 2
	}
	return tokens
}

// mean is what a trace brings on the whole, so that it is added up once.
type mean struct {
	pool     int // tokens of a base pool
	work     replay.Work
	sessions int // requests that wait for no other
	span     time.Duration
	life     time.Duration // of a session
}

func meanOf(t *replay.Trace) mean {
	m := mean{pool: poolOf(t), work: t.Work()}
	m.sessions, m.span, m.life = t.Sessions()
	return m
}

// config returns the replay of a cell, and the requests of its trace that it plays.
//
// A trace of sessions is cut at a time that is well over a session's life behind its beginning: sessions first fill the
// fleet up, and are cut where they are then. Any other is cut behind as many requests.
func (s *Setup) config(c *Cell, t *replay.Trace, m *mean) (replay.Config, replay.Trace, error) {
	out := s.Config
	out.Replicas, out.BlockSize = c.Replicas, t.Block
	out.Blocks = max(1, int(float64(m.pool)*c.Pool)/t.Block)
	out.Timing.Decode, out.EventDelay = c.Decode, c.Late
	switch c.Blind {
	case Sees:
	case NoEvents:
		out.Faults.NoEvents = true
	case LateMetrics:
		out.Faults.MetricsDelay = lateMetrics
	case Liars:
		out.Faults.Lying = max(1, c.Replicas/4)
	}
	if m.span <= 0 {
		return out, *t, fmt.Errorf("%w: a trace whose requests come at once has no load", replay.ErrConfig)
	}
	engines := c.Load * busyAtLoadOne * float64(c.Replicas) // that are busy
	least := float64(min(s.Requests, s.Requests*c.Replicas/wholeFleet))
	if m.life == 0 {
		part := replay.Trace{Block: t.Block, Requests: t.Requests[:min(int(least), len(t.Requests))]}
		work, span := part.Work(), part.Requests[len(part.Requests)-1].At
		out.Rate = engines * span.Seconds() / work.Seconds(&out.Timing)
		return out, part, out.Check()
	}
	rate := engines / (m.work.Seconds(&out.Timing) / float64(m.sessions)) // sessions a second
	turns := rate * float64(len(t.Requests)) / float64(m.sessions)
	want := min(max(least, lives*m.life.Seconds()*turns), float64(s.Requests))
	out.Rate = rate / (float64(m.sessions) / m.span.Seconds())
	end := time.Duration((want/turns + m.life.Seconds()/2) * 1e9)
	return out, t.Until(out.Rate, min(end, time.Duration(m.span.Seconds()/out.Rate*1e9))), out.Check()
}

// wholeFleet is the replicas of a cell that plays as many requests as a cell may.
const wholeFleet = 48

// lives is how many lives of a session a trace of sessions is played for, where the requests of a cell suffice.
const lives = 1.5
