package otlp

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"

	"octet/gateway/trace"
	"octet/internal/contain"
)

// Config is where traces go, and how.
type Config struct {
	URL     string            // of the receiver; without a path, /v1/traces is asked
	Headers map[string]string // that it is sent
	Service string            // what the gateway is called there
	Version string            // of the program

	PerSecond int           // traces that are taken a second
	Queue     int           // traces that wait to be sent
	Interval  time.Duration // how long a trace waits for others to go with
	Timeout   time.Duration // for a batch, all tries together
	Close     time.Duration // for all that is queued when it is closed
}

// Counts are what became of traces, over all Exporters. Safe for concurrent use.
type Counts struct{ exported, dropped, failed atomic.Uint64 }

// Read returns the counts so far.
func (c *Counts) Read() trace.Sent {
	return trace.Sent{Exported: c.exported.Load(), Dropped: c.dropped.Load(), Failed: c.failed.Load()}
}

// Exporter implements trace.Sink.
type Exporter struct {
	Config
	log    *slog.Logger
	counts *Counts
	sender sdktrace.SpanExporter
	form   form
	rate   *rate.Limiter
	queue  chan trace.Trace // its bound is the configuration's
	done   chan struct{}    // closed by Close, under takeMu: nothing is queued from then on
	takeMu sync.RWMutex     // held to read while a trace is queued, so that Close knows of all that are
	ctx    context.Context  // of what is sent; ends where Close has waited long enough
	cancel context.CancelFunc
	ended  sync.WaitGroup
	closed sync.Once

	full    atomic.Bool // a trace was dropped since the last batch, as the queue was full
	trouble bool        // owned by run: it was told that traces are lost
}

// New returns an Exporter that sends nothing before Start.
func New(c Config, counts *Counts, log *slog.Logger) (*Exporter, error) {
	sender, err := newSender(&c)
	if err != nil {
		return nil, err
	}
	e := &Exporter{Config: c, log: log, counts: counts, sender: sender, form: formOf(&c),
		rate:  rate.NewLimiter(rate.Limit(c.PerSecond), c.PerSecond),
		queue: make(chan trace.Trace, c.Queue), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e, nil
}

// Start begins to send. Close ends it.
func (e *Exporter) Start() { e.ended.Go(e.run) }

// Room implements trace.Sink.
func (e *Exporter) Room() bool {
	switch {
	case len(e.queue) == cap(e.queue):
		e.full.Store(true)
	case e.rate.Allow():
		return true
	}
	e.counts.dropped.Add(1)
	return false
}

// Take implements trace.Sink.
func (e *Exporter) Take(t trace.Trace) {
	if !e.enqueue(t) {
		e.counts.dropped.Add(1)
	}
}

// enqueue returns false if the queue is full, or closed: the request has outlived its configuration.
func (e *Exporter) enqueue(t trace.Trace) bool {
	e.takeMu.RLock()
	defer e.takeMu.RUnlock()
	select {
	case <-e.done:
		return false
	default:
	}
	select {
	case e.queue <- t:
		return true
	default:
		e.full.Store(true)
		return false
	}
}

// Close sends what is queued, as far as its time goes, and ends the Exporter. What became of each trace is counted when
// it returns. Idempotent.
func (e *Exporter) Close() {
	e.closed.Do(func() {
		late := time.AfterFunc(e.Config.Close, e.cancel)
		defer late.Stop()
		e.takeMu.Lock()
		close(e.done)
		e.takeMu.Unlock()
		e.ended.Wait()
		e.cancel()
		e.counts.dropped.Add(uint64(len(e.queue)))  // it was never started
		_ = e.sender.Shutdown(context.Background()) // it holds nothing by now
	})
}

// most is how many traces are sent at once.
const most = 256

func (e *Exporter) run() {
	for {
		select {
		case first := <-e.queue:
			batch := e.gather(first)
			contain.Do(contain.Task, func() { e.send(batch) })
		case <-e.done:
			contain.Do(contain.Task, e.flush)
			return
		}
	}
}

// gather returns a batch that begins with a trace: those that come within the interval, or as many as go at once.
func (e *Exporter) gather(first trace.Trace) []trace.Trace {
	batch := append(make([]trace.Trace, 0, 16), first)
	wait := time.NewTimer(e.Interval)
	defer wait.Stop()
	for len(batch) < most {
		select {
		case t := <-e.queue:
			batch = append(batch, t)
		case <-wait.C:
			return batch
		case <-e.done:
			return batch
		}
	}
	return batch
}

// flush sends what is queued.
func (e *Exporter) flush() {
	for {
		var batch []trace.Trace
		for len(batch) < most && len(e.queue) > 0 {
			batch = append(batch, <-e.queue)
		}
		if len(batch) == 0 {
			return
		}
		e.send(batch)
	}
}

// send sends a batch, and tells of it where that is news.
func (e *Exporter) send(batch []trace.Trace) {
	e.full.Store(false)
	ctx, cancel := context.WithTimeout(e.ctx, e.Timeout)
	defer cancel()
	err := e.sender.ExportSpans(ctx, e.form.spans(batch))
	if err != nil {
		e.counts.failed.Add(uint64(len(batch)))
	} else {
		e.counts.exported.Add(uint64(len(batch)))
	}
	e.tell(err)
}

// tell logs where traces begin to be lost, and where that is over.
func (e *Exporter) tell(err error) {
	lost := err != nil || e.full.Load()
	switch {
	case lost && !e.trouble && err != nil:
		e.log.Warn("traces are not sent: the receiver does not take them", "otlp", e.URL, "error", clip(err.Error()),
			"metric", "octet_traces_total")
	case lost && !e.trouble:
		e.log.Warn("traces come faster than the receiver takes them: some are dropped", "otlp", e.URL,
			"metric", "octet_traces_total")
	case !lost && e.trouble:
		sent := e.counts.Read()
		e.log.Info("traces are sent again", "otlp", e.URL, "dropped", sent.Dropped, "failed", sent.Failed)
	}
	e.trouble = lost
}

// longest is how much of a receiver's words is logged, in bytes.
const longest = 300

func clip(text string) string { return text[:min(len(text), longest)] }
