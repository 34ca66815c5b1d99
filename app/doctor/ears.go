package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"octet/app/fabric"
	"octet/config"
	"octet/routing/events"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
	"octet/routing/index"
)

const (
	meetFor   = 3 * time.Second // for a connection to a source to stand
	hearFor   = 3 * time.Second // for the events of a trial to come
	hearEvery = 20 * time.Millisecond
	maxHeard  = 64 // stored events, topics, ranks and names that are kept of a replica
)

// ear listens to one source. Safe for concurrent use.
type ear struct {
	source string
	opened chan struct{} // closed once it hears
	ended  chan struct{} // closed once it does not any more

	mu  sync.Mutex
	by  map[string]*Heard // by replica; guarded by mu
	seq map[life]uint64   // likewise: the highest that was heard
	err error             // guarded by mu
}

// life is one of a replica's publishers between two of its starts.
type life struct {
	replica string
	epoch   uint64
}

// listen runs an ear until ctx ends; running waits for it.
func listen(ctx context.Context, running *sync.WaitGroup, source string,
	run func(ctx context.Context, e *ear, opened func()) error) *ear {
	e := &ear{source: source, opened: make(chan struct{}), ended: make(chan struct{}), by: map[string]*Heard{},
		seq: map[life]uint64{}}
	once := sync.OnceFunc(func() { close(e.opened) })
	running.Go(func() {
		defer close(e.ended)
		err := events.Guard(func() error { return run(ctx, e, once) })
		e.mu.Lock()
		defer e.mu.Unlock()
		e.err = err
	})
	return e
}

// await returns once the ear hears, or cannot.
func (e *ear) await(ctx context.Context) {
	late := time.NewTimer(meetFor)
	defer late.Stop()
	select {
	case <-e.opened:
	case <-e.ended:
	case <-late.C:
	case <-ctx.Done():
	}
}

// zmqEar listens to a replica's own socket.
func zmqEar(ctx context.Context, running *sync.WaitGroup, s *Subject) *ear {
	c := socketsOf(s)
	return listen(ctx, running, c.Endpoint, func(ctx context.Context, e *ear, opened func()) error {
		return zmqstream.Overhear(ctx, c, opened, func(o zmqstream.Overheard) {
			e.note(o.Batch, func(h *Heard) {
				h.Topics = noted(h.Topics, o.Topic)
				if o.Rank != nil {
					h.Ranks = noted(h.Ranks, *o.Rank)
				}
				if o.Bad != nil {
					h.Bad++
				}
			})
		})
	})
}

func socketsOf(s *Subject) zmqstream.Config {
	return zmqstream.Config{Replica: s.Replica.Name, Endpoint: s.Replica.Events.ZMQ, Replay: s.Replica.Events.Replay,
		Control: s.Control}
}

// sharedEars listen to the sources that all replicas share.
func sharedEars(ctx context.Context, running *sync.WaitGroup, c *config.Events) (all []*ear) {
	take := func(e *ear) func(events.Batch) {
		return func(b events.Batch) {
			e.note(b, func(h *Heard) { h.By = noted(h.By, b.By.Name) })
		}
	}
	if c.Redis != nil {
		all = append(all, listen(ctx, running, "redis", func(ctx context.Context, e *ear, opened func()) error {
			at, err := fabric.Redis(c.Redis)
			if err != nil {
				return err
			}
			return redisstream.Overhear(ctx, at, opened, take(e))
		}))
	}
	if c.NATS != nil {
		all = append(all, listen(ctx, running, "nats", func(ctx context.Context, e *ear, opened func()) error {
			return natsstream.Overhear(ctx, fabric.NATS(c.NATS), opened, take(e))
		}))
	}
	return all
}

// note takes a batch; further, under the lock, what else there is to keep of it.
func (e *ear) note(b events.Batch, further func(*Heard)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.by[b.Replica]
	if h == nil {
		if len(e.by) > maxSubjects {
			return // names that are none
		}
		h = &Heard{}
		e.by[b.Replica] = h
	}
	h.Gaps += e.missing(b)
	h.Batches++
	if !b.At.IsZero() {
		h.Lag, h.Lagged = time.Since(b.At), true
	}
	for i := range b.Events {
		if ev := &b.Events[i]; ev.Kind == events.Registered && ev.Tier == index.GPU && len(h.Stored) < maxHeard {
			h.Stored = append(h.Stored, *ev)
		}
	}
	further(h)
}

// missing returns 1 if batches of the same life are missing before b. Under e.mu.
func (e *ear) missing(b events.Batch) int {
	of := life{b.Replica, b.Epoch}
	last, before := e.seq[of]
	if !before && len(e.seq) > maxSubjects {
		return 0 // lives that are none
	}
	e.seq[of] = max(last, b.Seq)
	if before && b.Seq > last+1 {
		return 1
	}
	return 0
}

func noted[T comparable](list []T, one T) []T {
	if len(list) < maxHeard && !slices.Contains(list, one) {
		list = append(list, one)
	}
	return list
}

// of returns what was heard of a replica so far.
func (e *ear) of(replica string) (h Heard) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.by[replica]; known != nil {
		h = *known
		h.Stored, h.Topics, h.Ranks = slices.Clone(h.Stored), slices.Clone(h.Topics), slices.Clone(h.Ranks)
		h.By = slices.Clone(h.By)
	}
	select {
	case <-e.opened:
		h.Open = true
	default:
	}
	h.Source, h.HearErr = e.source, e.err
	return h
}

// others returns the replicas that were heard of and are none of those named.
func (e *ear) others(names map[string]bool) (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name := range e.by {
		if !names[name] {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all[:min(len(all), 8)]
}

// carries returns true if a source may bring the events of a replica.
func carries(source string, e *config.ReplicaEvents) bool {
	if e == nil || e.Source == "any" {
		return true
	}
	if e.Source == "auto" {
		return e.ZMQ == "" || strings.Contains(source, "://")
	}
	return e.Source == source || e.Source == "zmq" && strings.Contains(source, "://")
}
