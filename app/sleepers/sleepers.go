package sleepers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"octet/internal/contain"
	"octet/routing/fleet"
	"octet/scheduler/hold"
)

// every is how often specialists are looked at beside what tells of a change.
const every = 100 * time.Millisecond

// width is how many requests that were held are routed at a time.
const width = 4

// Replica is one replica of the newest generation.
type Replica struct {
	Member *fleet.Replica
	Known  bool                            // a probe has found it good
	Wake   func(ctx context.Context) error // asks its engine; at once where the engine does not sleep
	Sleep  func(ctx context.Context) error
	// whether its engine and its Gate have nothing to do, as far as is known, and how many requests they have taken
	Idle func() (idle bool, taken uint64)
	// whether requests of this gateway are at its engine: one that sleeps may keep them until it wakes
	Busy func() bool
}

// Found is what the newest generation has of a specialist.
type Found struct {
	Replicas []Replica
	Coming   bool // others may join them by themselves
	Gone     bool // there is no such specialist
}

// Terms are a specialist's section of the configuration, and its queue's bounds.
type Terms struct {
	Hold, After, Timeout time.Duration
	Argv                 []string // of the program that wakes; nil for the engine's own way
	Wakes                bool     // replicas are woken, whether requests may wait for them or not
	Declared             bool     // the section is given: requests wait for replicas that are down, too
	MaxWaiting           int
	Aging                time.Duration
}

// Config is what Sleepers are made of.
type Config struct {
	Log *slog.Logger
	// Found returns what is in force of a specialist.
	Found   func(specialist string) Found
	Weights func(tenant string) int
	Ceiling int // of priorities
	// Run runs a program for a specialist.
	Run func(ctx context.Context, specialist string, argv []string) error
}

// Sleepers are those of all specialists, over generations. Safe for concurrent use.
type Sleepers struct {
	config  Config
	running sync.WaitGroup

	mu  sync.Mutex          // no sleeper's is taken under it: they take it under theirs
	ctx context.Context     // of wake-ups; nil before Run; guarded by mu
	all map[string]*sleeper // by specialist; guarded by mu
}

// New returns Sleepers of no specialist yet.
func New(c Config) *Sleepers { return &Sleepers{config: c, all: map[string]*sleeper{}} }

// Queue returns where requests of a specialist are held by its terms, the same in all generations.
func (s *Sleepers) Queue(specialist string, t Terms) *hold.Queue {
	return s.declare(specialist, t).queue
}

// declare puts a specialist's terms in force.
func (s *Sleepers) declare(specialist string, t Terms) *sleeper {
	one := s.of(specialist, t)
	one.redeclare(t)
	return one
}

// of returns the sleeper of a specialist, which the first call for that specialist makes by its terms.
func (s *Sleepers) of(specialist string, t Terms) *sleeper {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[specialist]
	if one == nil {
		one = newSleeper(s, specialist, t)
		s.all[specialist] = one
	}
	return one
}

// Look looks whether a specialist's replicas serve, after something may have changed.
func (s *Sleepers) Look(specialist string) {
	s.mu.Lock()
	one := s.all[specialist]
	s.mu.Unlock()
	if one != nil {
		one.look(false)
	}
}

// LookAll looks at all specialists.
func (s *Sleepers) LookAll() {
	for _, one := range s.list() {
		one.look(false)
	}
}

func (s *Sleepers) list() (all []*sleeper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		all = append(all, one)
	}
	return all
}

// Run looks after all specialists until ctx ends, and returns when the last wake-up has.
func (s *Sleepers) Run(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	contain.Every(ctx, every, func(now time.Time) {
		for _, one := range s.list() {
			one.look(false)
			one.rest(now)
		}
	})
	s.running.Wait()
}

// begin runs f beside, if Run runs.
func (s *Sleepers) begin(f func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || s.ctx.Err() != nil {
		return false
	}
	ctx := s.ctx
	s.running.Go(func() { f(ctx) })
	return true
}

// State is what is known of a specialist's sleepers.
type State struct {
	Specialist            string
	Held                  int           // requests
	Woken, Failed, Rested uint64        // wake-ups after which a replica served, others, and times one was put to sleep
	WakeTime              time.Duration // measured; 0 is unknown
}

// States returns the state of each specialist.
func (s *Sleepers) States() (all []State) {
	for _, one := range s.list() {
		all = append(all, one.state())
	}
	return all
}
