package gateway

import (
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
	"octet/gateway/receipt"
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
	s := &starting{sink: sink{header: http.Header{}, keep: true}}
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
	d := receipt.Begin(id)
	d.Open("", "chat", time.Time{}, &receipt.Asked{})
	return d
}

func TestAHeadIsTheSameForEveryWriter(t *testing.T) {
	now := time.Now()
	for name, arrange := range map[string]func(x *exchange){
		"unary":  func(x *exchange) { x.request.Stream = false },
		"stream": func(*exchange) {},
		"explained, classified, with an adapter": func(x *exchange) {
			x.request.Stream, x.request.Intent.Explain = false, true
			x.attempts, x.queued, x.predicted = 3, 1234567*time.Microsecond, 4096
			x.decision.Verdict = classifier.Verdict{Adapter: "lora", RoutedBy: classifier.ByClassifier,
				Confidence: 0.98765}
			x.receipt = opened("r-1")
		},
		"with SLOs": func(x *exchange) {
			for range 100 {
				x.sp.Board.ObserveTTFT(now, 40*time.Millisecond)
				x.sp.Board.ObserveEnd(time.Now(), false)
			}
		},
		"names that would be more": func(x *exchange) {
			x.sp.Name, x.turn.rep.Opaque = "a\r\nX-Replica: b\r\n\r\n{}", "\n"
			x.rt.Seal()
			x.turn.rep.Seal()
			x.decision.Adapter = "a: b\rc: d\n\r"
		},
	} {
		t.Run(name, func(t *testing.T) {
			plain := &sink{header: http.Header{}}
			x := stage(t, plain)
			x.decision.Confidence = math.NaN()
			x.request.ID = "the-id"
			arrange(x)
			x.s.since = func(time.Time) time.Duration { return 5 * time.Millisecond }
			length := 17
			if x.request.Stream {
				length = -1
			}
			direct := newStarting()
			between := &sink{header: http.Header{"X-Between": {"kept"}, "X-Replica": {"not this"}}}
			for _, w := range []http.ResponseWriter{plain, direct, between} {
				x.w = connOf(w)
				x.Head(now, length)
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
	s := stage(t, &sink{header: http.Header{}}).s
	for _, e := range []*apierr.Error{apierr.New(apierr.InvalidAPIKey, "", "no"),
		apierr.New(apierr.InvalidRequest, "messages", "odd\r\n"),
		{Code: apierr.Overloaded, RetryAfter: 1500 * time.Millisecond}} {
		recorded, direct := httptest.NewRecorder(), newStarting()
		writeError(recorded, "id\r\nX: y", "r", e)
		writeError(direct, "id\r\nX: y", "r", e)
		if diff := cmp.Diff(asWritten(t, recorded.Header()), asWritten(t, direct.parsed(t))); diff != "" ||
			direct.status != recorded.Code || direct.sink.body.String() != recorded.Body.String() {
			t.Errorf("%v: status %d and %d, %q and %q (-header +start):\n%s", e, recorded.Code, direct.status,
				recorded.Body, &direct.sink.body, diff)
		}
	}
}

// BenchmarkHead is the head of a unary answer, up to the server.
func BenchmarkHead(b *testing.B) {
	x := stage(b, benchedStart{connOf(&sink{header: http.Header{}})})
	x.request.Stream, x.decision.Confidence, x.predicted, x.attempts = false, math.NaN(), 240, 1
	x.request.ID, x.receipt = "0123456789abcdef0123456789abcdef", opened("0123456789abcdef0123456789abcdef")
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		x.Head(now, 300)
	}
}

// benchedStart is starting without a copy.
type benchedStart struct{ conn.Conn }

func (benchedStart) Start(int, int64, []byte) {}
