package discovery

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"octet/config"
	"octet/internal/contain"
)

// Sources are the sources of the configuration in force, with what each found last. Safe for concurrent use.
type Sources struct {
	log     *slog.Logger
	kinds   []Kind
	changed chan<- struct{} // cap == 1: one change that is not looked at yet is enough

	mu      sync.Mutex
	ctx     context.Context // of all that run; nil before Start; guarded by mu
	all     map[origin]*watch
	running sync.WaitGroup
	told    chan struct{} // closed once every source has told something; guarded by mu
}

// origin is a kind of source of a specialist.
type origin struct{ specialist, kind string }

// watch is one source. Sources.mu guards it.
type watch struct {
	origin
	section  config.Discover // as it was opened by
	source   Source
	stop     func() // nil before it runs
	told     bool   // a set or a failure
	set      Set
	failing  error     // nil while it does not
	since    time.Time // that it is, or is not
	failures uint64
}

// NewSources returns no sources yet. changed, of capacity 1, is sent to when what they found is another set.
func NewSources(log *slog.Logger, changed chan<- struct{}, kinds ...Kind) *Sources {
	return &Sources{log: log, kinds: kinds, changed: changed, all: map[origin]*watch{}, told: make(chan struct{})}
}

// Follow has what c asks for watched, and nothing else. A source that is asked for in another way keeps its last set
// until it finds one.
func (s *Sources) Follow(c *config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.all
	s.all = map[origin]*watch{}
	for i := range c.Specialists {
		if sp := &c.Specialists[i]; sp.Discover != nil {
			s.follow(sp, before)
		}
	}
	for _, w := range before {
		if w.stop != nil {
			w.stop()
		}
	}
	s.checkTold()
}

// follow takes over from before what has not changed. Needs mu.
func (s *Sources) follow(sp *config.Specialist, before map[origin]*watch) {
	for _, kind := range s.kinds {
		at := origin{sp.Name, kind.Name}
		old := before[at]
		if old != nil && reflect.DeepEqual(old.section, *sp.Discover) {
			s.all[at] = old
			delete(before, at)
			continue
		}
		source := kind.Open(sp)
		if source == nil {
			continue
		}
		w := &watch{origin: at, section: *sp.Discover, source: source, since: time.Now()}
		if old != nil {
			w.set, w.told, w.failing, w.since, w.failures = old.set, old.told, old.failing, old.since, old.failures
		}
		s.all[at] = w
		if s.ctx != nil {
			s.run(w)
		}
	}
}

// Start runs the sources, and those that Follow opens later, until ctx ends. wait returns when they have ended.
func (s *Sources) Start(ctx context.Context) (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
	for _, w := range s.all {
		s.run(w)
	}
	s.checkTold()
	return s.running.Wait
}

// again is how soon a source that has ended by itself is run again.
const again = time.Second

// run needs mu.
func (s *Sources) run(w *watch) {
	ctx, stop := context.WithCancel(s.ctx)
	w.stop = stop
	s.running.Go(func() {
		defer stop()
		once := func() { w.source.Watch(ctx, func(set Set, err error) { s.tell(w, set, err) }) }
		contain.Do(contain.Task, once)
		contain.Every(ctx, again, func(time.Time) { once() })
	})
}

// tell notes what a source found, or that it could not, unless it is not asked for any more.
func (s *Sources) tell(w *watch, set Set, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[w.origin] != w {
		return
	}
	first := !w.told
	w.told = true
	if err != nil {
		s.failed(w, err)
	} else {
		s.found(w, set, first)
	}
	if first {
		s.checkTold()
	}
}

// failed needs mu.
func (s *Sources) failed(w *watch, err error) {
	w.failures++
	if w.failing == nil || w.failing.Error() != err.Error() {
		s.log.Warn("a source of replicas fails; what it found last stays", "specialist", w.specialist,
			"source", w.kind, "replicas", len(w.set.Replicas), "error", err)
	}
	if w.failing == nil {
		w.since = time.Now()
	}
	w.failing = err
}

// found needs mu.
func (s *Sources) found(w *watch, set Set, first bool) {
	if w.failing != nil {
		s.log.Info("a source of replicas is back", "specialist", w.specialist, "source", w.kind)
		w.failing, w.since = nil, time.Now()
	}
	if !first && reflect.DeepEqual(w.set, set) {
		return
	}
	s.log.Info("replicas found", "specialist", w.specialist, "source", w.kind, "replicas", len(set.Replicas),
		"refused", len(set.Refused))
	w.set = set
	Poke(s.changed)
}

// Poke sends to a channel of capacity 1, unless something is in it already.
func Poke(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default:
	}
}

// Told returns a channel that closes once every source has found something, or has failed.
func (s *Sources) Told() <-chan struct{} { return s.told }

// checkTold needs mu.
func (s *Sources) checkTold() {
	if s.ctx == nil {
		return
	}
	for _, w := range s.all {
		if !w.told {
			return
		}
	}
	select {
	case <-s.told:
	default:
		close(s.told)
	}
}

// Standing is what is known of one source.
type Standing struct {
	Specialist string
	Source     string
	Set        Set
	Failing    error     // nil while it does not
	Since      time.Time // that it fails, or does not
	Failures   uint64
}

// Standings returns all sources, by specialist and then in the order of their kinds.
func (s *Sources) Standings() []Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Standing, 0, len(s.all))
	for _, w := range s.all {
		all = append(all, Standing{w.specialist, w.kind, w.set, w.failing, w.since, w.failures})
	}
	rank := func(kind string) int {
		return slices.IndexFunc(s.kinds, func(k Kind) bool { return k.Name == kind })
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Specialist, b.Specialist), cmp.Compare(rank(a.Source), rank(b.Source)))
	})
	return all
}
