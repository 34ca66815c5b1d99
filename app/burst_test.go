package app_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// burstWorld has two engines of eight places, and room for a few seconds of waiting.
const burstWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 60s}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 8, max_waiting: 32}
    replicas:
      - {name: debug-0, url: "http://debug-0", blocks: 2048}
      - {name: debug-1, url: "http://debug-1", blocks: 2048}
`

// burst is a crowd that comes at once.
type burst struct {
	b     *bubble
	twins bool
	began time.Time

	mu        sync.Mutex
	away      int           // at the first try
	untold    int           // of these
	came      int           // back
	heard     int           // of these, at that first retry
	last      time.Duration // since the burst, of a first retry
	readings  []running
	otherwise map[string]int
}

type running struct {
	at time.Duration
	n  int
}

// client asks, and comes back once if it obeys.
func (c *burst) client(i int, obeys bool) {
	q := customer{id: fmt.Sprint("c", i), stream: i%3 > 0, model: "debug", text: sureOfDebug, words: 30, tokens: 60}
	if c.twins {
		q.id = "twin"
	}
	for try := range 2 {
		resp, err := c.b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body())
		if err != nil {
			c.b.T.Error(err)
			return
		}
		a, at := q.read(resp), time.Since(c.began)
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		c.mu.Lock()
		switch {
		case try == 1 && a.failed == "":
			c.heard++
		case a.failed == "":
		case try == 0:
			c.away++
			if after == 0 {
				c.untold++
			}
			if obeys {
				c.came++
				c.last = max(c.last, at+time.Duration(after)*time.Second)
			}
		default:
			c.otherwise[a.failed]++
		}
		c.mu.Unlock()
		if a.failed == "" || !obeys {
			return
		}
		time.Sleep(time.Duration(after) * time.Second)
	}
}

// used is the part of the engines' places that was taken until the last first retry.
func (c *burst) used() float64 {
	sum, n := 0, 0
	for _, r := range c.readings {
		if r.at < c.last {
			sum, n = sum+r.n, n+1
		}
	}
	return float64(sum) / float64(n) / 16
}

// A crowd of twenty times the places comes at once over HTTP. All requests that are sent away are told when to come
// back, those that come then are answered, and the engines have work meanwhile; also where all ask the same, so that
// nothing tells them apart.
func TestABurstThatObeysIsAnsweredAtItsFirstRetry(t *testing.T) {
	for name, tt := range map[string]struct {
		twins bool
		stay  int // of ten, those that never come back
		heard float64
		used  float64
	}{"all obey": {heard: 0.8, used: 0.9}, "all look alike": {twins: true, heard: 0.8, used: 0.9},
		"three in ten stay away": {stay: 3, heard: 0.8, used: 0.8}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var engines []emulator.Config
				for _, name := range []string{"debug-0", "debug-1"} {
					engines = append(engines,
						emulator.Config{Name: name, Model: "debug", Blocks: 2048, MaxRunning: 8, PrefillTPS: 8000,
							Step: 20 * time.Millisecond, StepPerSeq: 250 * time.Microsecond})
				}
				b := newBubble(t, engines)
				b.Serve(burstWorld)
				time.Sleep(time.Second)
				c := &burst{b: b, twins: tt.twins, otherwise: map[string]int{}}
				var all sync.WaitGroup
				for i := range 64 { // what is measured before
					all.Go(func() { c.client(1000+i, false) })
					time.Sleep(100 * time.Millisecond)
				}
				all.Wait()
				c.away, c.untold, c.began = 0, 0, time.Now()
				reading, stop := context.WithCancel(t.Context())
				var reader sync.WaitGroup
				reader.Go(func() {
					for reading.Err() == nil {
						time.Sleep(20 * time.Millisecond)
						c.mu.Lock()
						c.readings = append(c.readings,
							running{time.Since(c.began),
								b.Engines["debug-0"].Stats().Running + b.Engines["debug-1"].Stats().Running})
						c.mu.Unlock()
					}
				})
				for i := range 320 {
					all.Go(func() { c.client(i, i%10 >= tt.stay) })
				}
				all.Wait()
				stop()
				reader.Wait()
				t.Logf(
					"%d sent away, %d untold, %d came back until %v, %d of them answered at once, else %v; %.3f of "+
						"the places used",
					c.away, c.untold, c.came, c.last, c.heard, c.otherwise, c.used())
				if c.untold > 0 || c.came == 0 || float64(c.heard) < tt.heard*float64(c.came) || c.used() < tt.used {
					t.Errorf("want %.2f answered and %.2f used", tt.heard, tt.used)
				}
				for _, rep := range b.App.Server().Runtime().Replicas {
					if rep != nil {
						if err := rep.Gate.Check(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		})
	}
}

// pause is what an answer says of when to come back, and its error's code.
func (b *bubble) pause(body string, headers ...string) (code string, after time.Duration) {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", body, headers...)
	if err != nil {
		b.T.Fatal(err)
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return customer{}.read(resp).failed, time.Duration(seconds) * time.Second
}

// A request that the floor of load refuses, and that comes back when told, again and again, is let in when age has
// lifted it to the floor: known by its session, or by asking the same. One that comes for the first time then is
// refused as ever, and so are all where there is no aging.
func TestWhatComesBackLongEnoughPassesTheFloorOfLoad(t *testing.T) {
	for name, tt := range map[string]struct {
		aging  string
		header []string
		heard  bool
	}{"by its session": {"1s", []string{"X-Session-Id", "patient"}, true}, "by what it asks": {"1s", nil, true},
		"no aging": {"0s", nil, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, overloadEngines())
				b.Serve(strings.Replace(overloadWorld, "max_waiting: 128}\n    slo",
					"max_waiting: 128, aging: "+tt.aging+"}\n    slo", 1))
				time.Sleep(time.Second)
				storm, end := context.WithCancel(t.Context())
				var asking sync.WaitGroup
				asking.Go(func() { b.besiege(storm, &asking) })
				time.Sleep(8 * time.Second)
				q := customer{id: "patient", model: "debug", text: sureOfDebug, words: 5, tokens: 4}
				headers := append([]string{"X-Intent", "codegen", "X-Priority", "-10"}, tt.header...)
				began, heard := time.Now(), time.Duration(0)
				for heard == 0 && time.Since(began) < 25*time.Second {
					code, after := b.pause(q.body(), headers...)
					switch {
					case code != "priority_floor":
						heard = time.Since(began)
					case after == 0:
						t.Fatal("refused without a time")
					}
					time.Sleep(after)
				}
				if tt.heard != (heard > 0) || heard > 0 && heard < 10*time.Second {
					t.Errorf("heard after %v", heard)
				}
				q.id = "hasty"
				if code, _ := b.pause(q.body(), "X-Intent", "codegen", "X-Priority", "-10"); code != "priority_floor" {
					t.Errorf("one that comes for the first time: %q", code)
				}
				end()
				asking.Wait()
			})
		})
	}
}

// Where a filter on load has removed every replica, limits.max_streams are open, or the gateway is about to end,
// refusals say when to come back as well: each behind the one before.
func TestTheGatewaysOwnBoundsSayWhenToComeBack(t *testing.T) {
	for name, tt := range map[string]struct{ world, code string }{
		"max_streams": {strings.Replace(oneplace, "limits: {", "limits: {max_streams: 6, ", 1), "overloaded"},
		"concurrency": {oneplace +
			"    profile: few\nprofiles:\n  few: {filter: [health, {concurrency: {max: 1, refuse: true}}], score: " +
			"[{least-load: 1}], pick: max-score}\n", "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 1,
					Step: 20 * time.Millisecond}})
				b.Serve(strings.Replace(tt.world, "WAIT", "30s", 1))
				time.Sleep(time.Second)
				// some two seconds each
				q := customer{id: "q", stream: true, model: "debug", text: "x", words: 4, tokens: 100}
				var all sync.WaitGroup
				for range 6 { // what is measured before
					b.served(q)
				}
				for range 6 {
					all.Go(func() { b.served(q) })
					time.Sleep(time.Millisecond)
				}
				var told []time.Duration
				for i := range 5 {
					further := q
					further.id = fmt.Sprint("further", i)
					code, after := b.pause(further.body())
					if code != tt.code || after == 0 {
						t.Errorf("%s, Retry-After %v", code, after)
					}
					told = append(told, after)
				}
				if !slices.IsSorted(told) || told[4] == told[0] {
					t.Errorf("told %v", told)
				}
				all.Wait()
			})
		})
	}
}

// While it drains the gateway says when it will be gone.
func TestADrainSaysWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 1,
			Step: 20 * time.Millisecond}})
		b.Serve(strings.NewReplacer("WAIT", "30s", "limits: {", "limits: {drain: 7s, ").Replace(oneplace))
		time.Sleep(time.Second)
		q := customer{id: "q", stream: true, model: "debug", text: "x", words: 4, tokens: 200}
		var all sync.WaitGroup
		all.Go(func() { b.served(q) })
		time.Sleep(100 * time.Millisecond)
		b.Term()
		time.Sleep(time.Second)
		if code, after := b.pause(q.body()); code != "draining" || after != 6*time.Second {
			t.Errorf("%s, Retry-After %v", code, after)
		}
		all.Wait()
	})
}
