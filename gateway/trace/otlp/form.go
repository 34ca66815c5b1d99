package otlp

import (
	"encoding/binary"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"octet/gateway/trace"
)

// form makes spans of the SDK out of ours. Their times and ids are known, so that no tracer of the SDK has made them.
type form struct {
	from  *resource.Resource
	scope instrumentation.Scope
}

func formOf(c *Config) form {
	return form{
		from: resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName(c.Service),
			semconv.ServiceVersion(c.Version)),
		scope: instrumentation.Scope{Name: "octet/gateway", Version: c.Version, SchemaURL: semconv.SchemaURL},
	}
}

func (f *form) spans(batch []trace.Trace) []sdktrace.ReadOnlySpan {
	n := 0
	for _, t := range batch {
		n += len(t)
	}
	all := make([]sdktrace.ReadOnlySpan, 0, n)
	for _, t := range batch {
		for i := range t {
			all = append(all, f.span(&t[i]))
		}
	}
	return all
}

var kinds = [...]oteltrace.SpanKind{trace.Internal: oteltrace.SpanKindInternal, trace.Server: oteltrace.SpanKindServer,
	trace.Client: oteltrace.SpanKindClient}

func (f *form) span(s *trace.Span) sdktrace.ReadOnlySpan {
	own := contextOf(&s.Context, s.Span, false)
	made := tracetest.SpanStub{
		Name: s.Name, SpanContext: own, SpanKind: kinds[s.Kind], StartTime: s.Start, EndTime: s.End,
		Attributes: attributes(s.Attrs), Resource: f.from, InstrumentationScope: f.scope,
	}
	if s.Parent != 0 {
		made.Parent = contextOf(&s.Context, s.Parent, s.Remote)
	}
	for i := range s.Links {
		to := &s.Links[i]
		made.Links = append(made.Links, sdktrace.Link{SpanContext: contextOf(to, to.Span, false)})
	}
	if s.Fault != "" {
		made.Status = sdktrace.Status{Code: codes.Error, Description: s.Fault}
		made.Attributes = append(made.Attributes, semconv.ErrorTypeKey.String(s.Fault))
	}
	return made.Snapshot()
}

// contextOf returns a span of c's trace.
func contextOf(c *trace.Context, span trace.ID, remote bool) oteltrace.SpanContext {
	id, _ := oteltrace.TraceIDFromHex(c.Trace)     // it was made, or read, as one
	state, _ := oteltrace.ParseTraceState(c.State) // what the SDK does not take is left out
	spanID := oteltrace.SpanID{}
	binary.BigEndian.PutUint64(spanID[:], uint64(span))
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{TraceID: id, SpanID: spanID,
		TraceFlags: oteltrace.TraceFlags(c.Flags), TraceState: state, Remote: remote})
}

func attributes(list []trace.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(list)+1) // and error.type
	for _, a := range list {
		key := attribute.Key(a.Key)
		switch v := a.Value.(type) {
		case string:
			out = append(out, key.String(v))
		case int64:
			out = append(out, key.Int64(v))
		case float64:
			out = append(out, key.Float64(v))
		case bool:
			out = append(out, key.Bool(v))
		case []string:
			out = append(out, key.StringSlice(v))
		}
	}
	return out
}
