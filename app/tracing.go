package app

import (
	"cmp"
	"log/slog"
	"reflect"
	"sync"

	"octet/config"
	"octet/gateway/trace"
	"octet/gateway/trace/otlp"
)

// tracing is where traces go. It outlives generations: what has not changed in the configuration goes on.
type tracing struct {
	log     *slog.Logger
	version string
	counts  otlp.Counts
	retired sync.WaitGroup // Exporters that send what they still have

	current *otlp.Exporter // in force; nil if requests are not traced; under buildMu, as is of
	of      otlp.Config    // what current is made of
}

func newTracing(log *slog.Logger, b Build) *tracing {
	return &tracing{log: log, version: cmp.Or(b.Version, "dev")}
}

// exporterOf returns the Exporter of a configuration, which is the one in force if that would be the same; nil for
// none.
func (t *tracing) exporterOf(c *config.Tracing) (*otlp.Exporter, error) {
	if c.OTLP == "" {
		return nil, nil //nolint:nilnil // no traces are what the configuration asks for
	}
	of := otlp.Config{URL: c.OTLP, Headers: c.Headers, Service: c.ServiceName, Version: t.version,
		PerSecond: c.PerSecond, Queue: c.Queue, Interval: c.Interval, Timeout: c.Timeout, Close: c.CloseTimeout}
	if t.current != nil && reflect.DeepEqual(of, t.of) {
		return t.current, nil
	}
	return otlp.New(of, &t.counts, t.log)
}

// tracerOf returns what traces requests by a configuration, to an Exporter; nil without one.
func tracerOf(c *config.Tracing, to *otlp.Exporter) *trace.Tracer {
	if to == nil {
		return nil
	}
	return trace.New(c.Sample, c.Follow, to)
}

// commit puts an Exporter in force. The one before sends what it has, beside.
func (t *tracing) commit(now *otlp.Exporter) {
	before := t.current
	if before == now {
		return
	}
	t.current, t.of = now, otlp.Config{}
	if now != nil {
		t.of = now.Config
		now.Start()
	}
	if before != nil {
		t.retired.Go(before.Close)
	}
}

// close sends what is queued, within tracing.close_timeout.
func (t *tracing) close() {
	if t.current != nil {
		t.current.Close()
	}
	t.retired.Wait()
}
