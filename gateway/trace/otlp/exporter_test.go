package otlp

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"octet/gateway/trace"
	"octet/internal/await"
)

// written is a log that is read while it is written.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (l *written) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *written) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// answers is what a receiver does with a batch.
type answers func(w http.ResponseWriter, r *http.Request)

func takes(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

// hangs answers nothing for as long as it is asked.
func hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
	<-r.Context().Done()
}

func refuses(status int) answers {
	return func(w http.ResponseWriter, r *http.Request) {
		takes(w, r)
		w.WriteHeader(status)
	}
}

// rejects takes a batch, and says that it has not taken all of it.
func rejects(w http.ResponseWriter, r *http.Request) {
	takes(w, r)
	body, _ := proto.Marshal(&coltracepb.ExportTraceServiceResponse{
		PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "too old"}})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(body)
}

// exporting returns an Exporter to a receiver whose answers can be changed.
func exporting(t *testing.T, c Config, first answers) (*Exporter, *Counts, *written, func(answers)) {
	t.Helper()
	var mu sync.Mutex
	now := first
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := now
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c.URL, c.Service, c.PerSecond = s.URL, "octet", 1_000_000
	log, counts := new(written), new(Counts)
	e, err := New(c, counts, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, counts, log, func(a answers) {
		mu.Lock()
		defer mu.Unlock()
		now = a
	}
}

// soon are bounds that a test can wait for.
func soon() Config {
	return Config{Queue: 4, Interval: time.Millisecond, Timeout: 300 * time.Millisecond, Close: 50 * time.Millisecond}
}

func one() trace.Trace {
	return trace.Trace{{Context: trace.Context{Trace: strings.Repeat("ab", 16), Span: 7, Flags: 1}, Name: "chat"}}
}

// offer has a trace taken as a request has, and returns once it is known what became of it.
func offer(t *testing.T, e *Exporter, counts *Counts) {
	t.Helper()
	before := all(counts)
	if e.Room() {
		e.Take(one())
	}
	await.True(t, "it is known what became of the trace", func() bool { return all(counts) == before+1 })
}

func all(c *Counts) uint64 {
	sent := c.Read()
	return sent.Exported + sent.Dropped + sent.Failed
}

// Issue 22: whatever is wrong with a receiver, traces are counted as failed, it is logged once and not with each batch,
// and once more when it is over.
func TestAReceiverInTroubleIsToldOnce(t *testing.T) {
	for name, trouble := range map[string]answers{
		"refuses":                 refuses(http.StatusBadRequest),
		"wants a key":             refuses(http.StatusUnauthorized),
		"is overloaded":           refuses(http.StatusServiceUnavailable),
		"throttles":               refuses(http.StatusTooManyRequests),
		"redirects":               refuses(http.StatusTemporaryRedirect),
		"hangs":                   hangs,
		"takes a part":            rejects,
		"goes away in the middle": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"answers with a long word": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, strings.Repeat("x", 1<<16), http.StatusBadRequest)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, counts, log, change := exporting(t, soon(), trouble)
			e.Start()
			for range 3 {
				offer(t, e, counts)
			}
			change(takes)
			offer(t, e, counts)
			await.True(t, "the end of the trouble is told", func() bool {
				return log.count("traces are sent again") == 1
			})
			if sent := counts.Read(); sent != (trace.Sent{Exported: 1, Failed: 3}) {
				t.Errorf("%+v", sent)
			}
			if warned, lines := log.count("level=WARN"), log.count("\n"); warned != 1 || lines != 2 {
				t.Errorf("%d warnings in %d lines: %s", warned, lines, log.text.String())
			}
			if n := log.text.Len(); n > 1500 {
				t.Errorf("the log has %d bytes", n)
			}
		})
	}
}

// Issue 22: a receiver that is not there is one that refuses.
func TestAReceiverThatIsDownIsToldOnce(t *testing.T) {
	e, counts, log, _ := exporting(t, soon(), takes)
	gone := httptest.NewServer(nil)
	gone.Close()
	e.URL = gone.URL
	sender, err := newSender(&e.Config)
	if err != nil {
		t.Fatal(err)
	}
	e.sender = sender
	e.Start()
	for range 3 {
		offer(t, e, counts)
	}
	if sent := counts.Read(); sent.Failed != 3 || log.count("level=WARN") != 1 {
		t.Errorf("%+v, %d warnings", sent, log.count("level=WARN"))
	}
}

// Issue 22: before a receiver that hangs traces wait as far as the queue goes, requests never do, what is dropped is
// counted, and the end takes no longer than it may.
func TestAReceiverThatHangsHoldsUpNothing(t *testing.T) {
	const offered = 1000
	c := soon()
	c.Timeout, c.Close = time.Minute, 20*time.Millisecond
	e, counts, log, _ := exporting(t, c, hangs)
	e.Start()
	for range offered { // none of these may wait: the receiver never answers
		if e.Room() {
			e.Take(one())
		}
		if n := len(e.queue); n > c.Queue {
			t.Fatalf("%d traces wait", n)
		}
	}
	e.Close() // returns, though the batch in flight may take a minute
	sent := counts.Read()
	if sent.Exported != 0 || sent.Dropped == 0 || all(counts) != offered {
		t.Errorf("%+v of %d", sent, offered)
	}
	if n := log.count("level=WARN"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	e.Take(one())
	if counts.Read().Dropped != sent.Dropped+1 {
		t.Error("a trace that comes after the end is not counted")
	}
}

// More a second than are taken are dropped before they are made, and counted.
func TestTracesAreTakenAtARate(t *testing.T) {
	e, counts, _, _ := exporting(t, Config{Queue: 100, Interval: time.Millisecond, Timeout: time.Second,
		Close: time.Second}, takes)
	e.rate.SetLimit(0)
	e.rate.SetBurst(3)
	room := 0
	for range 10 {
		if e.Room() {
			room++
		}
	}
	if sent := counts.Read(); room != 3 || sent.Dropped != 7 {
		t.Errorf("room for %d, %+v", room, sent)
	}
}
