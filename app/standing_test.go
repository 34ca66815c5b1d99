package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// standingWorld has one specialist with two replicas; the engine of the second may be anything.
const standingWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1s}
specialists:
  - name: debug
    tokenizer: builtin
    profile: cache-aware
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
      - {name: debug-1, url: "http://debug-1", engine: vllm, blocks: 512}
`

func standingEngines(second emulator.Config) []emulator.Config {
	first := emulator.Config{Name: "debug-0", Model: "debug", Blocks: 512, Step: time.Millisecond}
	second.Name, second.Blocks, second.Step = "debug-1", 512, time.Millisecond
	return []emulator.Config{first, second}
}

// tell posts to an engine.
func (b *bubble) tell(url string) {
	b.T.Helper()
	synctest.Wait() // an engine refuses to sleep while it is still ending an answer
	resp, err := b.Ask(b.T.Context(), http.MethodPost, url, "")
	if err != nil {
		b.T.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		b.T.Fatalf("%s: status %d", url, resp.StatusCode)
	}
}

// shows fails unless a replica is shown as out of rotation for a reason, everywhere; "" is in rotation.
func (b *bubble) shows(replica, why string) {
	b.T.Helper()
	if got := string(b.Replica(replica).Fleet.Why()); got != why {
		b.T.Errorf("%s is out for %q, want %q", replica, got, why)
	}
	out := b.Metric("http://admin", "octet_replica_out", `replica="`+replica+`"`)
	state := b.Read("http://admin/admin/state")
	told := b.decided(lengthy("the reason"))
	if why == "" {
		if out != 0 || strings.Contains(state, `"why"`) || strings.Contains(told, `"why"`) {
			b.T.Errorf("%s is in rotation: %v, %s, %s", replica, out, state, told)
		}
		return
	}
	if got := b.Metric("http://admin", "octet_replica_out", `replica="`+replica+`"`, `why="`+why+`"`); got != 1 ||
		out != 1 {
		b.T.Errorf("the metric says %v of %v for %s", got, out, why)
	}
	if !strings.Contains(state, `"why":"`+why+`"`) || !strings.Contains(told, `"removed_by":"health","why":"`+why) {
		b.T.Errorf("%s: the reason is not shown in %s, or %s", why, state, told)
	}
}

// decided returns what /v1/route says of a body.
func (b *bubble) decided(body string) string {
	b.T.Helper()
	resp, err := b.Ask(b.T.Context(), http.MethodPost, "http://data/v1/route", body)
	if err != nil {
		b.T.Fatal(err)
	}
	return whole(b.T, resp)
}

// whole returns an answer, read to its end.
func whole(t testing.TB, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// stays asks n times, with a pause, and returns how many of them the second engine was asked.
func (b *bubble) stays(n int) int {
	b.T.Helper()
	before := b.Engines["debug-1"].Asked.Load()
	for range n {
		resp, err := b.Ask(b.T.Context(), http.MethodPost, "http://data/v1/chat/completions", lengthy("a leak"))
		if err != nil {
			b.T.Fatal(err)
		}
		if text := whole(b.T, resp); resp.StatusCode != 200 {
			b.T.Errorf("status %d: %s", resp.StatusCode, text)
		}
	}
	return int(b.Engines["debug-1"].Asked.Load() - before)
}

// A replica whose engine sleeps, loads its model or serves another one gets no request, and the reason is shown in
// /admin/state, in a metric, in decisions and so in receipts. It is back as soon as its engine says so.
func TestAnEngineThatSaysThatItDoesNotServeIsNotAsked(t *testing.T) {
	for why, c := range map[string]emulator.Config{
		"asleep":       {Model: "debug", Asleep: true},
		"loading":      {Model: "debug", Boots: true, LoadTime: 10 * time.Second},
		"model_absent": {Model: "another"},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, standingEngines(c))
				b.Serve(standingWorld)
				if n := b.stays(4); n != 0 { // before the first probe
					t.Errorf("it was asked %d times", n)
				}
				time.Sleep(5 * time.Second)
				b.shows("debug-1", why)
				if n := b.stays(8); n != 0 {
					t.Errorf("it was asked %d times", n)
				}
				if why == "asleep" {
					b.tell("http://debug-1/wake_up")
				}
				time.Sleep(10 * time.Second)
				if why != "model_absent" {
					b.shows("debug-1", "")
				}
			})
		})
	}
}

// What an engine's cache held is not credited once it sleeps, whether its events say so or not.
func TestTheCacheOfAnEngineThatSleepsIsNotCredited(t *testing.T) {
	for _, told := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			engines := standingEngines(emulator.Config{Model: "debug", Asleep: true})
			engines[0].SleepsSilently = !told
			b := newBubble(t, engines)
			b.Serve(standingWorld)
			b.stays(2)
			time.Sleep(time.Second)
			held := func() int { return b.App.Fabric().Index().Host(b.Replica("debug-0").Host).Blocks }
			if held() == 0 {
				t.Fatal("nothing is known of its cache")
			}
			b.tell("http://debug-0/sleep?level=1")
			time.Sleep(3 * time.Second)
			b.tell("http://debug-0/wake_up")
			time.Sleep(3 * time.Second)
			if n := held(); n != 0 {
				t.Errorf("%d blocks are credited", n)
			}
			if s := b.decided(lengthy("a leak")); !strings.Contains(s, `"predicted_cached_tokens":0`) {
				t.Errorf("cached tokens are predicted: %s", s)
			}
		})
	}
}
