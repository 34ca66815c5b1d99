package app_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/config"
)

// farm is many engines in one: a server on all loopback addresses, each of which is an engine's.
type farm struct {
	port  int
	mu    sync.Mutex
	asked map[string]int // for answers, by host; guarded by mu
}

const farmTokens = 20

// newFarm starts a farm, each of whose streams takes so long.
func newFarm(t testing.TB, takes time.Duration) *farm {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &farm{port: l.Addr().(*net.TCPAddr).Port, asked: map[string]int{}}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"debug"}]}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		f.mu.Lock()
		f.asked[r.Host]++
		f.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range farmTokens {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d \"}}]}\n\n", i)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(takes / farmTokens) // real time: replicas come and go meanwhile
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"+
			"data: [DONE]\n\n")
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return f
}

// lines returns a list of the engines from to upto of a block of addresses.
func (f *farm) lines(block, from, upto int) (lines []string) {
	for i := from; i < upto; i++ {
		lines = append(lines, fmt.Sprintf("- {url: 'http://127.0.%d.%d:%d'}", block+i/250, i%250+1, f.port))
	}
	return lines
}

// asks returns how many engines were asked.
func (f *farm) asks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// streamers are clients that stream without end.
type streamers struct {
	clients sync.WaitGroup
	over    atomic.Bool
	whole   atomic.Int64
}

func (w *world) streamed(t *testing.T, clients int) *streamers {
	c := new(streamers)
	for i := range clients {
		c.clients.Go(func() {
			for n := 0; !c.over.Load(); n++ {
				body := fmt.Sprintf(`{"model":"debug","stream":true,"messages":[{"role":"user","content":"%d of %d"}]}`,
					n, i)
				resp := w.Ask(t.Context(), "/v1/chat/completions", body)
				s := readStream(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 200 || !s.done || s.failed != nil || s.events != farmTokens+2 {
					t.Errorf("a stream is lost: %d, %+v", resp.StatusCode, s)
					return
				}
				c.whole.Add(1)
			}
		})
	}
	return c
}

// end stops the clients once at least so many streams have ended whole, or one is lost.
func (c *streamers) end(t *testing.T, least int64) {
	t.Helper()
	eventually(t, "streams have ended whole", func() bool { return t.Failed() || c.whole.Load() >= least })
	c.over.Store(true)
	c.clients.Wait()
}

const foundFarm = `
auth: {anonymous: true}
limits: {max_queue_wait: 10s, retry_budget: 0, retry_burst: 0}
fleet: {probe_interval: 500ms, scrape_interval: 5s, discovery: {settle: 10ms, keep: %s}}
specialists:
  - name: debug
    tokenizer: none
    profile: least-load
    discover: {file: '%s', template: {blocks: 512, engine: openai, max_running: 8}}
`

// From none to three fifths of the replicas that a gateway can tell apart (more than 256 where it can tell 512), and to
// all of them, each in one step and one generation, while requests wait and streams run; and back to one: no stream is
// lost, and nothing is held after.
func TestAllReplicasComeInOneStep(t *testing.T) {
	f, path := newFarm(t, 200*time.Millisecond), filepath.Join(t.TempDir(), "replicas.yaml")
	w := newWorld(t, fmt.Sprintf(foundFarm, "100ms", path), nil)
	c := w.streamed(t, 24) // they wait: there is no replica yet
	eventually(t, "requests wait", func() bool {
		return strings.Contains(w.Metrics(), `octet_held_requests{specialist="debug"} 24`)
	})
	for _, list := range []struct{ lines, replicas, asked, generations int }{
		{config.MaxReplicas * 3 / 5, config.MaxReplicas * 3 / 5, 11, 1},
		{config.MaxReplicas + 10, config.MaxReplicas, 11, 1},
		{1, 1, 1, 2}, // by time at once and, where some still run, in two
	} {
		before := w.App.Server().Runtime().Generation
		listAt(t, path, f.lines(1, 0, list.lines)...)
		eventually(t, fmt.Sprintf("%d replicas", list.replicas), func() bool {
			return t.Failed() || len(w.Replicas()) == list.replicas
		})
		if n := w.App.Server().Runtime().Generation - before; n > uint64(list.generations) {
			t.Errorf("%d generations for one step", n)
		}
		eventually(t, "they are asked", func() bool { return t.Failed() || f.asks() >= list.asked })
	}
	c.end(t, 100)
	eventually(t, "nothing is held", w.Quiet)
}

// A rolling replacement of all replicas under load, twice, loses no stream, whether what leaves is kept for long or has
// gone while its streams run.
func TestARollingReplacementLosesNoStream(t *testing.T) {
	for _, keep := range []string{"0s", "50ms", "1m"} {
		t.Run("keep "+keep, func(t *testing.T) {
			const size, step = 12, 3
			f, path := newFarm(t, 300*time.Millisecond), filepath.Join(t.TempDir(), "replicas.yaml")
			listAt(t, path, f.lines(1, 0, size)...)
			w := newWorld(t, fmt.Sprintf(foundFarm, keep, path), nil)
			c := w.streamed(t, 16)
			for block := 1; block < 3; block++ {
				for upto := step; upto <= size; upto += step {
					listAt(t, path, append(f.lines(block+1, 0, upto), f.lines(block, upto, size)...)...)
					last := fmt.Sprintf("debug-127.0.%d.%d-%d", block+1, upto, f.port)
					eventually(t, "the step is taken", func() bool { return w.Replicas()[last] != nil })
				}
			}
			c.end(t, 30)
			eventually(t, "nothing is held", w.Quiet)
			available := 0
			for _, r := range w.Replicas() {
				if r.Fleet.Available() {
					available++
				}
			}
			if available != size {
				t.Errorf("%d replicas take requests, want %d", available, size)
			}
		})
	}
}

// A source that flaps under load, empty sets among what it says, loses no stream, whether what has left is forgotten at
// once or kept; requests wait while it has none. A replica that is back in time is the one that it was.
func TestASourceThatFlapsLosesNoStream(t *testing.T) {
	for _, keep := range []string{"0s", "30ms", "1m"} {
		t.Run("keep "+keep, func(t *testing.T) {
			const size = 6
			f, path := newFarm(t, 100*time.Millisecond), filepath.Join(t.TempDir(), "replicas.yaml")
			all := f.lines(1, 0, size)
			listAt(t, path, all...)
			w := newWorld(t, fmt.Sprintf(foundFarm, keep, path), nil)
			before := w.Replicas()
			c := w.streamed(t, 12)
			dice := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				some := []string{"[]"}
				if dice.IntN(4) > 0 {
					some = nil
					for _, i := range dice.Perm(size)[:1+dice.IntN(size)] {
						some = append(some, all[i])
					}
				}
				whole := c.whole.Load()
				listAt(t, path, some...)
				eventually(t, "streams go on", func() bool {
					return t.Failed() || some[0] == "[]" || c.whole.Load() > whole
				})
			}
			listAt(t, path, all...)
			eventually(t, "all are back", func() bool {
				n := 0
				for _, r := range w.Replicas() {
					if r.Fleet.Available() {
						n++
					}
				}
				return n == size
			})
			c.end(t, 40)
			eventually(t, "nothing is held", w.Quiet)
			for name, r := range w.Replicas() {
				if was := before[name]; keep == "1m" && (was == nil || was.Host != r.Host || was.Gate != r.Gate) {
					t.Errorf("%s is another after it has flapped", name)
				}
			}
		})
	}
}
