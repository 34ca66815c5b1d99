package live

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/gateway/receipt"
)

// Config bounds what is shown.
type Config struct {
	PerSecond int // lines that a Watcher is given
	Watchers  int // at once
	Now       func() time.Time
}

// Decisions gives Watchers the decisions that they want to see. Safe for concurrent use.
type Decisions struct {
	cfg      Config
	watchers atomic.Pointer[[]*Watcher] // nil if there are none; the slice is never modified

	mu sync.Mutex // held to change watchers
}

// New returns Decisions that nothing watches.
func New(cfg Config) *Decisions { return &Decisions{cfg: cfg} }

// PerSecond returns how many lines a Watcher is given in a second.
func (d *Decisions) PerSecond() int { return d.cfg.PerSecond }

// Filter says which decisions are shown; the zero Filter shows all. Names are compared whole.
type Filter struct {
	Specialist string
	Tenant     string
	Outcome    string // ok, error for all that are not ok, or one of those
}

// Outcomes that are no error's code.
const (
	OK   = "ok"
	Left = "client_left" // the client did not wait for the end
	// Failed, in a Filter, is every outcome but OK.
	Failed = "error"
)

func (f *Filter) passes(tenant string, r *receipt.Receipt) bool {
	if f.Tenant != "" && f.Tenant != tenant || f.Specialist != "" && f.Specialist != specialistOf(r) {
		return false
	}
	switch outcome := outcomeOf(r); f.Outcome {
	case "", outcome:
		return true
	case Failed:
		return outcome != OK
	}
	return false
}

// specialistOf returns the specialist that answered, or was to answer.
func specialistOf(r *receipt.Receipt) string {
	if r.Result.Specialist != "" {
		return r.Result.Specialist
	}
	return r.Decision.Specialist
}

func outcomeOf(r *receipt.Receipt) string {
	switch {
	case r.Result.Code != "":
		return r.Result.Code
	case r.Result.Done:
		return OK
	}
	return Left
}

// Watch returns a Watcher, to be closed; false if there are as many as there may be.
func (d *Decisions) Watch(f Filter) (*Watcher, bool) {
	w := &Watcher{of: d, filter: f, lines: make(chan []byte, max(d.cfg.PerSecond, 1))}
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all()
	if len(all) >= d.cfg.Watchers {
		return nil, false
	}
	all = append(slices.Clone(all), w)
	d.watchers.Store(&all)
	return w, true
}

func (d *Decisions) all() []*Watcher {
	if all := d.watchers.Load(); all != nil {
		return *all
	}
	return nil
}

// Offer shows a decision whose request has ended. r is not kept. A nil Decisions shows nothing.
func (d *Decisions) Offer(tenant string, r *receipt.Receipt) {
	if d == nil {
		return
	}
	all := d.watchers.Load()
	if all == nil {
		return
	}
	var line []byte // made once, for the first Watcher that takes it
	for _, w := range *all {
		if !w.filter.passes(tenant, r) {
			continue
		}
		w.seen.Add(1)
		if !w.due(d.cfg.Now()) {
			continue
		}
		if line == nil {
			line = lineOf(tenant, r)
		}
		select {
		case w.lines <- line:
		default: // its page does not read: the count tells
		}
	}
}

func lineOf(tenant string, r *receipt.Receipt) []byte {
	line, err := json.Marshal(summary(tenant, r))
	if err != nil { // a number that JSON has no word for
		return []byte(`{}`)
	}
	return line
}

// Watcher is given lines until it is closed.
type Watcher struct {
	of     *Decisions
	filter Filter
	lines  chan []byte // cap is what is given in a second
	seen   atomic.Uint64
	paid   atomic.Int64 // unix nanoseconds up to which its share is used: at most a second ahead of now
}

// Lines returns the channel of its lines, each one Event as JSON. It is never closed.
func (w *Watcher) Lines() <-chan []byte { return w.lines }

// Seen returns how many decisions its Filter has let pass, shown or not.
func (w *Watcher) Seen() uint64 { return w.seen.Load() }

// due takes one line of the Watcher's share of now; false if there is none left (the generic cell rate algorithm).
func (w *Watcher) due(now time.Time) bool {
	if w.of.cfg.PerSecond < 1 {
		return false
	}
	at, each := now.UnixNano(), int64(time.Second)/int64(w.of.cfg.PerSecond)
	for {
		paid := w.paid.Load()
		next := max(paid, at) + each
		if next > at+int64(time.Second) {
			return false
		}
		if w.paid.CompareAndSwap(paid, next) {
			return true
		}
	}
}

// Close has the Watcher be given nothing more.
func (w *Watcher) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(w.of.all()), func(other *Watcher) bool { return other == w })
	if len(rest) == 0 {
		w.of.watchers.Store(nil)
		return
	}
	w.of.watchers.Store(&rest)
}
