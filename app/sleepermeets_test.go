package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// awake returns engines that can sleep, and do not.
func awake(names ...string) []emulator.Config {
	var engines []emulator.Config
	for _, name := range names {
		e := sleeperEngine(name)
		e.Asleep = false
		engines = append(engines, e)
	}
	return engines
}

// A gateway whose engines all sleep is ready, as a request would wake one and be answered: else no balancer would send
// it one. It is not where none can be woken.
func TestAGatewayWhoseEnginesSleepIsReady(t *testing.T) {
	for _, drained := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, awake("debug-0"))
			b.Serve(sleeperWorld, "specialists[0].sleep.after=1m")
			time.Sleep(10 * time.Minute)
			if drained {
				b.tell("http://admin/admin/drain/debug-0")
			}
			resp, err := b.Ask(t.Context(), http.MethodGet, "http://data/readyz", "")
			if err != nil {
				t.Fatal(err)
			}
			whole(t, resp)
			if ready := resp.StatusCode == 200; ready == drained || b.woken("debug-0") > 0 {
				t.Errorf("drained %t: /readyz is %d", drained, resp.StatusCode)
			}
			if o := b.outcome(t.Context(), brief(1)); (o.status == 200) == drained || drained && o.took > time.Second {
				t.Errorf("drained %t: %+v", drained, o)
			}
		})
	}
}

// A replica that sleeps and is found no more is not woken: the other one is.
func TestASleeperThatHasLeftIsNotWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-a"), sleeperEngine("debug-b")})
		b.Serve(foundWorld, "specialists[0].sleep.hold=60s")
		b.register("debug-a", "4s")
		time.Sleep(500 * time.Millisecond)
		b.register("debug-b", "1h")
		time.Sleep(6 * time.Second)
		if o := b.outcome(t.Context(), brief(0)); o.status != 200 || o.took > 2*loads || b.woken("debug-a") > 0 {
			t.Errorf("%+v; debug-a was woken %d times, debug-b %d times", o, b.woken("debug-a"), b.woken("debug-b"))
		}
	})
}

const legsWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1s}
limits: {max_queue_wait: 30s}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 4, max_waiting: 64}
    sleep: {hold: 60s, after: 1m}
    workflow: disaggregated
    disaggregation: {min_prompt_tokens: 48, min_uncached_tokens: 16, prefill: {on_failure: %s}}
    replicas:
%s`

// legged returns legsWorld with replicas in an order, d decodes and p prefills.
func legged(onFailure string, names ...string) string {
	replicas := ""
	for _, name := range names {
		role := "decode"
		if strings.HasSuffix(name, "p") {
			role = "prefill"
		}
		replicas += fmt.Sprintf("      - {name: %[1]s, url: \"http://%[1]s\", engine: vllm, blocks: 512, "+
			"role: %[2]s}\n", name, role)
	}
	return fmt.Sprintf(legsWorld, onFailure, replicas)
}

// prefilled is a prompt that is prefilled elsewhere.
func prefilled(i int) string {
	return chat("debug", 8, false, fmt.Sprint(i, strings.Repeat(" word", 300)))
}

// Both replicas of a workflow have slept: both are woken, in whichever order they are listed, and prompts are computed
// where they are to be.
func TestReplicasOfBothRolesAreWoken(t *testing.T) {
	for _, onFailure := range []string{"skip", "retry", "fail"} {
		for _, names := range [][]string{{"debug-p", "debug-d"}, {"debug-d", "debug-p"}} {
			t.Run(fmt.Sprint(onFailure, names), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBubble(t, awake(names...))
					b.Serve(legged(onFailure, names...))
					time.Sleep(10 * time.Minute)
					failed := 0
					for i := range 60 {
						if b.outcome(t.Context(), prefilled(i)).status != 200 {
							failed++
						}
						time.Sleep(10 * time.Second)
					}
					computed := b.Engines["debug-p"].Asked.Load()
					if failed > 3 || computed < 50 { // as one wakes after the other
						t.Errorf("%d of 60 failed, %d were prefilled", failed, computed)
					}
				})
			})
		}
	}
}

// A replica that computes prompts sleeps while nothing is asked, and not while prompts are short and another answers.
func TestAPrefillingReplicaIsAwakeWhileOthersAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, awake("debug-p", "debug-d"))
		b.Serve(legged("skip", "debug-p", "debug-d"))
		time.Sleep(3 * time.Second)
		for range 30 {
			time.Sleep(10 * time.Second)
			b.outcome(t.Context(), brief(0))
		}
		before := b.Engines["debug-p"].Asked.Load()
		if o := b.outcome(t.Context(), prefilled(0)); o.status != 200 || b.Engines["debug-p"].Asked.Load() == before {
			t.Errorf("%+v: the prompt was not computed at debug-p", o)
		}
	})
}

// Requests wait at the one that answers, another sleeps, and one that computes prompts has nothing to do: the sleeper
// is woken.
func TestASleeperIsWokenBesideAnIdlePrefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, append(awake("debug-p", "debug-d"), sleeperEngine("debug-ed")))
		b.Serve(legged("skip", "debug-p", "debug-d", "debug-ed"), "specialists[0].scheduler.max_running=1")
		time.Sleep(3 * time.Second)
		var asking sync.WaitGroup
		for i := range 10 {
			asking.Go(func() { b.reply("/v1/chat/completions", chat("debug", 1500, true, fmt.Sprint(i))) })
		}
		asking.Wait()
		if b.woken("debug-ed") == 0 {
			t.Error("debug-ed sleeps on")
		}
	})
}
