package app_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"octet/app"
	"octet/gateway/apierr"
)

const systems = `{"model":"systems","max_tokens":12,"messages":[{"role":"user","content":"x"}]}`

// Promise 1: before the first byte an engine's death is another replica's turn; the client sees a whole answer.
func TestAnEngineThatDiesBeforeTheFirstByteIsReplaced(t *testing.T) {
	for _, fault := range []string{"die_before_headers", "die_after_headers", "garbage", "error_event"} {
		for _, body := range []string{hello, streamed(hello)} {
			mode := map[bool]string{true: "unary", false: "streamed"}[body == hello]
			t.Run(fault+" "+mode, func(t *testing.T) {
				w := newWorld(t, smallWorld, smallEngines(), "fleet.probe_interval=1h")
				// ties go to the lowest replica: it is first
				w.Fault("debug-0", fmt.Sprintf(`{"kind":%q,"times":1}`, fault))
				resp, answer := w.Post("/v1/chat/completions", body, "X-Request-Id", "retry")
				if attempts := resp.Header.Get("X-Attempts"); attempts != "2" && fault != "die_before_headers" {
					// a kept-alive connection that closes unheard is replaced within the attempt
					t.Errorf("%s attempts", attempts)
				}
				if resp.StatusCode != 200 || contentOf(mode, answer) != indexText("retry", 12) {
					t.Errorf("status %d after %s attempts: %s", resp.StatusCode, resp.Header.Get("X-Attempts"), answer)
				}
				eventually(t, "ledgers at their baseline", w.Quiet)
			})
		}
	}
}

func (w *world) do(method, url string) {
	w.T.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	resp.Body.Close()
}

func (w *world) clearFaults(name string) { w.do("DELETE", w.Engines[name].URL+"/admin/faults") }

// Promise 1: after the first byte a failure is one typed error event and an abnormal close, never a quiet end.
func TestAStreamThatBreaksEndsInATypedError(t *testing.T) {
	for _, c := range []struct {
		fault string
		code  apierr.Code
	}{
		{"die_after_tokens", apierr.UpstreamReset},
		{"garbage", apierr.UpstreamProtocolError},
		{"error_event", apierr.UpstreamReset},
		{"hang_after_tokens", apierr.UpstreamTimeout},
	} {
		t.Run(c.fault, func(t *testing.T) {
			// only silence is given up
			idle := map[bool]string{true: "300ms", false: "1m"}[c.code == apierr.UpstreamTimeout]
			w := newWorld(t, smallWorld, smallEngines(), "limits.idle_timeout="+idle)
			w.Fault("systems-0", fmt.Sprintf(`{"kind":%q,"k":3,"times":1}`, c.fault))
			resp := w.Ask(t.Context(), "/v1/chat/completions", streamed(systems), "X-Request-Id", "broken")
			s := readStream(resp.Body)
			if resp.StatusCode != 200 || s.done || s.clean || s.failed == nil ||
				s.failed.Error.Code != string(c.code) || s.failed.RequestID != "broken" {
				t.Errorf("status %d, done %v, clean end %v, error %+v", resp.StatusCode, s.done, s.clean, s.failed)
			}
			if s.text != indexText("broken", 3) {
				t.Errorf("text %q: want the first three tokens", s.text)
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

func TestAnEngineThatHangsIsTimedOut(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.ttft_timeout=200ms", "limits.answer_timeout=200ms")
	for _, body := range []string{systems, streamed(systems)} {
		w.Fault("systems-0", `{"kind":"hang","times":1}`)
		resp, answer := w.Post("/v1/chat/completions", body)
		checkError(t, resp, answer, 504, apierr.UpstreamTimeout, "")
	}
	w.Fault("systems-0", `{"kind":"hang","times":1}`)
	resp, answer := w.Post("/v1/chat/completions", streamed(systems), "X-TTFT-Deadline-Ms", "50")
	checkError(t, resp, answer, 504, apierr.DeadlineExceeded, "")
	eventually(t, "ledgers at their baseline", w.Quiet)
}

func TestADeadlineEndsAStream(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":2}`)
	resp := w.Ask(t.Context(), "/v1/chat/completions", streamed(systems), "X-Deadline-Ms", "1500")
	s := readStream(resp.Body)
	if s.failed == nil || s.failed.Error.Code != string(apierr.DeadlineExceeded) || s.clean {
		t.Errorf("stream %+v", s)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// MEGA-24 at the Gate, and promise 2: a client that leaves frees what it held, at the Gate and in the engine.
func TestAClientThatLeavesFreesItsBlocks(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	for _, fault := range []string{`{"kind":"hang"}`, `{"kind":"hang_after_tokens","k":3}`, `{"kind":"slow"}`} {
		for _, body := range []string{systems, streamed(systems)} {
			w.Fault("systems-0", fault)
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				req, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
					strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				if resp, err := http.DefaultClient.Do(req); err == nil {
					readStream(resp.Body)
					resp.Body.Close()
				}
			}()
			eventually(t, "the request runs", func() bool { return !w.Quiet() })
			leave()
			eventually(t, "ledgers at their baseline", w.Quiet)
			w.clearFaults("systems-0")
		}
	}
}

func TestAClientThatDoesNotReadIsLetGo(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.write_timeout=200ms", "specialists[1].context=100000")
	body := `{"model":"systems","stream":true,"max_tokens":7000,"messages":[{"role":"user","content":"x"}]}`
	w.Ask(t.Context(), "/v1/chat/completions", body, "X-Request-Id", strings.Repeat("x", 128)) // never read
	eventually(t, "the request runs", func() bool { return !w.Quiet() })
	eventually(t, "it is let go", w.Quiet)
}

// Promise 4: what clients say about internals has no effect.
func TestReservedHeadersAreNeverHonoured(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	resp, answer := w.Post("/v1/chat/completions", hello,
		"X-Gateway-Destination-Endpoint", "127.0.0.1:1", "x_gateway_destination_endpoint", "127.0.0.1:1",
		"X-Prefiller-Host-Port", "127.0.0.1:1",
		"X-Data-Parallel-Rank", "7", "X-Tenant", "root", "X-Shadow", "systems", "Connection", "X-Specialist",
		"X-Specialist", "systems")
	if resp.StatusCode != 200 || resp.Header.Get("X-Specialist") != "debug" || resp.Header.Get("X-Shadow") != "" {
		t.Errorf("status %d, %v: %s", resp.StatusCode, resp.Header, answer)
	}
}

// At most three goroutines for a stream that is open and quiet, in the gateway: the engines' own are subtracted.
func TestAnOpenStreamCostsThreeGoroutinesAtMost(t *testing.T) {
	const streams = 40
	w := newWorld(t, smallWorld, smallEngines())
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":0}`)
	before := ownGoroutines()
	for range streams {
		resp := w.Ask(t.Context(), "/v1/chat/completions", streamed(systems))
		buf := make([]byte, 1)
		_, _ = resp.Body.Read(buf) // the first byte is out: the stream is open
	}
	var after int
	eventually(t, "goroutines settle", func() bool { after = ownGoroutines(); return after <= before+3*streams })
	t.Logf("%d streams hold %d goroutines of the gateway", streams, after-before)
}

// ownGoroutines counts the goroutines that are the gateway's: its handlers, its connections' readers and whatever it
// starts. The test's clients and the engines live in the same process and are told apart by what is on their stacks.
func ownGoroutines() (n int) {
	buf := make([]byte, 64<<20)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		switch {
		case strings.Contains(stack, "octet/gateway."), strings.Contains(stack, "octet/engine/openai."),
			strings.Contains(stack, "octet/scheduler.(*Gate)"):
			n++ // a handler, or what it started
		case strings.Contains(stack, "backgroundRead"):
			n++ // of a server's connection: an engine's or the gateway's, one for each stream on either side
		}
	}
	return n
}

func TestLoadIsSpreadWhenNothingIsCached(t *testing.T) {
	// no stream ends before the last has begun
	w := newWorld(t, smallWorld, smallEngines(), "limits.idle_timeout=1h", "limits.ttft_timeout=1h")
	for _, name := range []string{"debug-0", "debug-1"} {
		w.Fault(name, `{"kind":"hang_after_tokens","k":1,"times":0}`)
	}
	seen := map[string]int{}
	for i := range 6 {
		body := fmt.Sprintf(
			`{"model":"debug","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"request %d"}]}`, i)
		resp := w.Ask(t.Context(), "/v1/chat/completions", body)
		seen[resp.Header.Get("X-Replica")]++
	}
	if len(seen) != 2 || seen[app.Opaque("debug-0")] != 3 {
		t.Errorf("replicas %v, want three each", seen)
	}
}

// MEGA-20, MEGA-25: a more urgent request takes the place of a less urgent one that has not begun to answer.
func TestTheUrgentGoFirst(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "specialists[1].scheduler.max_running=1")
	w.Fault("systems-0", `{"kind":"hang","times":1}`)
	low := make(chan []byte, 1)
	go func() {
		_, answer := w.Post("/v1/chat/completions", streamed(systems), "X-Priority", "-5", "X-Request-Id", "low")
		low <- answer
	}()
	gate := w.App.Server().Runtime().Replicas[w.Replica("systems-0").Host].Gate
	eventually(t, "the low one runs", func() bool { return gate.Stats().Running == 1 })
	eventually(t, "it hangs at its engine", func() bool { return w.armed("systems-0") == 0 })
	resp, answer := w.Post("/v1/chat/completions", streamed(systems), "X-Priority", "5", "X-Request-Id", "high")
	if s := readStream(bytes.NewReader(answer)); resp.StatusCode != 200 || s.text != indexText("high", 12) {
		t.Errorf("the urgent one: status %d: %s", resp.StatusCode, answer)
	}
	if s := readStream(bytes.NewReader(<-low)); s.text != indexText("low", 12) || !s.done {
		t.Errorf("the one that gave way: %+v", s)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}
