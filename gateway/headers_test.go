package gateway

import (
	"bytes"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/classifier"
	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/gateway/wire"
	"octet/slo"
)

// starting is a client whose server takes an answer's fields as they go over the wire.
type starting struct {
	conn.Conn // over sink
	sink      sink
	status    int
	length    int64
	lines     string
}

func newStarting() *starting {
	s := &starting{sink: sink{header: http.Header{}}}
	s.Conn = connOf(&s.sink)
	return s
}

func (s *starting) Start(status int, length int64, lines []byte) {
	s.status, s.length, s.lines = status, length, string(lines)
}

// parsed is what the lines say, read by the letter.
func (s *starting) parsed(t *testing.T) http.Header {
	t.Helper()
	h := http.Header{}
	for s.lines != "" {
		line, rest, ok := strings.Cut(s.lines, "\r\n")
		name, value, named := strings.Cut(line, ": ")
		if !ok || !named || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(value, "\r\n") ||
			len(h[name]) > 0 {
			t.Fatalf("bad line %q", line)
		}
		h[name], s.lines = []string{value}, rest
	}
	if s.length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(s.length, 10)}
	}
	return h
}

// asWritten is a header as net/http writes it.
func asWritten(t *testing.T, h http.Header) map[string]string {
	t.Helper()
	var b strings.Builder
	if err := h.Write(&b); err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(b.String(), "\r\n"), "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		m[name] = value
	}
	return m
}

// opened is a receipt of that id that is to be kept.
func opened(id string) receipt.Draft {
	var d receipt.Draft
	d.Begin(id)
	d.Open("", "chat", time.Time{}, receipt.Asked{})
	return d
}

// sink is a client that reads everything.
type sink struct {
	header http.Header
	body   bytes.Buffer
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Flush()                      {}
func (s *sink) Write(b []byte) (int, error) { return s.body.Write(b) }

// connOf is the connection of a request that is answered on w.
func connOf(w http.ResponseWriter) conn.Conn {
	return conn.Of(w, httptest.NewRequest("POST", wire.Chat.Path(), nil))
}

// answering is an exchange whose replica is about to answer on w.
func answering(tb testing.TB, w http.ResponseWriter) *exchange {
	tb.Helper()
	knobs, err := slo.NewKnobs(nil)
	if err != nil {
		tb.Fatal(err)
	}
	sp := &ensemble.Specialist{Name: "debug", BlockSize: 16, Board: slo.NewBoard(slo.Config{})}
	rt := &ensemble.Runtime{Specialists: []*ensemble.Specialist{sp}}
	s := New(rt.Seal(), Options{Log: slog.New(slog.DiscardHandler), Metrics: metrics.New("", "", ""),
		Knobs: knobs, Receipts: 1, Keys: 1})
	x := s.begin(w, httptest.NewRequest("POST", wire.Chat.Path(), nil))
	x.dispatch.Plan.Specialist, x.request.Stream = sp, true
	return x
}

func TestAHeadIsTheSameForEveryWriter(t *testing.T) {
	now := time.Now()
	for name, arrange := range map[string]func(x *exchange, rep *ensemble.Replica){
		"unary":  func(x *exchange, _ *ensemble.Replica) { x.request.Stream = false },
		"stream": func(*exchange, *ensemble.Replica) {},
		"explained, classified, with an adapter": func(x *exchange, _ *ensemble.Replica) {
			x.request.Stream, x.request.Intent.Explain = false, true
			x.dispatch.Attempts, x.dispatch.Queued, x.dispatch.Cached = 3, 1234567*time.Microsecond, 4096
			x.decision.Verdict = classifier.Verdict{Adapter: "lora", RoutedBy: classifier.ByClassifier,
				Confidence: 0.98765}
			x.receipt = opened("r-1")
		},
		"with SLOs": func(x *exchange, _ *ensemble.Replica) {
			for range 100 {
				x.dispatch.Plan.Specialist.Board.ObserveTTFT(now, 40*time.Millisecond)
				x.dispatch.Plan.Specialist.Board.ObserveEnd(time.Now(), false)
			}
		},
		"names that would be more": func(x *exchange, rep *ensemble.Replica) {
			x.dispatch.Plan.Specialist.Name, rep.Opaque = "a\r\nX-Replica: b\r\n\r\n{}", "\n"
			x.rt.Seal()
			rep.Seal()
			x.decision.Adapter = "a: b\rc: d\n\r"
		},
	} {
		t.Run(name, func(t *testing.T) {
			plain := &sink{header: http.Header{}}
			x := answering(t, plain)
			x.decision.Confidence = math.NaN()
			x.request.ID = "the-id"
			rep := &ensemble.Replica{Name: "debug-0", Opaque: "abc"}
			rep.Seal()
			arrange(x, rep)
			x.Timer = intake.StartTimer(now, func(time.Time) time.Duration { return 5 * time.Millisecond })
			length := 17
			if x.request.Stream {
				length = -1
			}
			direct := newStarting()
			between := &sink{header: http.Header{"X-Between": {"kept"}, "X-Replica": {"not this"}}}
			for _, w := range []http.ResponseWriter{plain, direct, between} {
				x.w = connOf(w)
				x.Head(rep, now, length)
			}
			if diff := cmp.Diff(asWritten(t, plain.header), asWritten(t, direct.parsed(t))); diff != "" ||
				direct.status != http.StatusOK {
				t.Errorf("status %d (-header +start):\n%s", direct.status, diff)
			}
			want := maps.Clone(plain.header)
			want["X-Between"] = []string{"kept"}
			if diff := cmp.Diff(want, between.header); diff != "" {
				t.Errorf("with a header in place (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnErrorIsTheSameForEveryWriter(t *testing.T) {
	for _, e := range []*apierr.Error{apierr.New(apierr.InvalidAPIKey, "", "no"),
		apierr.New(apierr.InvalidRequest, "messages", "odd\r\n"),
		{Code: apierr.Overloaded, RetryAfter: 1500 * time.Millisecond}} {
		recorded, direct := httptest.NewRecorder(), newStarting()
		writeError(recorded, nil, identity{request: "id\r\nX: y", receipt: "r"}, e)
		writeError(direct, nil, identity{request: "id\r\nX: y", receipt: "r"}, e)
		if diff := cmp.Diff(asWritten(t, recorded.Header()), asWritten(t, direct.parsed(t))); diff != "" ||
			direct.status != recorded.Code || direct.sink.body.String() != recorded.Body.String() {
			t.Errorf("%v: status %d and %d, %q and %q (-header +start):\n%s", e, recorded.Code, direct.status,
				recorded.Body, &direct.sink.body, diff)
		}
	}
}

// BenchmarkHead is the head of a unary answer, up to the server.
func BenchmarkHead(b *testing.B) {
	x := answering(b, benchedStart{connOf(&sink{header: http.Header{}})})
	x.request.Stream, x.decision.Confidence, x.dispatch.Cached, x.dispatch.Attempts = false, math.NaN(), 240, 1
	x.request.ID, x.receipt = "0123456789abcdef0123456789abcdef", opened("0123456789abcdef0123456789abcdef")
	rep := &ensemble.Replica{Name: "debug-0", Opaque: "abc"}
	rep.Seal()
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		x.Head(rep, now, 300)
	}
}

// benchedStart is starting without a copy.
type benchedStart struct{ conn.Conn }

func (benchedStart) Start(int, int64, []byte) {}
