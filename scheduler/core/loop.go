package core

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"octet/scheduler"
)

// StepEngine computes one batch. It returns one result for each item, in order, and honours ctx.
// What it returns is read before the next Step, so it may be reused from then on.
type StepEngine interface {
	Step(ctx context.Context, b Batch) ([]Result, error)
}

// LoopConfig is a Core and what it is fed with.
type LoopConfig struct {
	Core Config
	Now  func() scheduler.Time // required
	// takes each step's cache events, in order; must not block, nor keep the slice; nil drops them
	Publish func([]BlockEvent)
	// Stepped is told of each step when it is settled, by the goroutine that schedules: it must not block. nil if
	// there is no telemetry
	Stepped func(Report)
}

// commandBound lets a burst of submits in without a goroutine switch each. Beyond it submitters wait, which is the back
// pressure wanted: the loop takes commands while the engine computes.
const commandBound = 64

// Loop drives an engine step by step. All methods but Run are safe for concurrent use.
type Loop struct {
	engine   StepEngine
	now      func() scheduler.Time
	publish  func([]BlockEvent)
	stepped  func(Report) // nil if there is no telemetry
	commands chan command
	started  atomic.Bool
	ended    chan struct{} // closed when Run has ended every stream

	core    *Core              // owned by Run
	streams map[uint64]*Stream // owned by Run: the live ones

	statsMu sync.Mutex
	stats   scheduler.Stats // guarded by statsMu
}

// command asks Run to take a stream in, or to let it go.
type command struct {
	stream *Stream
	req    Request
	cancel bool
}

// stepped is what became of a step.
type stepped struct {
	results []Result
	err     error
}

// NewLoop returns a Loop that starts with Run.
func NewLoop(cfg LoopConfig, engine StepEngine) (*Loop, error) {
	if cfg.Now == nil || engine == nil {
		return nil, fmt.Errorf("%w: a loop needs a clock and an engine", scheduler.ErrConfig)
	}
	core, err := New(cfg.Core)
	if err != nil {
		return nil, err
	}
	return &Loop{
		engine: engine, now: cfg.Now, publish: cfg.Publish, stepped: cfg.Stepped,
		commands: make(chan command, commandBound), ended: make(chan struct{}),
		core: core, streams: make(map[uint64]*Stream), stats: core.Stats(),
	}, nil
}

// Submit queues r and returns its stream, or why it may not wait: *Refusal, ErrInvalid, ErrClosed, or ctx's error.
// A zero Arrival is now. It returns within one command's time, not one step's.
func (l *Loop) Submit(ctx context.Context, r Request) (*Stream, error) {
	if r.Arrival == 0 {
		r.Arrival = l.now()
	}
	s := &Stream{id: r.ID, loop: l, accepted: make(chan error, 1), mail: make(chan struct{}, 1)}
	select {
	case l.commands <- command{stream: s, req: r}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.ended:
		return nil, scheduler.ErrClosed
	}
	select {
	case err := <-s.accepted:
		if err != nil {
			return nil, err
		}
		return s, nil
	case <-ctx.Done():
		s.Cancel()
		return nil, ctx.Err()
	case <-l.ended:
		return nil, scheduler.ErrClosed
	}
}

// Stats returns a recent picture: of the last command or step that was handled.
func (l *Loop) Stats() scheduler.Stats {
	l.statsMu.Lock()
	defer l.statsMu.Unlock()
	return l.stats
}

// Run schedules until ctx ends, waits for the engine to leave its step, ends every stream with ErrClosed and returns
// ctx's error. It is called once. While there is nothing to do it sleeps.
func (l *Loop) Run(ctx context.Context) error {
	if l.started.Swap(true) {
		panic("scheduler: Run is called twice")
	}
	batches, done := make(chan Batch), make(chan stepped)
	go l.compute(ctx, batches, done)
	out := l.drive(ctx, batches, done)
	if out {
		<-done
	}
	close(batches)
	<-done // closed by compute
	for _, s := range l.streams {
		s.end(scheduler.ErrClosed)
	}
	close(l.ended)
	return ctx.Err()
}

// compute steps the engine for Run, so that commands are taken meanwhile. It ends when batches is closed.
func (l *Loop) compute(ctx context.Context, batches <-chan Batch, done chan<- stepped) {
	defer close(done)
	for b := range batches {
		rs, err := l.engine.Step(ctx, b)
		done <- stepped{rs, err}
	}
}

// drive schedules until ctx ends and reports whether a batch is still out.
func (l *Loop) drive(ctx context.Context, batches chan<- Batch, done <-chan stepped) bool {
	var b Batch
	var began scheduler.Time
	out := false
	for {
		if !out {
			l.takeAll()
			began = l.now()
			b = l.core.Assemble(began)
			if out = len(b.Items) > 0; out {
				batches <- b
			}
		}
		l.report()
		select {
		case <-ctx.Done():
			return out
		case cmd := <-l.commands:
			l.take(cmd)
		case r := <-done:
			if ctx.Err() != nil {
				return false // whatever the engine made of its ctx, the streams are closed, not failed
			}
			l.settle(b, r, began)
			out = false
		}
	}
}

// takeAll handles the commands that are queued, so that they join the next step.
func (l *Loop) takeAll() {
	for {
		select {
		case cmd := <-l.commands:
			l.take(cmd)
		default:
			return
		}
	}
}

func (l *Loop) take(cmd command) {
	id := cmd.stream.id
	if cmd.cancel {
		if l.streams[id] == cmd.stream {
			l.core.Cancel(id)
			delete(l.streams, id)
		}
		return
	}
	_, err := l.core.Add(cmd.req, l.now())
	if err == nil {
		l.streams[id] = cmd.stream
	}
	cmd.stream.accepted <- err
}

// settle delivers a step's tokens, or ends the streams of a step that failed; the others go on. Stats already counts an
// answer when its end is delivered.
func (l *Loop) settle(b Batch, r stepped, began scheduler.Time) {
	now, err := l.now(), l.failure(b, r)
	if l.stepped != nil {
		l.stepped(newReport(&b, r.results, now-began, err != nil))
	}
	if err != nil {
		l.core.Abort(b)
		for i := range b.Items {
			l.core.Cancel(b.Items[i].ID)
		}
		l.report()
		for i := range b.Items {
			l.finish(b.Items[i].ID, err)
		}
		return
	}
	outputs := l.core.Commit(b, r.results, now)
	l.report()
	for _, o := range outputs {
		if s := l.streams[o.ID]; s != nil {
			s.deliver(o)
		}
		if o.Finish != NotFinished {
			l.finish(o.ID, io.EOF)
		}
	}
}

// failure returns why a step cannot be settled.
func (l *Loop) failure(b Batch, r stepped) error {
	if r.err != nil {
		return fmt.Errorf("%w: step %d: %w", scheduler.ErrEngine, b.Step, r.err)
	}
	if len(r.results) != len(b.Items) {
		return fmt.Errorf("%w: step %d: %d results for %d items", scheduler.ErrEngine, b.Step, len(r.results),
			len(b.Items))
	}
	for i := range b.Items {
		if err := checkResult(&b.Items[i], &r.results[i]); err != nil {
			return fmt.Errorf("%w: step %d: %w", scheduler.ErrEngine, b.Step, err)
		}
	}
	return nil
}

func (l *Loop) finish(id uint64, err error) {
	if s := l.streams[id]; s != nil {
		s.end(err)
		delete(l.streams, id)
	}
}

// report publishes what the last command or step changed.
func (l *Loop) report() {
	if events := l.core.TakeEvents(); len(events) > 0 && l.publish != nil {
		l.publish(events)
	}
	stats := l.core.Stats()
	l.statsMu.Lock()
	l.stats = stats
	l.statsMu.Unlock()
}
