package app_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/internal/cable"
)

// lossWorld has three replicas with room for a thousand.
const lossWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 30s, idle_timeout: 60s, ttft_timeout: 60s, drain: 1ms}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 2048, max_waiting: 4096}
    replicas:
      - {name: one, url: "%s", blocks: 65536}
      - {name: two, url: "%s", blocks: 65536}
      - {name: three, url: "%s", blocks: 65536}
`

func lossEngines(step time.Duration) (all []emulator.Config) {
	for _, name := range []string{"one", "two", "three"} {
		all = append(all, emulator.Config{Name: name, Model: "debug", Blocks: 65536, MaxRunning: 2048, Step: step,
			PrefillTPS: 1e7})
	}
	return all
}

// cabled starts one more gateway, whose way to the store can be cut.
func (g *group) cabled(name string) (*world, *cable.Cable) {
	g.t.Helper()
	key, to, _ := strings.Cut(g.store[0], "=")
	scheme, at, named := strings.Cut(to, "://")
	if !named {
		scheme, at = "", to
	} else {
		scheme += "://"
	}
	way, before := cable.New(g.t, at), g.store
	defer func() { g.store = before }()
	g.store = append([]string{key + "=" + scheme + way.Addr().String()}, before[1:]...)
	return g.another(name), way
}

// followed are streams that are read as they come.
type followed struct {
	tokens int
	client *http.Client
	all    sync.WaitGroup
	begun  atomic.Int32 // have their first bytes
	mu     sync.Mutex
	ended  map[string]stream
}

func follow(t *testing.T, tokens int) *followed {
	f := &followed{tokens: tokens, client: &http.Client{Transport: &http.Transport{}}, ended: map[string]stream{}}
	t.Cleanup(f.client.CloseIdleConnections)
	return f
}

// begin begins so many streams at a gateway.
func (f *followed) begin(w *world, name string, n int) {
	for i := range n {
		f.all.Go(func() {
			id := fmt.Sprint(name, i)
			req, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.Data+"/v1/chat/completions",
				strings.NewReader(keyedRequest(f.tokens)))
			if err != nil {
				w.T.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-Request-Id", id)
			resp, err := f.client.Do(req)
			if err != nil {
				w.T.Errorf("%s: %v", id, err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				w.T.Errorf("%s: status %d", id, resp.StatusCode)
			}
			f.begun.Add(1)
			s := readStream(resp.Body)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.ended[id] = s
		})
	}
}

// check waits for the ends of all. A stream of a gateway that was killed ends abnormally, with a part of its own
// tokens; any other is whole.
func (f *followed) check(t *testing.T, n int, killed string) {
	t.Helper()
	f.all.Wait()
	if len(f.ended) != n {
		t.Errorf("%d of %d have ended", len(f.ended), n)
	}
	for id, s := range f.ended {
		want := indexText(id, f.tokens)
		if whole := s.done && s.clean && s.text == want; !whole && (killed == "" || !strings.HasPrefix(id, killed)) {
			t.Errorf("%s: done %v, clean %v, failed %+v, %d bytes of %d: %.60q", id, s.done, s.clean, s.failed,
				len(s.text), len(want), s.text)
		} else if !whole && (s.done || s.clean && s.failed == nil || !strings.HasPrefix(want, s.text)) {
			t.Errorf("%s ends quietly: %+v", id, s)
		}
	}
}

// inEngines returns how many sequences the engines have.
func (w *world) inEngines() (n int) {
	for _, e := range w.Engines {
		n += e.Stats().Running
	}
	return n
}

// ofOthers returns what a gateway counts of others' at all replicas: requests, and blocks that are withheld.
func (w *world) ofOthers() (requests, blocks int) {
	for _, r := range w.Replicas() {
		requests += r.Fleet.InFlight() - r.Fleet.Own().Running
		blocks += r.Gate.Calibration().Withheld
	}
	return requests, blocks
}

// atRest waits until the gateways hold nothing, and count nothing of each other.
func atRest(t *testing.T, all ...*world) {
	t.Helper()
	for _, w := range all {
		eventually(t, "its ledgers are at their baseline", func() bool {
			requests, _ := w.ofOthers()
			return requests == 0 && w.Quiet()
		})
	}
}

// A gateway that is cut off from the store while 60 clients stream, and comes back, costs no token of any stream; what
// it had counts at the others for its lease, and again when it is back. A verdict counts once.
func TestAPartitionCostsNoTokenAndCountsNothingTwice(t *testing.T) {
	eachStoreOver(t, lossWorld, lossEngines(50*time.Millisecond), func(t *testing.T, g *group) {
		a, b := g.first, g.another("gw-b")
		c, way := g.cabled("gw-c")
		f := follow(t, 200)
		for name, w := range map[string]*world{"a-": a, "b-": b, "c-": c} {
			f.begin(w, name, 20)
		}
		others := func(w *world, n int) func() bool {
			return func() bool { requests, _ := w.ofOthers(); return requests == n }
		}
		eventually(t, "all are in flight", func() bool { return a.inEngines() == 60 })
		for _, w := range []*world{a, b, c} {
			eventually(t, "each counts the others'", others(w, 40))
		}
		way.Cut()
		eventually(t, "it is gone at a", func() bool { return len(g.state(a).Peers) == 1 })
		eventually(t, "it is gone at b", func() bool { return len(g.state(b).Peers) == 1 })
		eventually(t, "it is alone", func() bool { s := g.state(c); return s.Alone && s.Away != "" })
		for w, n := range map[*world]int{a: 20, b: 20} {
			eventually(t, "what is beyond the cut counts no more", others(w, n))
		}
		f.begin(a, "late-a-", 2)
		f.begin(c, "late-c-", 2)
		eventually(t, "it takes each of the others to have what it has", others(c, 44))
		way.Mend()
		eventually(t, "it hears the others, and takes nothing for granted", func() bool {
			requests, _ := c.ofOthers()
			return g.state(c).Away == "" && requests <= 42
		})
		for w, n := range map[*world]int{a: 42, b: 44, c: 42} {
			eventually(t, "each counts the others' again", func() bool {
				requests, _ := w.ofOthers()
				if requests > n {
					t.Errorf("%d of others' count, of %d", requests, n)
				}
				return requests >= n || a.inEngines() < 64 // on a slow machine they are ending already
			})
		}
		f.check(t, 64, "")
		atRest(t, a, b, c)
	})
}

// A gateway that dies with many streams costs its own clients theirs: each sees an abnormal end. Its replicas' blocks
// are free at the others after its lease, and no other stream is touched.
func TestAGatewayThatDiesCostsItsOwnStreamsAlone(t *testing.T) {
	n, step := 100, 50*time.Millisecond
	if os.Getenv("OCTET_TEST_CROWDS") == "1" {
		n, step = 1000, 400*time.Millisecond
	}
	eachStoreOver(t, lossWorld, lossEngines(step), func(t *testing.T, g *group) {
		a, b := g.first, g.another("gw-b")
		c, way := g.cabled("gw-c")
		f := follow(t, 120)
		f.begin(a, "a-", 20)
		f.begin(b, "b-", 20)
		f.begin(c, "c-", n)
		eventually(t, "all have begun", func() bool { return int(f.begun.Load()) == n+40 })
		for _, w := range []*world{a, b} {
			eventually(t, "the others count it", func() bool { requests, _ := w.ofOthers(); return requests == n+20 })
		}
		way.Cut() // it says nothing any more
		c.Stop()
		died := time.Now()
		for _, w := range []*world{a, b} {
			eventually(t, "the others count it no more", func() bool {
				requests, _ := w.ofOthers()
				return requests <= 20
			})
		}
		t.Logf("%d streams of a gateway that died count no more after %v, of a lease of 1s", n, time.Since(died))
		f.check(t, n+40, "c-")
		eventually(t, "it has ended", func() bool { c.Close(); return true })
		atRest(t, a, b)
	})
}
