package app_test

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"octet/app"
	"octet/engine/emulator"
	"octet/gateway/receipt"
	"octet/internal/apptest"
	"octet/internal/await"
)

// tracedWith is a feature beside traces: what it sets, what is asked, and what holds of the answer, its receipt and its
// trace. A receipt without an id is of a request that was refused before it had one.
type tracedWith struct {
	name    string
	sets    func(t *testing.T) []string
	before  func(w *world)
	model   string // "" is debug
	headers []string
	status  int    // of the answer
	fault   string // of the trace; "" for none
	parts   string // spans below the request's own
	holds   func(w *world, c *receiver, r *receipt.Receipt, tr *tree)
}

const allParts = "classify engine queue relay route"

func set(sets ...string) func(*testing.T) []string { return func(*testing.T) []string { return sets } }

// holdsSystems has the one place of systems taken by a stream that does not end.
func holdsSystems(w *world) {
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":1}`)
	w.Ask(w.T.Context(), "/v1/chat/completions", surfaces[0].body(ask("systems", "x", 9, true)))
}

var tracedFeatures = []tracedWith{
	{name: "alone", status: 200, parts: allParts},
	{name: "receipts in a file", sets: func(t *testing.T) []string {
		return []string{"receipts.file=" + filepath.Join(t.TempDir(), "receipts"), "limits.receipts=1"}
	}, status: 200, parts: allParts, holds: func(w *world, _ *receiver, r *receipt.Receipt, _ *tree) {
		w.Post("/v1/chat/completions", hello) // so that it is in the file alone
		await.True(w.T, "it is found in the file with its trace", func() bool {
			var kept receipt.Receipt
			return w.Get(w.Admin+"/admin/receipts/"+r.ID, &kept) == http.StatusOK && kept.TraceID == r.TraceID
		})
	}},
	{name: "a deadline that cannot be met", sets: set("specialists[1].scheduler.max_running=1",
		"limits.idle_timeout=1m"), before: holdsSystems, model: "systems", headers: []string{"X-Deadline-Ms", "1000"},
		status: 429, fault: "deadline_unachievable", parts: "classify queue route"},
	{name: "a full queue", sets: set("specialists[1].scheduler.max_running=1", "specialists[1].scheduler.max_waiting=0",
		"limits.idle_timeout=1m"), before: holdsSystems, model: "systems", status: 429, fault: "queue_full",
		parts: "classify queue route"},
	{name: "an idempotency key", headers: []string{"Idempotency-Key", "once"}, status: 200, parts: allParts},
	{name: "an idempotency key that is taken", before: func(w *world) {
		w.Post("/v1/chat/completions", hello, "Idempotency-Key", "taken")
	}, headers: []string{"Idempotency-Key", "taken"}, status: 409, fault: "idempotency_conflict"},
	{name: "an adapter", headers: []string{"X-Adapter", "gdb-v2"}, status: 200, parts: allParts,
		holds: func(w *world, _ *receiver, _ *receipt.Receipt, tr *tree) {
			hasAttrs(w.T, tr.whole, "octet.adapter", "gdb-v2")
		}},
	{name: "an engine that is silent", sets: set("limits.ttft_timeout=150ms", "limits.answer_timeout=150ms",
		"fleet.breaker.failures=1000", "fleet.probe_interval=1h"), before: func(w *world) {
		w.Fault("systems-0", `{"kind":"hang","times":0}`)
	}, model: "systems", status: 504, fault: "upstream_timeout", parts: "classify engine queue route"},
	{name: "a session", headers: []string{"X-Session-Id", "s"}, status: 200, parts: allParts},
}

// Traces beside other features, at every door, whole and streamed: one trace a request, whose id is the receipt's, with
// one span of the gateway's own and one for each engine that was asked.
func TestTracesHoldBesideOtherFeatures(t *testing.T) {
	doors := append([]surface{completions}, surfaces...)
	for i := range tracedFeatures {
		f := &tracedFeatures[i]
		t.Run(f.name, func(t *testing.T) {
			var sets []string
			if f.sets != nil {
				sets = f.sets(t)
			}
			w, c := newTraced(t, sets...)
			if f.before != nil {
				f.before(w)
			}
			for n := range 2 * len(doors) {
				w.tracedAt(&doors[n/2], f, n, c)
			}
		})
	}
}

// tracedAt asks at a door for the n-th time, and looks at the trace.
func (w *world) tracedAt(s *surface, f *tracedWith, n int, c *receiver) {
	w.T.Helper()
	model, stream := f.model, n%2 == 1
	if model == "" {
		model = "debug"
	}
	headers := append([]string{"traceparent", fmt.Sprintf("00-%032x-%016x-01", n+1, n+7)}, f.headers...)
	if f.status == http.StatusOK && strings.HasPrefix(f.name, "an idempotency key") {
		headers[len(headers)-1] += fmt.Sprint(n)
	}
	h := w.askAt(s, s.body(ask(model, fmt.Sprint("question ", n), 6, stream)), stream, headers...)
	if h.code != f.status || h.err != nil && s.name != completions.name { // whose answers that grammar is not for
		w.T.Fatalf("%s, %v: status %d, %v: %s", s.name, stream, h.code, h.err, h.raw)
	}
	id := fmt.Sprintf("%032x", n+1)
	tr := c.await(w.T, id)
	if got := strings.Join(tr.names(), " "); got != f.parts || tr.whole.Kind != tracepb.Span_SPAN_KIND_SERVER ||
		faultOf(tr.whole) != f.fault || hex.EncodeToString(tr.whole.ParentSpanId) != fmt.Sprintf("%016x", n+7) {
		w.T.Errorf("%s, %v: %q, fault %q: %v", s.name, stream, got, faultOf(tr.whole), tr.whole)
	}
	hasAttrs(w.T, tr.whole, "http.route", s.path, "http.response.status_code", fmt.Sprint(f.status), "error.type",
		f.fault)
	if h.head.Get("X-Receipt-Id") == "" {
		return
	}
	r := w.receiptOf(h.head)
	if r.TraceID != id || len(tr.parts["queue"]) != len(r.Attempts) {
		w.T.Errorf("%s: trace %q, %d turns, %d attempts", s.name, r.TraceID, len(tr.parts["queue"]), len(r.Attempts))
	}
	if f.holds != nil {
		f.holds(w, c, r, &tr)
	}
}

// A stream that another replica ends has one trace: one span of the gateway's own that did not fail, one of each
// engine, of which the first did. Each engine is told its own span, and the log names the trace as the receipt does.
func TestAStreamThatGoesOnElsewhereIsOneTrace(t *testing.T) {
	c, log := newReceiver(t), new(lockedBuffer)
	engines := newWorld(t, smallWorld, smallEngines(), "tracing.otlp="+c.URL, "tracing.sample=1",
		"tracing.interval=1ms", "limits.retry_budget=1", "fleet.breaker.failures=100")
	w := &world{engines.With(engines.App.Config(),
		app.Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})}
	for path, body := range continuable {
		w.Fault(w.routed(body).Replica, fmt.Sprintf(`{"kind":%q,"k":3,"times":1}`, emulator.DieAfterTokens))
		id := "cut" + strings.ReplaceAll(path, "/", "-")
		resp, got := w.Post(path, body, "X-Request-Id", id)
		s, r := readStream(strings.NewReader(string(got))), w.receiptOf(resp.Header)
		if !s.done || !s.clean || s.text != indexText(id, 40) || r.Result.Continued != 1 || len(r.Attempts) != 2 {
			t.Fatalf("%+v, attempts %+v", s, r.Attempts)
		}
		tr := c.await(t, r.TraceID)
		if got := strings.Join(tr.names(), " "); got != allParts || faultOf(tr.whole) != "" ||
			len(tr.parts["relay"]) != 1 || len(tr.parts["queue"]) != 2 || len(tr.parts["engine"]) != 2 {
			t.Fatalf("%s: %v", got, tr.parts)
		}
		hasAttrs(t, tr.whole, "octet.continued", "1", "octet.attempts", "2", "gen_ai.usage.output_tokens", "40",
			"octet.receipt", r.ID, "octet.replica", r.Attempts[1].Replica)
		for i, e := range tr.parts["engine"] {
			hasAttrs(t, e, "octet.replica", r.Attempts[i].Replica)
			if fault := faultOf(e); (fault == "") != (i == 1) || i == 0 && fault != r.Attempts[0].Outcome {
				t.Errorf("engine %d: fault %q, attempt %+v", i, fault, r.Attempts[i])
			}
			want := "00-" + r.TraceID + "-" + hex.EncodeToString(e.SpanId) + "-01"
			if heard := w.Engines[r.Attempts[i].Replica].Heard.Load().Get("Traceparent"); heard != want {
				t.Errorf("engine %d was sent %q, want %q", i, heard, want)
			}
		}
		line := apptest.Between(log.String(), "request_id="+id+" ", "\n")
		if !strings.Contains(line, "trace_id="+r.TraceID+" span_id="+hex.EncodeToString(tr.whole.SpanId)) {
			t.Errorf("the log says %q", line)
		}
	}
}
