package sim

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"octet/scheduler"
)

// Shape describes a load. Shares are of requests, in [0,1].
type Shape struct {
	Requests int
	Gap      time.Duration // mean between bursts; exponential
	Burst    int           // arrivals at one moment: 1 to 2·Burst-1, so Burst in the mean; 1 is a Poisson process

	Prompt     int // tokens at least; longer than 2^k times that with probability 2^-k
	PromptMost int
	Aligned    int     // prompts are one token longer than a multiple of it; 0 is any length
	Prefixes   int     // shared beginnings, the same texts for all adapters
	PrefixLen  int     // tokens of one
	Shared     float64 // of the prompts start with one
	Answer     int     // tokens at most; the real length is uniform from 1
	Whole      bool    // the real length is the most

	Adapters, Tenants, Priorities int     // each at least 1; high priorities are rarer, by halves
	Draft                         int     // speculative window
	Cancelled                     float64 // give up at some time
	Patience                      time.Duration
	Deadlines                     float64       // have one
	Slack                         time.Duration // of a deadline: uniform from a quarter of it
	Failures                      float64       // of the engine's steps
	Hybrids                       float64       // have recurrent state
}

// Arrival is one request as it comes.
type Arrival struct {
	ID       uint64
	At       scheduler.Time
	Tokens   []uint32
	Adapter  int
	Tenant   int
	Priority int
	MaxNew   int
	Answer   int // tokens that the model will generate: at most MaxNew
	Draft    int
	Deadline scheduler.Time // 0 means no deadline
	GivesUp  scheduler.Time // 0 means never
	Hybrid   bool
}

// Workload draws the arrivals of one seed.
type Workload struct {
	shape   Shape
	dice    *rand.Rand
	at      scheduler.Time
	pending int // of the present burst
	drawn   int
}

// NewWorkload returns the load of a seed: the same arrivals every time.
func NewWorkload(shape Shape, seed uint64) *Workload {
	return &Workload{shape: shape, dice: rand.New(rand.NewPCG(seed, 0x6f63746574))}
}

// Next returns the next arrival, in order of time; false after the last.
func (w *Workload) Next() (Arrival, bool) {
	if w.drawn == w.shape.Requests {
		return Arrival{}, false
	}
	if w.pending == 0 {
		w.at += w.between(w.shape.Gap)
		w.pending = 1 + w.dice.IntN(2*w.shape.Burst-1)
	}
	w.pending--
	w.drawn++
	a := Arrival{ID: uint64(w.drawn), At: w.at, Adapter: w.dice.IntN(w.shape.Adapters),
		Tenant: w.dice.IntN(w.shape.Tenants)}
	a.Priority = min(bits.TrailingZeros32(w.dice.Uint32()), w.shape.Priorities-1)
	a.Tokens = w.prompt()
	a.MaxNew = 1 + w.dice.IntN(w.shape.Answer)
	a.Answer = 1 + w.dice.IntN(a.MaxNew)
	if w.shape.Whole {
		a.Answer = a.MaxNew
	}
	a.Draft = w.shape.Draft
	if w.dice.Float64() < w.shape.Cancelled {
		a.GivesUp = a.At + w.between(w.shape.Patience)
	}
	if w.dice.Float64() < w.shape.Deadlines {
		a.Deadline = a.At + w.shape.Slack/4 + time.Duration(w.dice.Int64N(int64(w.shape.Slack*3/4)))
	}
	a.Hybrid = w.shape.Hybrids > 0 && w.dice.Float64() < w.shape.Hybrids
	return a, true
}

// between draws a time around mean, in whole microseconds and at least one.
func (w *Workload) between(mean time.Duration) time.Duration {
	return max(time.Microsecond, time.Duration(w.dice.ExpFloat64()*float64(mean)).Truncate(time.Microsecond))
}

// prompt draws a length with a heavy tail and fills it: a shared beginning, perhaps, then tokens of its own.
func (w *Workload) prompt() []uint32 {
	scale := w.shape.Prompt << min(bits.TrailingZeros32(w.dice.Uint32()), 20)
	length := min(w.shape.PromptMost, scale+w.dice.IntN(scale))
	if w.shape.Aligned > 0 {
		length = max(1, length/w.shape.Aligned)*w.shape.Aligned + 1
	}
	tokens := make([]uint32, length)
	shared := 0
	if w.dice.Float64() < w.shape.Shared {
		prefix := uint32(w.dice.IntN(w.shape.Prefixes))
		shared = min(len(tokens), w.shape.PrefixLen)
		for i := range shared {
			tokens[i] = prefix<<12 | uint32(i)
		}
	}
	for i := shared; i < len(tokens); i++ {
		tokens[i] = w.dice.Uint32() | 1<<31
	}
	return tokens
}
