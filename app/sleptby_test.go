package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/gateway/apierr"
)

// An engine that another gateway, or an operator, has put to sleep since its last probe refuses the next requests: they
// are requests for a sleeper as any other, are held, and wake it. It is the same by every door, and where the turn is
// not the last step's.
func TestAnEngineThatIsPutToSleepByOthersIsWoken(t *testing.T) {
	for _, path := range []string{"/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, awake("debug-0"))
				b.Serve(sleeperWorld)
				time.Sleep(3*time.Second + 500*time.Millisecond) // half a second after a probe
				b.tell("http://debug-0/sleep?level=1")
				body := strings.Replace(brief(0), "{", fmt.Sprintf(`{"stream":%t,`, stream), 1)
				switch path {
				case "/v1/completions":
					body = `{"model":"debug","max_tokens":4,"prompt":"q"}`
					if stream {
						body = `{"model":"debug","max_tokens":4,"prompt":"q","stream":true}`
					}
				case "/v1/responses":
					body = strings.Replace(body, `"messages"`, `"input"`, 1)
					body = strings.Replace(body, `"max_tokens":4`, `"max_output_tokens":16`, 1)
				}
				began := time.Now()
				resp, err := b.Ask(t.Context(), http.MethodPost, "http://data"+path, body)
				if err != nil {
					t.Fatal(err)
				}
				text := whole(t, resp)
				if took := time.Since(began); resp.StatusCode != 200 || took < loads || took > loads+3*time.Second {
					t.Errorf("%s, stream %t: %d after %v: %s", path, stream, resp.StatusCode, took, text)
				}
				r := b.Read("http://data/v1/receipts/" + resp.Header.Get("X-Receipt-Id"))
				if !strings.Contains(r, `"woke":true`) || !strings.Contains(r, `"not_tried"`) {
					t.Errorf("the receipt does not tell: %s", r)
				}
				if n := b.woken("debug-0"); n != 1 || !b.Quiet() {
					t.Errorf("woken %d times, quiet %t", n, b.Quiet())
				}
			})
		}
	}
}

// Where another replica serves, the request goes there at once. One that is busy, and does not sleep, is not taken to.
func TestAnEngineThatRefusesIsAskedWhetherItSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, awake("debug-0", "debug-1"))
		b.Serve(strings.Replace(sleeperWorld, "    replicas:\n",
			"    replicas:\n      - {name: debug-1, url: \"http://debug-1\", engine: vllm, blocks: 512}\n", 1))
		time.Sleep(3*time.Second + 500*time.Millisecond)
		b.tell("http://debug-0/sleep?level=1")
		for i, o := range b.crowd(4) {
			if o.status != 200 || o.took > time.Second {
				t.Errorf("%d: %+v", i, o)
			}
		}
		time.Sleep(30 * time.Second)
		if n := b.woken("debug-0"); n != 0 {
			t.Errorf("woken %d times", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 4}})
		b.Serve(sleeperWorld)
		time.Sleep(3 * time.Second)
		resp, err := b.Ask(t.Context(), http.MethodPost, "http://debug-0/admin/faults",
			`{"kind":"status","k":503,"times":1}`)
		if err != nil {
			t.Fatal(err)
		}
		whole(t, resp)
		if o := b.outcome(t.Context(), brief(1)); o.status != 503 || o.code != "overloaded" || o.took > time.Second {
			t.Errorf("one that is busy: %+v", o)
		}
	})
}

// One that refuses, and does not say whether it sleeps, keeps no request waiting for it.
func TestAnEngineThatDoesNotSayWhetherItSleepsHoldsNoRequest(t *testing.T) {
	var refuses atomic.Bool
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case refuses.Load() && r.Method == http.MethodPost:
			http.Error(w, "not now", http.StatusServiceUnavailable)
		case refuses.Load():
			<-r.Context().Done()
		default:
			fmt.Fprint(w, `{"is_sleeping":false,"object":"list","data":[]}`)
		}
	}))
	t.Cleanup(engine.Close)
	w := newWorld(t, fmt.Sprintf(`
auth: {anonymous: true}
fleet: {probe_timeout: 1m, probe_interval: 1m}
specialists:
  - {name: debug, tokenizer: builtin, replicas: [{url: %q, engine: vllm, blocks: 512}]}
`, engine.URL), nil)
	eventually(t, "it serves", func() bool { return w.Get(w.Data+"/readyz", nil) == 200 })
	refuses.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp := w.Ask(ctx, "/v1/chat/completions", brief(1))
	checkError(t, resp, []byte(whole(t, resp)), 503, apierr.Overloaded, "")
}

// vLLM keeps what it is sent while it sleeps, and tells of no request. Where it was put to sleep by others it is woken
// for what it keeps, whether another replica serves or not.
func TestAnEngineThatKeepsRequestsInItsSleepIsWoken(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			engines := awake("debug-0", "debug-1")
			engines[0].AwaitsWake, engines[1].AwaitsWake = true, true
			b := newBubble(t, engines)
			yaml := sleeperWorld
			if replicas == 2 {
				yaml = strings.Replace(yaml, "    replicas:\n",
					"    replicas:\n      - {name: debug-1, url: \"http://debug-1\", engine: vllm, blocks: 512}\n", 1)
			}
			b.Serve(yaml)
			time.Sleep(3*time.Second + 500*time.Millisecond) // half a second after a probe
			b.tell("http://debug-0/sleep?level=1")
			kept := 0
			for i, o := range b.crowd(4) {
				if o.status != 200 || o.took > loads+4*time.Second {
					t.Errorf("%d replicas, %d: %+v", replicas, i, o)
				}
				if o.took > loads {
					kept++
				}
			}
			if n := b.woken("debug-0"); kept == 0 || n != 1 || !b.Quiet() {
				t.Errorf("%d replicas: woken %d times for %d requests", replicas, n, kept)
			}
			time.Sleep(time.Minute)
			b.tell("http://debug-0/sleep?level=1") // nothing is there
			time.Sleep(time.Minute)
			if n := b.woken("debug-0"); n != 1 {
				t.Errorf("%d replicas: woken %d times", replicas, n)
			}
		})
	}
}
