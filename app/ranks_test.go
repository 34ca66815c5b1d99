package app_test

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/routing/belief"
	"octet/routing/events"
	"octet/routing/events/zmqstream"
)

// rankedEngine is an engine of data-parallel ranks on real sockets.
type rankedEngine struct {
	*emulator.Ranks
	url, zmq, replay string // of rank 0
	// ranks whose cache was cleared: their blocks are evicted in time, so there are more of them than are known
	cleared map[int]bool
}

// startRanked runs an engine of so many ranks, whose events are on ports in a row.
func startRanked(t *testing.T, n int) *rankedEngine {
	t.Helper()
	zmq := portsInARow(t, 2*n)
	replay := zmq + n
	publishers := make([]events.Publisher, n)
	for r := range publishers {
		p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: fmt.Sprintf("tcp://127.0.0.1:%d", zmq+r),
			Replay: fmt.Sprintf("tcp://127.0.0.1:%d", replay+r), Rank: r})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		if p.Addr() == nil {
			t.Fatalf("port %d was taken meanwhile", zmq+r)
		}
		publishers[r] = p
	}
	ranks, err := emulator.NewRanks(emulator.Config{Name: "debug-0", Model: "debug", Blocks: 512,
		Step: time.Millisecond, PrefillTPS: 200000}, publishers)
	if err != nil {
		t.Fatal(err)
	}
	e := &rankedEngine{Ranks: ranks, zmq: fmt.Sprintf("tcp://127.0.0.1:%d", zmq),
		replay: fmt.Sprintf("tcp://127.0.0.1:%d", replay)}
	server := httptest.NewServer(ranks.Handler())
	e.url = server.URL
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = ranks.Run(ctx)
	}()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		cancel()
		<-ended
	})
	return e
}

// portsInARow returns the first of n ports that are free.
func portsInARow(t *testing.T, n int) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port, all := first.Addr().(*net.TCPAddr).Port, []net.Listener{first}
		for r := 1; r < n && err == nil; r++ {
			var l net.Listener
			if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+r)); err == nil {
				all = append(all, l)
			}
		}
		for _, l := range all {
			l.Close()
		}
		if err == nil {
			return port
		}
	}
	t.Fatalf("there are no %d free ports in a row", n)
	return 0
}

// ranked is a gateway before an engine of two ranks.
func ranked(t *testing.T) (*world, *rankedEngine) {
	e := startRanked(t, 2)
	w := newWiredWorld(t, fmt.Sprintf(`
fleet: {probe_interval: 50ms, scrape_interval: 100ms}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    profile: cache-aware
    replicas:
      - {url: "%s", engine: vllm, ranks: 2, events: {zmq: "%s", replay: "%s"}}
`, e.url, e.zmq, e.replay), nil)
	w.knows(e)
	return w, e
}

// knows waits until the index holds what each rank has cached.
func (w *world) knows(e *rankedEngine) {
	w.T.Helper()
	for r, rank := range e.All() {
		name := fmt.Sprint("debug-0-r", r)
		host := w.Replica(name).Host
		eventually(w.T, name+" is known exactly", func() bool {
			state, s := w.App.Fabric().Index().Host(host), rank.State()
			return (state.Blocks == s.Cached || e.cleared[r]) && state.LastSeq+1 >= s.Seq &&
				state.Epoch != 0 && !state.Stale && w.App.Fabric().Trust(host) == belief.Exact
		})
	}
}

// asks sends a chat about a subject and returns what the gateway said and which rank computed it.
func (w *world) asks(e *rankedEngine, about string) (replica, predicted string, rank int) {
	w.T.Helper()
	before := make([]uint64, len(e.All()))
	for r, one := range e.All() {
		before[r] = one.Stats().PromptTokens
	}
	resp, body := w.Post("/v1/chat/completions", lengthy(about))
	if resp.StatusCode != 200 {
		w.T.Fatalf("%d %s", resp.StatusCode, body)
	}
	w.knows(e)
	rank = -1
	for r, one := range e.All() {
		if one.Stats().PromptTokens > before[r] {
			if rank >= 0 {
				w.T.Fatal("two ranks computed one prompt")
			}
			rank = r
		}
	}
	return resp.Header.Get("X-Replica"), resp.Header.Get("X-Cached-Tokens"), rank
}

// delivered returns the prompt tokens that a rank has found in its cache so far.
func delivered(e *rankedEngine, rank int) int { return int(e.All()[rank].Stats().CachedTokens) }

// Two ranks behind one URL are two replicas: each prompt goes to the rank that has it, what is predicted is what that
// rank delivers, and a rank's cache that is cleared is that rank's alone.
func TestRanksBehindOneURLAreRoutedByPrefix(t *testing.T) {
	w, e := ranked(t)
	subjects := []string{"a segfault in the parser", "a race in the pool", "an overflow of the stack",
		"a leak of files", "a deadlock of locks", "a use after free"}
	ranks, replicas := map[string]int{}, map[int]string{}
	for i, about := range subjects {
		other := w.Replica(fmt.Sprint("debug-0-r", 1-i%2)).Fleet
		other.SetDraining(true)
		replica, _, rank := w.asks(e, about)
		other.SetDraining(false)
		if ranks[about] = rank; rank != i%2 {
			t.Fatalf("a request for rank %d was computed by rank %d", i%2, rank)
		}
		if other, seen := replicas[rank]; seen && other != replica {
			t.Errorf("rank %d is replica %s and %s", rank, other, replica)
		}
		replicas[rank] = replica
	}
	if len(replicas) != 2 || replicas[0] == replicas[1] {
		t.Fatalf("the subjects went to %v", ranks)
	}
	again := func(about string) (hit int) {
		before := delivered(e, ranks[about])
		replica, predicted, rank := w.asks(e, about)
		hit = delivered(e, rank) - before
		if rank != ranks[about] || replica != replicas[rank] {
			t.Errorf("%s went to rank %d, replica %s; it was at rank %d", about, rank, replica, ranks[about])
		}
		if predicted != fmt.Sprint(hit) {
			t.Errorf("%s: %s tokens predicted, %d delivered", about, predicted, hit)
		}
		return hit
	}
	var first, second string // subjects at the first rank and at the second
	for _, about := range subjects {
		if again(about) == 0 {
			t.Errorf("%s was not found where it was", about)
		}
		if ranks[about] == 0 {
			first = about
		} else {
			second = about
		}
	}
	eventually(t, "the rank clears its cache", func() bool {
		cleared := httptest.NewRecorder()
		e.All()[1].Handler().ServeHTTP(cleared, httptest.NewRequest("POST", "/reset_prefix_cache", nil))
		return cleared.Code == 200
	})
	e.cleared = map[int]bool{1: true}
	host := func(r int) int { return w.App.Fabric().Index().Host(w.Replica(fmt.Sprint("debug-0-r", r)).Host).Blocks }
	kept := host(0)
	eventually(t, "the rank's clear is heard", func() bool { return host(1) == 0 })
	if host(0) != kept || kept == 0 {
		t.Errorf("the other rank has %d blocks, had %d", host(0), kept)
	}
	if again(first) == 0 {
		t.Error("the rank that was not cleared does not have its prompt")
	}
	if _, predicted, _ := w.asks(e, second); predicted != "0" {
		t.Errorf("%s tokens are predicted of a cache that was cleared", predicted)
	}
}

// Each rank is shown as a replica, with its own pool and load, and one page of metrics is read for all.
func TestRanksAreShownAsReplicas(t *testing.T) {
	w, e := ranked(t)
	w.asks(e, "a segfault in the parser")
	var seen struct {
		Replicas map[string]struct {
			Trust  string
			Events bool
		}
		Sources map[string]map[string]any
	}
	w.Get(w.Admin+"/admin/index", &seen)
	metrics := w.Metrics()
	for _, name := range []string{"debug-0-r0", "debug-0-r1"} {
		if r := seen.Replicas[name]; r.Trust != belief.Exact || !r.Events {
			t.Errorf("%s: %+v", name, seen.Replicas)
		}
		if !isTrue(seen.Sources["zmq/"+name]["connected"]) || seen.Sources["zmq/"+name]["other_rank"] != 0.0 {
			t.Errorf("%+v", seen.Sources)
		}
		if !strings.Contains(metrics, `replica="`+name+`"`) {
			t.Errorf("the metrics do not name %s", name)
		}
		if s := w.Replica(name).Gate.Stats(); s.Total != 512 {
			t.Errorf("%s has a pool of %d blocks", name, s.Total)
		}
		eventually(t, name+" is scraped", func() bool {
			told := w.Replica(name).Fleet.Reported()
			return told.HasLoad && told.HasUsage && told.Running == 0
		})
	}
	if n := w.App.ScrapedEngines(); n != 1 {
		t.Errorf("%d pages of metrics are read", n)
	}
}

// Sockets that are another rank's tell nothing of the replica, and it shows.
func TestEventsOfAnotherRankAreNotBelieved(t *testing.T) {
	e := startRanked(t, 2)
	w := newWiredWorld(t, fmt.Sprintf(`
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    profile: cache-aware
    replicas:
      - {url: "%s", engine: vllm, dp_rank: 1, events: {zmq: "%s", replay: "%s"}}
`, e.url, e.zmq, e.replay), nil)
	e.All()[0].Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/chat/completions",
		strings.NewReader(lengthy("a segfault in the parser"))))
	eventually(t, "the batches are counted", func() bool {
		return w.App.Fabric().SourceStats()["zmq/debug-0"].OtherRank >= 2
	})
	if s := w.App.Fabric().Index().Host(w.Replica("debug-0").Host); s.Blocks != 0 {
		t.Errorf("%d blocks of another rank are believed", s.Blocks)
	}
	if !strings.Contains(w.Metrics(), `octet_events_troubles_total{kind="other_rank",source="zmq"}`) {
		t.Error("the metrics do not show it")
	}
	if resp, _ := w.Post("/v1/chat/completions", lengthy("a race")); resp.StatusCode != 200 ||
		e.All()[1].Stats().PromptTokens == 0 {
		t.Errorf("the request did not reach its rank: %d", resp.StatusCode)
	}
}

// An engine refuses a rank that it does not have. Its words reach the client as a typed error.
func TestARankThatTheEngineDoesNotHaveIsRefused(t *testing.T) {
	e := startRanked(t, 1)
	w := newWiredWorld(t, fmt.Sprintf(`
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s", engine: vllm, dp_rank: 1, blocks: 512}]
`, e.url), nil)
	resp, body := w.Post("/v1/chat/completions", lengthy("a race"))
	if resp.StatusCode != 400 || !strings.Contains(string(body), `"code":"invalid_request"`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}
