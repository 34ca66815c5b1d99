package app_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/gateway/receipt"
)

// Whatever refuses a request for a specialist that sleeps, that is woken for the next one: where none may wait, too.
// hold: 0s alone leaves replicas that sleep to their operator.
func TestARequestThatMayNotWaitWakesAllTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		sets  []string
		code  string
		wakes int
	}{
		"no places": {[]string{"specialists[0].scheduler.max_waiting=0"}, "queue_full", 1},
		"no hold, and idle ones sleep": {[]string{"specialists[0].sleep.hold=0s", "specialists[0].sleep.after=10m"},
			"no_healthy_replica", 1},
		"no hold, and a way to wake": {[]string{"specialists[0].sleep.hold=0s",
			"specialists[0].sleep.wake.path=/wake_up"}, "no_healthy_replica", 1},
		"no waiting at all": {[]string{"limits.max_queue_wait=0s"}, "no_healthy_replica", 1},
		"no waiting, and idle ones sleep": {[]string{"limits.max_queue_wait=0s", "specialists[0].sleep.after=10m"},
			"no_healthy_replica", 1},
		"no hold": {[]string{"specialists[0].sleep.hold=0s"}, "no_healthy_replica", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
				b.Serve(sleeperWorld, c.sets...)
				time.Sleep(3 * time.Second)
				for i := range 3 {
					o := b.outcome(t.Context(), brief(i))
					if o.code != c.code || o.took > time.Second || o.after != "" && i == 0 {
						t.Errorf("%d: %+v", i, o)
					}
					time.Sleep(loads / 4)
				}
				if n := b.woken("debug-0"); n != c.wakes {
					t.Errorf("woken %d times", n)
				}
				time.Sleep(loads)
				o := b.outcome(t.Context(), brief(4))
				if c.wakes == 0 {
					if o.code != c.code {
						t.Errorf("asleep still: %+v", o)
					}
					return
				}
				if o.status != http.StatusOK {
					t.Errorf("awake: %+v", o)
				}
				b.tell("http://debug-0/sleep?level=1")
				time.Sleep(3 * time.Second)
				b.outcome(t.Context(), brief(5))
				time.Sleep(loads / 2)
				// the time was measured: an eighth more than what is left of it
				if o := b.outcome(t.Context(), brief(6)); o.code != c.code || o.after != "7" && o.after != "8" {
					t.Errorf("asleep again: %+v", o)
				}
				if !b.Quiet() {
					t.Error("something is held")
				}
			})
		})
	}
}

// meteredSleeper is sleeperWorld with a tenant whose tokens are limited.
var meteredSleeper = strings.Replace(sleeperWorld, "auth: {anonymous: true}", `auth:
  tenants: [{name: acme, key_sha256: `+keySHA+`, rate: {tokens_per_minute: 600}}]`, 1)

// A request pays before it is held: what its tenant's rate does not bear is refused at once, and wakes nothing. It pays
// once, what it used; one that is never let out pays nothing in the end.
func TestARequestPaysBeforeItIsHeld(t *testing.T) {
	const burst, perSecond = 600, 10
	auth := []string{"Authorization", "Bearer " + key}
	for _, letOut := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
			hold := "specialists[0].sleep.hold=30s"
			if !letOut {
				hold = "specialists[0].sleep.hold=5s"
			}
			b.Serve(meteredSleeper, hold)
			time.Sleep(3 * time.Second)
			acme, err := b.App.Server().Runtime().Tenants.ByAuthorization(context.Background(), "Bearer "+key,
				time.Now())
			if err != nil {
				t.Fatal(err)
			}
			left := func() float64 { // a charge of all is told when it could be
				if _, no := acme.Charge(time.Now(), burst); no != nil {
					return burst - no.RetryAfter.Seconds()*perSecond
				}
				acme.Settle(time.Now(), burst, 0)
				return burst
			}
			acme.Settle(time.Now(), 0, burst) // nothing is left
			if o := b.outcome(t.Context(), brief(0), auth...); o.code != "quota_exceeded" || o.took > time.Second {
				t.Errorf("with nothing left: %+v", o)
			}
			if n := b.woken("debug-0"); n != 0 {
				t.Errorf("woken %d times for it", n)
			}
			acme.Settle(time.Now(), burst, 0)
			if got := left(); math.Abs(got-burst) > 1 {
				t.Fatalf("%v are left", got)
			}
			// Each text is some 360 bytes, 90 tokens: six are held.
			long := strings.Replace(brief(1), "question 1", strings.Repeat("what now ", 40), 1)
			var asking sync.WaitGroup
			var mu sync.Mutex
			codes, paid := map[string]int{}, 0.0
			for range 10 {
				asking.Go(func() {
					o := b.outcome(context.Background(), long, auth...)
					mu.Lock()
					defer mu.Unlock()
					if codes[o.code]++; o.code == "" {
						paid += b.usedBy(o.id, auth...)
					}
					if o.code == "quota_exceeded" && (o.took > time.Second || o.after == "") {
						t.Errorf("%+v", o)
					}
				})
			}
			synctest.Wait()
			if got := left(); got > burst/4 {
				t.Errorf("%v are left while six wait", got)
			}
			began := time.Now()
			asking.Wait()
			want := map[bool]string{true: "", false: "no_healthy_replica"}[letOut]
			if codes[want] != 6 || codes["quota_exceeded"] != 4 {
				t.Errorf("%v", codes)
			}
			got, should := left(), min(burst-paid+time.Since(began).Seconds()*perSecond, burst)
			if math.Abs(got-should) > 2 {
				t.Errorf("%v are left, %v were used: want %v", got, paid, should)
			}
		})
	}
}

// usedBy returns the tokens that a receipt tells of.
func (b *bubble) usedBy(id string, headers ...string) float64 {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodGet, "http://data/v1/receipts/"+id, "", headers...)
	if err != nil {
		b.T.Fatal(err)
	}
	var r receipt.Receipt
	if err := json.Unmarshal([]byte(whole(b.T, resp)), &r); err != nil {
		b.T.Fatal(err)
	}
	return float64(r.Result.PromptTokens + r.Result.CompletionTokens)
}

// A copy waits for its request: while that is held none is sent, and none at all if it is never let out.
func TestACopyWaitsForARequestThatIsHeld(t *testing.T) {
	world := strings.Replace(sleeperWorld, "specialists:\n", "router: {detectors: false}\nspecialists:\n", 1) +
		`  - name: systems
    tokenizer: builtin
    replicas: [{name: systems-0, url: "http://systems-0", engine: vllm, blocks: 512}]
`
	systems := sleeperEngine("systems-0")
	systems.Model, systems.Asleep = "systems", false
	for _, letOut := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), systems})
			sets := []string{"shadow.stream=", "shadow.file="}
			if !letOut {
				sets = append(sets, "specialists[0].sleep.hold=5s")
			}
			b.Serve(world, sets...)
			doubting(t, b.App)
			time.Sleep(3 * time.Second)
			asked := &b.Engines["systems-0"].Asked
			var o outcome
			var done sync.WaitGroup
			done.Go(func() {
				o = b.outcome(context.Background(), asking("unsure 0.84", false), "X-Intent", "review")
			})
			time.Sleep(4 * time.Second)
			if n := asked.Load(); n != 0 {
				t.Errorf("%d copies of a request that is held are sent", n)
			}
			done.Wait()
			time.Sleep(3 * time.Second)
			n := asked.Load()
			compared := b.Metric("http://admin", "octet_shadows_total", `outcome="compared"`)
			if letOut && (o.status != http.StatusOK || n != 1 || compared != 1) {
				t.Errorf("%+v: %d copies, %v compared", o, n, compared)
			}
			if !letOut && (o.code != "no_healthy_replica" || n != 0) {
				t.Errorf("%+v: %d copies", o, n)
			}
			if !b.Quiet() {
				t.Error("something is held")
			}
		})
	}
}
