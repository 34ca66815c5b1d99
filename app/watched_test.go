package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"octet/app"
	"octet/engine/emulator"
	"octet/internal/apptest"
	"octet/routing/fleet"
)

// watchedWorld asks the first replica first.
const watchedWorld = `
auth: {anonymous: true}
limits: {retry_burst: 1000}
fleet: {probe_interval: 10s, shutdown_hold: 1h, breaker: {failures: 100, open_for: 1h}}
specialists:
  - name: debug
    tokenizer: none
    profile: first
    replicas:
      - {name: debug-0, url: "http://debug-0", blocks: 512}
      - {name: debug-1, url: "http://debug-1", blocks: 512}
profiles: {first: {filter: [health, breaker], score: [least-load], pick: max-score}}
`

func watchedEngines() (all []emulator.Config) {
	for i := range 2 {
		all = append(all, emulator.Config{Name: fmt.Sprint("debug-", i), Model: "debug", Blocks: 512})
	}
	return all
}

// Another fleet.breaker in the file counts after a reload; the one before counts until then.
func TestAReloadReadsTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, watchedEngines())
		path := filepath.Join(t.TempDir(), "octet.yaml")
		write := func(failures int) {
			text := fmt.Sprintf("auth: {anonymous: true}\nfleet: {breaker: {failures: %d}}\nspecialists:\n"+
				"  - {name: debug, tokenizer: none, replicas: [{url: \"http://debug-0\", blocks: 512}]}\n", failures)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(5)
		source := app.Source{Path: path}
		cfg, err := source.Load()
		if err != nil {
			t.Fatal(err)
		}
		a, err := app.New(t.Context(), cfg,
			app.Options{Log: apptest.Log(t), Dial: b.Dial, Events: b.Local, Source: source})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		fails := func(times int) (state string) {
			r := a.Server().Runtime().Specialists[0].Snapshot().Replica(0)
			for range times {
				p, err := r.Take()
				if err != nil {
					t.Fatal(err)
				}
				p.Settle(fleet.Failed)
			}
			return r.State()
		}
		if state := fails(4); state != "closed" {
			t.Fatalf("after four of five failures: %s", state)
		}
		write(2)
		if err := a.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state := fails(1); state != "closed" {
			t.Errorf("one failure after the reload: %s", state)
		}
		if state := fails(1); state != "open" {
			t.Errorf("two failures after the reload: %s", state)
		}
	})
}

// What the whole fleet section says counts after a reload: how soon a breaker opens, for how long an announced end
// holds, how often replicas are probed.
func TestAReloadReadsTheFleetSection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, watchedEngines())
		b.Serve(watchedWorld)
		time.Sleep(time.Second)
		resp, err := b.Ask(t.Context(), http.MethodPost, "http://debug-0/admin/faults",
			`{"kind":"die_after_headers","times":1000}`)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		q := customer{model: "debug", text: "x", words: 4, tokens: 4}
		asked := func(requests int) int64 {
			before := b.Engines["debug-0"].Asked.Load()
			for i := range requests {
				q.id = fmt.Sprint("q", i)
				if a := b.served(q); a.failed != "" {
					t.Fatalf("%s fails: %s", q.id, a.failed)
				}
			}
			return b.Engines["debug-0"].Asked.Load() - before
		}
		if n := asked(8); n != 8 {
			t.Errorf("%d of 8 requests reach a replica whose breaker is closed", n)
		}
		last := b.Replica("debug-1").Fleet
		last.ShutDown(time.Time{}, time.Now())
		time.Sleep(25 * time.Second)
		if !last.Withdrawn() {
			t.Error("an announced end is over after 25 s of an hour")
		}
		if err := b.App.Apply(t.Context(), b.Config(watchedWorld, "fleet.breaker.failures=2", "fleet.shutdown_hold=1s",
			"fleet.probe_interval=1s")); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(2 * time.Second); last.Withdrawn() {
			t.Error("an announced end is not over, with good probes after its hold")
		}
		if n := asked(8); n != 2 {
			t.Errorf("%d of 8 requests reach a replica whose breaker opens after 2", n)
		}
	})
}
