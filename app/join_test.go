package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/config"
	"octet/engine/emulator"
	"octet/internal/apptest"
	"octet/routing/belief"
	"octet/routing/events"
	"octet/routing/events/zmqstream"
	"octet/routing/plugins"
)

// joined is the gateway that comes beside engines which have run for a while, as the operator sees it.
type joined struct {
	Trust   string
	Stale   bool
	Known   *float64
	Blocks  int
	Kept    *float64 `json:"guesses_kept"`
	Unknown *struct {
		Joined    bool
		Seq       uint64 `json:"from_seq"`
		Orphans   int
		Evictions int
	}
}

func (w *world) joined() map[string]joined {
	w.T.Helper()
	var answer struct{ Replicas map[string]joined }
	w.Get(w.Admin+"/admin/index", &answer)
	return answer.Replicas
}

// beside starts a gateway before the same engine, with those keys of its replica.
func (w *world) beside(keys string, sets ...string) *world {
	w.T.Helper()
	cfg, err := config.Parse("beside.yaml", []byte(fmt.Sprintf(lonely, w.Engines["debug-0"].URL, keys)),
		config.Options{Presets: plugins.Presets(), Sets: append(w.Sets(), sets...)})
	if err != nil {
		w.T.Fatal(err)
	}
	return &world{w.Another(cfg)}
}

// hit asks, and returns how many of the prompt's tokens were foretold to be in the cache, and how many were.
func (w *world) hit(about string) (foretold, delivered int) {
	w.T.Helper()
	resp, body := w.Post("/v1/chat/completions", lengthy(about))
	var answer struct {
		Usage struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || resp.StatusCode != 200 {
		w.T.Fatalf("%d %v %s", resp.StatusCode, err, body)
	}
	if _, err := fmt.Sscan(resp.Header.Get("X-Cached-Tokens"), &foretold); err != nil {
		w.T.Fatal(err)
	}
	return foretold, answer.Usage.Details.Cached
}

// applied waits until the events of all that the engines have done are applied.
func (w *world) applied() {
	w.T.Helper()
	eventually(w.T, "the events are applied", func() bool {
		at := w.App.Fabric().Index().Host(w.Replica("debug-0").Host)
		return at.LastSeq+1 >= w.Engines["debug-0"].State().Seq // ZeroMQ counts from zero
	})
}

// An engine runs for a long time, and then a gateway comes beside it: with a replay of everything, with one that is too
// short, and without. Old prompts are not foretold until they were routed; new ones are known, and the replica is exact
// again within so many requests, though no cache is cleared and no engine starts again.
func TestAGatewayBesideAnEngineThatHasRunBecomesExact(t *testing.T) {
	const long, within = 60, 40
	for _, row := range []struct {
		name   string
		ring   int
		replay bool
		asks   bool // the engine what it holds
		peer   bool // is asked
		exact  bool // at once
	}{
		{"all is replayed", 0, true, false, false, true},
		{"the replay is too short", 5, true, false, false, false},
		{"nothing is replayed", 0, false, false, false, false},
		{"nothing is replayed, and the engine is asked", 0, false, true, false, true},
		{"the replay is too short, and a peer is asked", 5, true, false, true, true},
		{"nothing is replayed, and a peer is asked", 0, false, false, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:0",
				Replay: "tcp://127.0.0.1:0", Buffer: row.ring})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			live := fmt.Sprintf(`zmq: "tcp://%s"`, p.Addr())
			whole := live + fmt.Sprintf(`, replay: "tcp://%s"`, p.ReplayAddr())
			first := runsAlone(t, p, whole)
			for i := range long {
				first.hit(fmt.Sprint("long ago ", i))
			}
			first.exact()
			if !row.replay {
				whole = live
			}
			sets := []string{"events.resync_path=/none"}
			if row.asks {
				sets = nil
			}
			if row.peer {
				sets = append(sets, "events.snapshot.peer="+first.Admin)
			}
			w := first.beside(whole, sets...)
			w.connected()
			if row.exact {
				first.exact()
				w.exact()
				if foretold, delivered := w.hit("long ago 7"); foretold != delivered || delivered == 0 {
					t.Errorf("%d tokens are foretold and %d delivered", foretold, delivered)
				}
				return
			}
			w.becomesExact(within)
		})
	}
}

// runsAlone is a gateway before one engine that publishes by p.
func runsAlone(t *testing.T, p events.Publisher, keys string, sets ...string) *world {
	t.Helper()
	engine := emulator.Config{Name: "debug-0", Model: "debug", Blocks: 4096, Step: time.Millisecond, PrefillTPS: 200000,
		Publisher: p}
	return &world{apptest.NewWired(t, fmt.Sprintf(lonely, "%s", keys), []emulator.Config{engine}, sets...)}
}

// connected waits until the gateway hears of what it has asked for: a subscription has no answer.
func (w *world) connected() {
	w.T.Helper()
	asked := 0
	eventually(w.T, "the engine is heard", func() bool {
		at := w.App.Fabric().Index().Host(w.Replica("debug-0").Host)
		if asked > 0 && at.LastSeq > 0 && at.LastSeq+1 >= w.Engines["debug-0"].State().Seq {
			return true // also where what was heard of came in a snapshot, and what came before it was heard is lost
		}
		asked++
		w.hit(fmt.Sprint("is it heard ", asked))
		return false
	})
}

// becomesExact asks new prompts twice until the replica is known, and then an old one.
func (w *world) becomesExact(within int) {
	w.T.Helper()
	asked := 0
	for ; asked < within; asked++ {
		about := fmt.Sprint("something new ", asked)
		w.hit(about)
		w.applied()
		r := w.joined()["debug-0"]
		if r.Trust == belief.Exact {
			break
		}
		if r.Trust != belief.Approximate || !r.Stale || r.Unknown == nil || !r.Unknown.Joined || r.Unknown.Seq < 2 {
			w.T.Fatalf("%+v", r)
		}
		if foretold, delivered := w.hit(about); foretold != delivered || delivered == 0 {
			w.T.Fatalf("%s: %d tokens are foretold and %d delivered", about, foretold, delivered)
		}
	}
	if asked < 30 || asked == within {
		w.T.Errorf("after %d prompts that were asked twice: %+v", asked, w.joined())
	}
	if r := w.joined()["debug-0"]; r.Known == nil || *r.Known < 0.97 || r.Stale || r.Unknown != nil || r.Blocks == 0 {
		w.T.Errorf("%+v", r)
	}
	if page := w.page(w.Admin); !strings.Contains(page, `octet_index_known_share{replica="debug-0"} 1`) {
		w.T.Error("no known share among the metrics")
	}
	// What was asked long ago is there, and is not claimed.
	foretold, delivered := w.hit("long ago 7")
	if foretold >= delivered {
		w.T.Errorf("%d tokens of an old prompt are foretold and %d delivered", foretold, delivered)
	}
	if r := w.joined()["debug-0"]; *r.Known == 1 {
		w.T.Errorf("an unknown hit changes nothing: %+v", r)
	}
}

// A replica of which batches were lost is scored by what was known before and by what is routed there, at once; hits
// that do not come true end that, and what comes after is known.
func TestAReplicaThatLostBatchesIsGuessedAtOnce(t *testing.T) {
	p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:0",
		Replay: "tcp://127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	bad := &lossy{Publisher: p}
	w := runsAlone(t, bad, fmt.Sprintf(`zmq: "tcp://%s", replay: "tcp://%s"`, p.Addr(), p.ReplayAddr()),
		"events.resync_path=/none")
	w.connected()
	for i := range 8 {
		w.hit(fmt.Sprint("before ", i))
	}
	w.applied()
	bad.drop(1)
	w.hit("lost")
	w.hit("after")
	w.applied()
	if r := w.joined()["debug-0"]; !r.Stale || r.Trust != belief.Approximate || r.Unknown == nil || r.Unknown.Joined {
		t.Fatalf("%+v", r)
	}
	for i := range 8 {
		if foretold, delivered := w.hit(fmt.Sprint("before ", i)); foretold != delivered || delivered == 0 {
			t.Errorf("before %d: %d tokens are foretold and %d delivered", i, foretold, delivered)
		}
	}
	if r := w.joined()["debug-0"]; r.Kept == nil || *r.Kept < 0.9 {
		t.Errorf("%+v", r)
	}
}

const lonely = `
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    profile: cache-aware
    replicas:
      - {url: "%s", blocks: 4096, events: {%s}}
hash_seed: 7
`
