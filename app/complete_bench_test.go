package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"octet/app"
	"octet/config"
	"octet/engine"
	"octet/gateway/conn"
	"octet/routing/plugins"
)

// benchConfig has two replicas of known size to choose from, and all that is done for every request.
const benchConfig = `
auth: {anonymous: true}
limits: {max_streams: 20000}
profiles:
  all:
    prepare: [tokenize, block-hashes, prefix-depths]
    filter: [health, role, breaker, adapter, {concurrency: {max: 65536}}]
    score: [{cache-affinity: 3}, {least-load: 1}]
    pick: max-score
specialists:
  - {name: template, tokenizer: none, profile: all, scheduler: {max_running: 8192, max_waiting: 8192},
     replicas: [{url: "http://127.0.0.1:1/a", blocks: 65536}, {url: "http://127.0.0.1:1/b", blocks: 65536}]}
  - {name: debug, tokenizer: none, profile: all, scheduler: {max_running: 8192, max_waiting: 8192},
     replicas: [{url: "http://127.0.0.1:1/c", blocks: 65536}, {url: "http://127.0.0.1:1/d", blocks: 65536}]}
`

// BenchmarkComplete is what one request costs the gateway itself: from handler to handler, without sockets and without
// an HTTP server, before an engine that has its answer at hand. Known prompts were all asked before; of new ones the
// user's part was not.
func BenchmarkComplete(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		for _, stream := range []bool{false, true} {
			for _, kind := range []string{"known", "new"} {
				b.Run(fmt.Sprintf("bytes=%d/stream=%v/prompt=%s", size, stream, kind), func(b *testing.B) {
					benchComplete(b, benchBody(size, stream), kind == "new")
				})
			}
		}
	}
}

func benchComplete(b *testing.B, body []byte, fresh bool) {
	benchRequests(b, benchHandler(b, benchConfig, benchEngine{}), "/v1/chat/completions", body, fresh)
}

// benchRequests sends a body to the path again and again; where it is to be fresh, with another number each time.
func benchRequests(b *testing.B, handler http.Handler, path string, body []byte, fresh bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mark := bytes.LastIndex(body, []byte("00000000"))
	r := (&http.Request{
		Method: "POST", URL: &url.URL{Path: path}, RequestURI: path,
		Host: "127.0.0.1", ContentLength: int64(len(body)),
		ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(len(body))}},
	}).WithContext(ctx)
	w := &benchWriter{header: http.Header{}}
	var _ conn.Conn = w
	sent := new(benchReader)
	r.Body = sent
	one := func(i int) {
		if fresh {
			copy(body[mark:], fmt.Sprintf("%08d", i))
		}
		sent.left = body
		w.reset()
		handler.ServeHTTP(w, r)
		if w.status != 200 {
			b.Fatalf("status %d: %s", w.status, w.last)
		}
	}
	for i := range 16 {
		one(i)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for i := 16; b.Loop(); i++ {
		one(i)
	}
}

// benchBody is a chat of so many bytes: lines of code, with escapes as code has them; the user's part begins with eight
// zeroes.
func benchBody(size int, stream bool) []byte {
	frame := `{"model":"template","stream":` + fmt.Sprint(stream) +
		`,"max_tokens":16,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"00000000%s"}]}`
	line :=
		`template <typename T> requires std::is_integral_v<T> auto add(T a, T b) -> T { return a + b; } // \"sum\"\n`
	room := size - len(frame)
	half := strings.Repeat(line, room/2/len(line))
	return []byte(fmt.Sprintf(frame, half, half+strings.Repeat("x", room-2*len(half))))
}

func benchHandler(b *testing.B, file string, client engine.Client) http.Handler {
	cfg, err := config.Parse("bench.yaml", []byte(file), config.Options{Presets: plugins.Presets()})
	if err != nil {
		b.Fatal(err)
	}
	a, err := app.New(b.Context(), cfg, app.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.Close() })
	for _, rep := range a.Server().Runtime().Replicas {
		if rep != nil {
			rep.Client = client
		}
	}
	return a.Server().DataHandler()
}

// benchEngine answers at once with what it always answers.
type benchEngine struct{}

//nolint:lll // raw text that cannot be broken
const (
	benchAnswer = `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It is a template."},"finish_reason":"stop"}],"usage":{"prompt_tokens":200,"completion_tokens":5,"total_tokens":205}}`
	benchEvent  = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" tok"},"finish_reason":null}]}` + "\n\n"
	benchEnd    = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

var (
	benchUnary  = [][]byte{[]byte(benchAnswer)}
	benchEvents = [][]byte{[]byte(benchEvent), []byte(benchEvent), []byte(benchEvent), []byte(benchEvent + benchEnd)}
)

func (benchEngine) Do(_ context.Context, r *engine.Request) (engine.Response, error) {
	if r.Stream {
		return &benchResponse{pieces: benchEvents}, nil
	}
	return &benchResponse{pieces: benchUnary}, nil
}

func (benchEngine) Close() error { return nil }

type benchResponse struct{ pieces [][]byte }

func (*benchResponse) Status() int           { return 200 }
func (*benchResponse) Header(string) string  { return "" }
func (*benchResponse) SetIdle(time.Duration) {}
func (*benchResponse) Close() error          { return nil }
func (*benchResponse) Carry(engine.Sink, func(error)) bool {
	return false
}
func (r *benchResponse) Feed(sink engine.Sink) error {
	for len(r.pieces) > 0 {
		if more, err := sink.Pause(); !more || err != nil {
			return err
		}
		next := r.pieces[0]
		r.pieces = r.pieces[1:]
		if more, err := sink.Take(next); !more || err != nil {
			return err
		}
	}
	return io.EOF
}

// benchReader is a request's body.
type benchReader struct{ left []byte }

func (r *benchReader) Read(p []byte) (int, error) {
	n := copy(p, r.left)
	r.left = r.left[n:]
	if len(r.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func (*benchReader) Close() error { return nil }

// benchWriter is a client's connection that takes an answer's head as it is, as our own server's does, and never parks.
type benchWriter struct {
	header http.Header
	status int
	last   []byte
}

func (w *benchWriter) reset()                 { clear(w.header); w.status, w.last = 0, w.last[:0] }
func (w *benchWriter) Header() http.Header    { return w.header }
func (w *benchWriter) WriteHeader(status int) { w.status = status }
func (w *benchWriter) Start(status int, _ int64, lines []byte) {
	w.status, w.last = status, append(w.last[:0], lines...)
}
func (w *benchWriter) Write(p []byte) (int, error) {
	w.last = append(w.last[:0], p...)
	return len(p), nil
}
func (w *benchWriter) Send(p []byte) error {
	_, err := w.Write(p)
	return err
}
func (w *benchWriter) TrySend(p []byte) error                  { return w.Send(p) }
func (*benchWriter) SetReadDeadline(time.Time) error           { return nil }
func (*benchWriter) SetWriteDeadline(time.Time) error          { return nil }
func (*benchWriter) Began() time.Time                          { return time.Time{} }
func (*benchWriter) Fields() (names, values []string, ok bool) { return nil, nil, false }
func (*benchWriter) AtHand() bool                              { return false }
func (*benchWriter) Lend() ([]byte, bool)                      { return nil, false }
func (*benchWriter) Interrupt()                                {}
func (*benchWriter) Detach(func() (over bool)) bool            { return false }
func (*benchWriter) CanPark() bool                             { return false }
func (*benchWriter) Resume(func() (over bool))                 {}
