package emulator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"octet/engine"
	"octet/routing/events"
)

// rankField names the rank that is to take a request, as vLLM reads it.
const rankField = "X-data-parallel-rank"

// MaxRanks is how many ranks an engine has at most.
const MaxRanks = engine.MaxRank + 1

// Ranks is one engine of several data-parallel ranks behind one HTTP surface, as vLLM's and SGLang's are. Each rank has
// a scheduler, a KV pool and cache events of its own. A request names its rank by X-data-parallel-rank or
// routed_dp_rank; one that names none goes to the least busy. Prompts are not computed for other engines. Everything
// but Run is safe for concurrent use.
type Ranks struct {
	all []*Emulator
	mux *http.ServeMux
}

// NewRanks returns an engine with one rank for each publisher, which may be nil. The name of rank r in events is that
// of c and "-r" and r. Its error is ErrConfig.
func NewRanks(c Config, publishers []events.Publisher) (*Ranks, error) {
	if len(publishers) < 1 || len(publishers) > MaxRanks {
		return nil, fmt.Errorf("%w: %d ranks", ErrConfig, len(publishers))
	}
	if c.Mode != "" {
		return nil, fmt.Errorf("%w: one of a pair that meets has no ranks here", ErrConfig)
	}
	e := &Ranks{}
	for r, p := range publishers {
		one := c.named()
		one.Name, one.Rank, one.Publisher = one.Name+"-r"+strconv.Itoa(r), r, p
		rank, err := New(one)
		if err != nil {
			return nil, err
		}
		e.all = append(e.all, rank)
	}
	e.mux = e.routes()
	return e, nil
}

// All returns the ranks, by number.
func (e *Ranks) All() []*Emulator { return slices.Clone(e.all) }

// Run runs all ranks until ctx ends, or one of them fails, and returns why. It is called once.
func (e *Ranks) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, rank := range e.all {
		running.Go(func() { cancel(rank.Run(ctx)) })
	}
	running.Wait()
	return context.Cause(ctx)
}

// Handler returns the engine's HTTP surface.
func (e *Ranks) Handler() http.Handler { return e.mux }

func (e *Ranks) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, path := range []string{"/v1/chat/completions", "/v1/completions", engine.MessagesPath,
		engine.ResponsesPath} {
		mux.HandleFunc("POST "+path, e.infer)
	}
	for _, pattern := range []string{"POST /v1/load_lora_adapter", "POST /load_lora_adapter",
		"POST /unload_lora_adapter", "POST /v1/unload_lora_adapter", "POST /reset_prefix_cache", "POST /sleep",
		"POST /wake_up", "POST /update_weights_from_disk", "POST /admin/faults", "DELETE /admin/faults", "GET /health",
		"GET /ping"} {
		mux.HandleFunc(pattern, e.everywhere)
	}
	mux.Handle("GET /metrics", e.metrics())
	mux.HandleFunc("GET /admin/", e.named)
	mux.HandleFunc("/", e.all[0].mux.ServeHTTP) // what all ranks answer alike
	return mux
}

// metrics answers with the series of all ranks, which they label.
func (e *Ranks) metrics() http.Handler {
	var all prometheus.Gatherers
	for _, rank := range e.all {
		all = append(all, rank.metrics.registry)
	}
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{})
}

// infer has the rank that a request names answer it.
func (e *Ranks) infer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		writeProblem(w, badRequest("", "reading the body: %v", err))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rank, err := e.chosen(r.Header.Get(rankField), body)
	if err != nil {
		writeProblem(w, err)
		return
	}
	rank.mux.ServeHTTP(w, r)
}

// named has the rank answer that the header names; the first one without it.
func (e *Ranks) named(w http.ResponseWriter, r *http.Request) {
	rank, err := e.chosen(cmp.Or(r.Header.Get(rankField), "0"), nil)
	if err != nil {
		writeProblem(w, err)
		return
	}
	rank.mux.ServeHTTP(w, r)
}

// chosen returns the rank that a header or a body names, and the least busy one if neither does. vLLM ignores a header
// that is no number; here it is refused.
func (e *Ranks) chosen(header string, body []byte) (*Emulator, error) {
	var asked struct {
		Rank *int `json:"routed_dp_rank"`
	}
	if header == "" {
		if json.Unmarshal(body, &asked) != nil || asked.Rank == nil { // what else is wrong with it the rank will say
			return slices.MinFunc(e.all, func(a, b *Emulator) int { return cmp.Compare(a.load(), b.load()) }), nil
		}
		header = strconv.Itoa(*asked.Rank)
	}
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 || n >= len(e.all) {
		return nil, badRequest("data_parallel_rank", "data_parallel_rank %.20s is out of range [0, %d).", header,
			len(e.all))
	}
	return e.all[n], nil
}

// load returns how busy a rank is, as vLLM weighs it.
func (e *Emulator) load() int {
	s := e.loop.Stats()
	return 4*s.Waiting + s.Running
}

// everywhere has every rank answer, and passes on what the first one says, or the first that refuses.
func (e *Ranks) everywhere(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		writeProblem(w, badRequest("", "reading the body: %v", err))
		return
	}
	answers := make([]reply, len(e.all))
	var asking sync.WaitGroup
	for i, rank := range e.all {
		asked := r.Clone(r.Context())
		asked.Body = io.NopCloser(bytes.NewReader(body))
		asking.Go(func() { rank.mux.ServeHTTP(&answers[i], asked) })
	}
	asking.Wait()
	said := &answers[max(0, slices.IndexFunc(answers, func(a reply) bool { return a.status >= 300 }))]
	for name, values := range said.header {
		w.Header()[name] = values
	}
	if said.status != 0 {
		w.WriteHeader(said.status)
	}
	_, _ = w.Write(said.body.Bytes())
}

// reply holds what one rank answers.
type reply struct {
	header http.Header
	status int // 0: it was not said, which is 200
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *reply) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

// WriteHeader implements http.ResponseWriter.
func (a *reply) WriteHeader(status int) { a.status = cmp.Or(a.status, status) }

// Write implements http.ResponseWriter.
func (a *reply) Write(b []byte) (int, error) { return a.body.Write(b) }
