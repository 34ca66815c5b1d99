package emulator

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/routing/events"
	"octet/scheduler"
	"octet/scheduler/core"
)

// Emulator is one emulated engine. Everything but Run is safe for concurrent use.
type Emulator struct {
	cfg     Config
	started time.Time
	life    context.Context // ends when Run has returned
	end     context.CancelFunc

	loop      *core.Loop
	sequences *sequences
	loras     *loraRegistry
	writer    *answerWriter
	codec     codec
	armed     armed
	exports   *exports
	outbox    *outbox
	sleeper   sleeper
	metrics   *metrics
	mux       *http.ServeMux
	requests  atomic.Uint64 // ids that were made here
	weights   atomic.Pointer[weights]

	cacheMu sync.RWMutex // held for reading while a sequence is submitted
	cache   int          // guarded by cacheMu: resets of the prefix cache so far
}

// New returns an engine that computes once Run runs. Its error is ErrConfig, with every fault that c has.
func New(c Config) (*Emulator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Emulator{cfg: c, started: time.Now(), sequences: newSequences(), writer: newAnswerWriter(c.Model),
		outbox: newOutbox(c), exports: newExports(c), sleeper: newSleeper(c)}
	if e.codec, err = newCodec(c); err != nil {
		return nil, err
	}
	e.weights.Store(&weights{c.Weights, firstVersion})
	e.armed.faults = append(e.armed.faults, c.Faults...)
	if e.loras, err = newLoraRegistry(c); err != nil {
		return nil, err
	}
	e.loop, err = core.NewLoop(core.LoopConfig{Core: c.core(), Now: e.now, Publish: e.outbox.changed,
		Stepped: func(r core.Report) { e.metrics.stepped(r) }},
		newStepper(c, e.sequences))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	e.life, e.end = context.WithCancel(context.Background())
	e.metrics = newMetrics(e)
	e.mux = handlers{e}.routes()
	return e, nil
}

// now is the scheduler's clock: time since New.
func (e *Emulator) now() scheduler.Time { return time.Since(e.started) }

// Run computes until ctx ends, then tells the events' readers that the engine is gone, and returns ctx's error. What is
// being answered then ends with an error. It is called once.
func (e *Emulator) Run(ctx context.Context) error {
	defer e.end()
	if _, boots := e.sleeper.state(); boots {
		e.sleeper.wake()
	}
	e.outbox.post(events.Event{Kind: events.Cleared})
	var publishing sync.WaitGroup
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	publishing.Go(func() { e.outbox.run(lasting) })
	err := e.loop.Run(ctx)
	e.outbox.post(events.Event{Kind: events.Shutdown})
	stop()
	publishing.Wait()
	return err
}

// Stats returns a recent picture of the scheduler.
func (e *Emulator) Stats() scheduler.Stats { return e.loop.Stats() }

// Handler returns the engine's HTTP surface. Requests wait until Run runs.
func (e *Emulator) Handler() http.Handler { return e.mux }

// root returns what the chains of l's sequences hang on, since the last reset. cacheMu is held.
func (e *Emulator) root(l lora, salt string) kvpool.BlockHash {
	return e.loras.root(kvpool.NewHasher(e.cfg.Seed+uint64(e.cache)), l, salt)
}

// resetPrefixCache makes every cached block unreachable by hanging all later chains on other roots; the blocks
// themselves are evicted in time. It does nothing and reports false while any sequence is here.
func (e *Emulator) resetPrefixCache() bool {
	e.cacheMu.Lock()
	defer e.cacheMu.Unlock()
	return e.emptyCache(true)
}

// emptyCache is resetPrefixCache for a caller that holds cacheMu. Without tell its events say nothing of it.
func (e *Emulator) emptyCache(tell bool) bool {
	if s := e.loop.Stats(); e.sequences.live() > 0 || s.Used+s.Reserved+s.Waiting > 0 {
		return false
	}
	e.cache++
	if tell {
		e.outbox.post(events.Event{Kind: events.Cleared})
	}
	return true
}
