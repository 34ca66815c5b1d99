package app_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"octet/gateway/receipt"
)

// receiver is a receiver of OTLP over HTTP.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	service string
	head    http.Header // of the last batch
	raw     strings.Builder
	refuse  int // the status of every answer; zero takes all
}

func newReceiver(t testing.TB) *receiver {
	c := new(receiver)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var batch coltracepb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &batch)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.head = r.Header
		if c.refuse != 0 {
			w.WriteHeader(c.refuse)
			return
		}
		c.raw.Write(body)
		for _, from := range batch.ResourceSpans {
			for _, a := range from.Resource.Attributes {
				if a.Key == "service.name" {
					c.service = a.Value.GetStringValue()
				}
			}
			for _, scope := range from.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *receiver) set(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = status
}

// all returns the spans of a trace.
func (c *receiver) all(trace string) (spans []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == trace {
			spans = append(spans, s)
		}
	}
	return spans
}

func (c *receiver) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.spans)
}

// await returns the spans of a trace once it has come, the first of which is the request's own.
func (c *receiver) await(t testing.TB, trace string) tree {
	t.Helper()
	if trace == "" {
		t.Fatal("the request has no trace")
	}
	eventually(t, "the trace "+trace, func() bool { return len(c.all(trace)) > 0 })
	return treeOf(t, c.all(trace))
}

// tree is one trace.
type tree struct {
	whole *tracepb.Span
	parts map[string][]*tracepb.Span // below whole, by their names
}

// treeOf checks what holds of every trace.
func treeOf(t testing.TB, spans []*tracepb.Span) tree {
	t.Helper()
	tr, ids := tree{whole: spans[0], parts: map[string][]*tracepb.Span{}}, map[string]bool{}
	for i, s := range spans {
		if ids[string(s.SpanId)] || len(s.SpanId) != 8 || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s: its id is taken, or it ends before it begins", s.Name)
		}
		ids[string(s.SpanId)] = true
		if i == 0 {
			continue
		}
		if string(s.ParentSpanId) != string(tr.whole.SpanId) || s.StartTimeUnixNano < tr.whole.StartTimeUnixNano ||
			s.EndTimeUnixNano > tr.whole.EndTimeUnixNano {
			t.Errorf("%s is not within %s", s.Name, tr.whole.Name)
		}
		tr.parts[s.Name] = append(tr.parts[s.Name], s)
	}
	return tr
}

func (tr *tree) names() []string { return slices.Sorted(maps.Keys(tr.parts)) }

// attrOf returns an attribute as text; "" if there is none.
func attrOf(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key != key {
			continue
		}
		switch v := a.Value; {
		case v.GetArrayValue() != nil:
			return v.GetArrayValue().Values[0].GetStringValue()
		case v.GetStringValue() != "":
			return v.GetStringValue()
		default:
			return strings.SplitN(fmt.Sprint(v), ":", 2)[1]
		}
	}
	return ""
}

// hasAttrs checks attributes, as pairs; one of "*" is there.
func hasAttrs(t testing.TB, s *tracepb.Span, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := attrOf(s, pairs[i]); got != pairs[i+1] && (pairs[i+1] != "*" || got == "") {
			t.Errorf("%s: %s is %q, want %q", s.Name, pairs[i], got, pairs[i+1])
		}
	}
}

func faultOf(s *tracepb.Span) string {
	if s.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		return ""
	}
	return s.Status.Message
}

// newTraced returns a world whose traces a receiver gets.
func newTraced(t testing.TB, sets ...string) (*world, *receiver) {
	t.Helper()
	c := newReceiver(t)
	return newWorld(t, smallWorld, smallEngines(), append([]string{"tracing.otlp=" + c.URL, "tracing.sample=1",
		"tracing.interval=1ms"}, sets...)...), c
}

// receiptOf returns the receipt of an answer.
func receiptOf(w *world, head http.Header) (r receipt.Receipt) {
	w.T.Helper()
	if status := w.Get(w.Data+"/v1/receipts/"+head.Get("X-Receipt-Id"), &r); status != 200 {
		w.T.Fatalf("the receipt: status %d", status)
	}
	return r
}

const unsaidWords = "zanzibar quokka"

func tracedChat(stream bool) string {
	return fmt.Sprintf(`{"model":"debug","stream":%v,"max_tokens":6,"messages":[{"role":"user","content":%q}]}`, stream,
		unsaidWords)
}

// A request has one trace, whose id is its receipt's, with its parts; its engine is told the span of the question to
// it.
func TestARequestHasOneTrace(t *testing.T) {
	w, c := newTraced(t, "tracing.headers.X-Team=infra", "tracing.service_name=gw")
	for _, stream := range []bool{false, true} {
		resp, body := w.Post("/v1/chat/completions", tracedChat(stream))
		r := receiptOf(w, resp.Header)
		if resp.StatusCode != 200 || r.TraceID != r.ID {
			t.Fatalf("status %d, trace %q of receipt %q: %s", resp.StatusCode, r.TraceID, r.ID, body)
		}
		tr := c.await(t, r.TraceID)
		if got := strings.Join(tr.names(), " "); got != "classify engine queue relay route" {
			t.Fatal(got)
		}
		engine, replica := tr.parts["engine"][0], r.Attempts[0].Replica
		heard := w.Engines[replica].Heard.Load().Get("Traceparent")
		if want := "00-" + r.TraceID + "-" + hex.EncodeToString(engine.SpanId) + "-01"; heard != want {
			t.Errorf("the engine was sent %q, want %q", heard, want)
		}
		hasAttrs(t, tr.whole, "gen_ai.operation.name", "chat", "gen_ai.request.model", "debug", "gen_ai.response.model",
			"debug", "gen_ai.usage.output_tokens", "6", "gen_ai.usage.input_tokens", "*", "octet.specialist", "debug",
			"octet.replica", replica, "octet.receipt", r.ID, "octet.routed_by", "model", "http.response.status_code",
			"200", "http.route", "/v1/chat/completions", "gen_ai.response.finish_reasons", "length")
		hasAttrs(t, engine, "server.address", "127.0.0.1", "server.port", "*", "octet.replica", replica,
			"gen_ai.operation.name", "chat", "error.type", "")
		if tr.whole.Name != "chat debug" || tr.whole.Kind != tracepb.Span_SPAN_KIND_SERVER || faultOf(tr.whole) != "" ||
			engine.Kind != tracepb.Span_SPAN_KIND_CLIENT || len(tr.whole.ParentSpanId) != 0 {
			t.Errorf("%v", tr.whole)
		}
	}
	if c.service != "gw" || c.head.Get("X-Team") != "infra" {
		t.Errorf("service %q, head %v", c.service, c.head)
	}
	if words := c.raw.String(); strings.Contains(words, "quokka") || strings.Contains(words, "⟦") {
		t.Error("there is text of a prompt or of an answer in the spans")
	}
}

// A trace context of the client's is gone on with, and decides; one that is not valid is none.
func TestATraceGoesOnFromTheClients(t *testing.T) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	w, c := newTraced(t, "tracing.sample=0")
	ask := func(headers ...string) (receipt.Receipt, http.Header) {
		resp, _ := w.Post("/v1/chat/completions", tracedChat(false), headers...)
		r := receiptOf(w, resp.Header)
		return r, *w.Engines[r.Attempts[0].Replica].Heard.Load()
	}
	r, heard := ask("traceparent", "00-"+id+"-"+span+"-01", "tracestate", "v=1,w=2")
	tr := c.await(t, id)
	if r.TraceID != id || hex.EncodeToString(tr.whole.ParentSpanId) != span || tr.whole.TraceState != "v=1,w=2" {
		t.Errorf("%q: %v", r.TraceID, tr.whole)
	}
	want := "00-" + id + "-" + hex.EncodeToString(tr.parts["engine"][0].SpanId) + "-01"
	if heard.Get("Traceparent") != want || heard.Get("Tracestate") != "v=1,w=2" || len(heard["Traceparent"]) != 1 {
		t.Errorf("the engine was sent %v, want %s", heard, want)
	}

	r, heard = ask("traceparent", "00-"+id+"-"+span+"-00")
	if got := heard.Get("Traceparent"); r.TraceID != "" || !strings.HasPrefix(got, "00-"+id) ||
		!strings.HasSuffix(got, "-00") || strings.Contains(got, span) {
		t.Errorf("not sampled: trace %q, the engine was sent %q", r.TraceID, got)
	}

	for _, bad := range []string{"00-1-2-01", "00-" + id + "-" + span + "-01-x", "ff-" + id + "-" + span + "-01",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01", "00-" + strings.ToUpper(id) + "-" + span + "-01"} {
		r, heard = ask("traceparent", bad, "tracestate", "v=1")
		if got := heard.Get("Traceparent"); r.TraceID != "" || len(got) != 55 || strings.Contains(got, id) ||
			heard.Get("Tracestate") != "" {
			t.Errorf("%s: the engine was sent %v", bad, heard)
		}
	}
}

// What fails, and what is explained, is traced though it is not within the share.
func TestWhatFailsOrIsExplainedIsTraced(t *testing.T) {
	w, c := newTraced(t, "tracing.sample=0")
	resp, _ := w.Post("/v1/chat/completions", tracedChat(false))
	if r := receiptOf(w, resp.Header); r.TraceID != "" {
		t.Errorf("a request without a trace names %s", r.TraceID)
	}
	resp, _ = w.Post("/v1/chat/completions", tracedChat(false), "X-Explain", "1")
	r := receiptOf(w, resp.Header)
	tr := c.await(t, r.TraceID)
	if heard := w.Engines[r.Attempts[0].Replica].Heard.Load().Get("Traceparent"); !strings.HasSuffix(heard, "-01") ||
		faultOf(tr.whole) != "" {
		t.Errorf("an explained request: the engine was sent %q; %v", heard, tr.whole)
	}

	resp, _ = w.Post("/v1/chat/completions",
		`{"model":"debug","max_tokens":9000,"messages":[{"role":"user","content":"x"}]}`)
	tr = c.await(t, receiptOf(w, resp.Header).TraceID)
	hasAttrs(t, tr.whole, "http.response.status_code", "400", "error.type", "context_length_exceeded",
		"octet.specialist", "debug")
	if faultOf(tr.whole) != "context_length_exceeded" || faultOf(tr.parts["classify"][0]) == "" {
		t.Errorf("a refusal: %v", tr.whole)
	}

	before := c.count()
	if resp, _ = w.Post("/v1/chat/completions", `{"model":`); resp.StatusCode != 400 {
		t.Fatal(resp.StatusCode)
	}
	eventually(t, "the trace of a refusal without a receipt", func() bool { return c.count() == before+1 })
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.spans[before]
	hasAttrs(t, last, "error.type", "invalid_json", "octet.request", resp.Header.Get("X-Request-Id"))
}

// Retries and continuations are questions to engines of their own; a stream that ends with an error is an error.
func TestEveryEngineThatIsAskedHasASpan(t *testing.T) {
	w, c := newTraced(t, "limits.retry_budget=1")
	for _, name := range []string{"debug-0", "debug-1"} {
		w.Fault(name, `{"kind":"die_after_tokens","k":3,"times":1}`)
	}
	resp, _ := w.Post("/v1/chat/completions", strings.Replace(tracedChat(true), `"max_tokens":6`, `"max_tokens":12`, 1))
	r := receiptOf(w, resp.Header)
	tr := c.await(t, r.TraceID)
	engines := tr.parts["engine"]
	if len(r.Attempts) < 2 || len(engines) != len(r.Attempts) || faultOf(engines[0]) != r.Attempts[0].Outcome {
		t.Fatalf("%d attempts, %d engines, the first %v", len(r.Attempts), len(engines), engines[0])
	}
	for i, s := range engines {
		hasAttrs(t, s, "octet.replica", r.Attempts[i].Replica)
	}
	if r.Result.Done != (faultOf(tr.whole) == "") || len(tr.parts["relay"]) != 1 {
		t.Errorf("done %v, but %v", r.Result.Done, tr.whole.Status)
	}
}

// A shadow has a trace of its own, at whatever door its request came: the two are linked.
func TestAShadowIsLinked(t *testing.T) {
	c := newReceiver(t)
	w, _ := newShadowWorld(t, proseEngines(), "tracing.otlp="+c.URL, "tracing.sample=1", "tracing.interval=1ms")
	for i := range surfaces {
		for _, stream := range []bool{false, true} {
			w.shadowIsLinked(&surfaces[i], stream, c)
		}
	}
}

func (w *world) shadowIsLinked(s *surface, stream bool, c *receiver) {
	t := w.T
	t.Helper()
	h := w.askAt(s, s.body(ask("octet", fmt.Sprint("unsure 0.60 ", s.name, stream), 40, stream)), stream,
		"X-Intent", "review")
	r := receiptOf(w, h.head)
	if r.Decision.Shadow == "" {
		t.Fatalf("there is no shadow: %s: %s", r.Decision.ShadowWhy, h.raw)
	}
	tr := c.await(t, r.TraceID)
	if len(tr.whole.Links) != 1 {
		t.Fatalf("%v", tr.whole)
	}
	shadow := c.await(t, hex.EncodeToString(tr.whole.Links[0].TraceId))
	if got := strings.Join(shadow.names(), " "); shadow.whole.Name != "shadow" || got != "engine queue route" ||
		len(shadow.whole.Links) != 1 || hex.EncodeToString(shadow.whole.Links[0].TraceId) != r.TraceID ||
		string(shadow.whole.Links[0].SpanId) != string(tr.whole.SpanId) {
		t.Fatalf("%s: %v", got, shadow.whole)
	}
	hasAttrs(t, shadow.whole, "octet.receipt", r.ID, "octet.specialist", r.Decision.Shadow)
	replica := attrOf(shadow.whole, "octet.replica")
	heard := w.Engines[replica].Heard.Load().Get("Traceparent")
	if !strings.Contains(heard, hex.EncodeToString(shadow.parts["engine"][0].SpanId)) {
		t.Errorf("the shadow's engine was sent %q", heard)
	}
}

// A door is an attribute.
func TestTracesNameTheDoor(t *testing.T) {
	w, c := newTraced(t)
	for door, ask := range map[string][2]string{
		"messages":  {"/v1/messages", `{"model":"debug","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`},
		"responses": {"/v1/responses", `{"model":"debug","max_output_tokens":16,"input":"hi","store":false}`},
	} {
		resp, body := w.Post(ask[0], ask[1])
		if resp.StatusCode != 200 {
			t.Fatalf("%s: %s", door, body)
		}
		tr := c.await(t, receiptOf(w, resp.Header).TraceID)
		native := ""
		if resp.Header.Get("X-Door") == "native" {
			native = "true"
		}
		hasAttrs(t, tr.whole, "octet.door", door, "octet.door.native", native, "http.route", ask[0])
	}
}

// A receiver that is down costs requests nothing but their traces, which are counted; what comes later is sent.
func TestAReceiverThatIsDownCostsTraces(t *testing.T) {
	w, c := newTraced(t, "tracing.timeout=500ms")
	c.set(http.StatusServiceUnavailable)
	if resp, body := w.Post("/v1/chat/completions", tracedChat(false)); resp.StatusCode != 200 {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	eventually(t, "the failure to be counted", func() bool {
		return strings.Contains(w.Metrics(), `octet_traces_total{outcome="failed"} 1`)
	})
	c.set(0)
	resp, _ := w.Post("/v1/chat/completions", tracedChat(false))
	c.await(t, receiptOf(w, resp.Header).TraceID)
	eventually(t, "the trace that was sent to be counted", func() bool {
		return strings.Contains(w.Metrics(), `octet_traces_total{outcome="sent"} 1`)
	})
}

// What is queued when the gateway drains is sent.
func TestADrainSendsTraces(t *testing.T) {
	w, c := newTraced(t, "tracing.interval=1m")
	for range 5 {
		w.Post("/v1/chat/completions", tracedChat(false))
	}
	if c.count() != 0 {
		t.Fatal("they are sent already")
	}
	w.Stop()
	if err := <-w.Ended; err != nil {
		t.Error(err)
	}
	w.Ended <- nil
	w.Close()
	if n := c.count(); n != 5*6 {
		t.Errorf("%d spans", n)
	}
}

// A reload takes the section over: requests are traced elsewhere, or not at all, and what was queued still goes out.
func TestTracingIsReloaded(t *testing.T) {
	w, first := newTraced(t, "tracing.interval=1m")
	second := newReceiver(t)
	apply := func(url string) {
		t.Helper()
		cfg := *w.App.Config()
		cfg.Tracing.OTLP, cfg.Tracing.Interval = url, 1
		if err := w.App.Apply(t.Context(), &cfg); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() string {
		resp, _ := w.Post("/v1/chat/completions", tracedChat(false))
		return receiptOf(w, resp.Header).TraceID
	}
	before := ask()
	apply(second.URL)
	second.await(t, ask())
	first.await(t, before)
	apply("")
	if id := ask(); id != "" || second.count() != 6 {
		t.Errorf("trace %q", id)
	}
}
