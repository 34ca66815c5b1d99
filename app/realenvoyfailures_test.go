package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
)

// lingering are engines whose longest answer takes longer than a test waits.
func lingering() []emulator.Config {
	all := smallEngines()
	for i := range all {
		all[i].Step = 500 * time.Millisecond
	}
	return all
}

// lasting is a request for such an answer; more follows its messages.
func lasting(more string) string {
	return `{"model":"debug","max_tokens":3000,"messages":[{"role":"user","content":"why"}]` + more + `}`
}

// begun asks for a stream and reads its first token.
func (e *realEnvoy) begun(ctx context.Context, c *http.Client, pairs ...string) (*http.Response, *bufio.Reader) {
	e.t.Helper()
	resp, err := e.ask(ctx, c, strings.NewReader(lasting(`,"stream":true`)), pairs...)
	if err != nil {
		e.t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			e.t.Fatalf("%d, %v: %s", resp.StatusCode, err, line)
		}
		if strings.Contains(line, `:0⟧`) {
			return resp, lines
		}
	}
}

// holds waits until n requests have a place at an engine.
func (e *realEnvoy) holds(n int) {
	e.t.Helper()
	eventually(e.t, "it has a place", func() bool {
		running := 0
		for _, engine := range e.w.Engines {
			running += engine.Stats().Running
		}
		return running == n
	})
}

// unanswered asks for what must not be answered; it returns what is closed when that is over.
func unanswered(t *testing.T, ask func() (*http.Response, error)) (over chan struct{}) {
	over = make(chan struct{})
	go func() {
		defer close(over)
		if resp, err := ask(); err == nil {
			t.Errorf("it is answered: %d", resp.StatusCode)
		}
	}()
	return over
}

// askRaw sends a request for an answer on a connection of its own, of which nothing is read. It is closed at the end.
func (e *realEnvoy) askRaw(body string) *net.TCPConn {
	e.t.Helper()
	conn, err := net.Dial("tcp", e.at)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = conn.Close() })
	raw := conn.(*net.TCPConn)
	if err := raw.SetReadBuffer(4096); err != nil {
		e.t.Fatal(err)
	}
	fmt.Fprintf(raw, "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	return raw
}

// Over Envoy itself, a client that leaves frees what its request held, wherever the request was.
func TestARealEnvoysClientThatLeavesFreesAll(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, lingering(), "limits.ttft_timeout=1h", "limits.idle_timeout=1h")
	e := newRealEnvoy(t, w)
	for proto, client := range clientsOf(t) {
		for name, leave := range map[string]func(ctx context.Context, end func()){
			"in its body": func(ctx context.Context, end func()) {
				body, writes := io.Pipe()
				over := unanswered(t, func() (*http.Response, error) { return e.ask(ctx, client, body) })
				_, _ = io.WriteString(writes, pickedChat[:20])
				eventually(t, "it is there", func() bool { return w.App.Server().Inbound() == 1 })
				end()
				_ = writes.Close()
				<-over
			},
			"as its engine works": func(ctx context.Context, end func()) {
				over := unanswered(t, func() (*http.Response, error) {
					return e.ask(ctx, client, strings.NewReader(lasting("")))
				})
				e.holds(1)
				end()
				<-over
			},
			"in its answer": func(ctx context.Context, end func()) {
				resp, _ := e.begun(ctx, client)
				end()
				_ = resp.Body.Close()
			},
		} {
			ctx, end := context.WithCancel(t.Context())
			leave(ctx, end)
			e.back(proto + " " + name)
			end()
		}
	}
}

// Over Envoy itself, a client of HTTP/1.1 that ends its side of the connection has left; one of HTTP/2 ends its side
// with each request.
func TestARealEnvoysClientThatHalfClosesHasLeft(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, lingering(), "limits.ttft_timeout=1h", "limits.idle_timeout=1h")
	e := newRealEnvoy(t, w)
	conn := e.askRaw(lasting(`,"stream":true`))
	e.holds(1)
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	e.back("its side is closed")
}

// toldDeaths are how an engine fails, and what its client is told: "" is a stream that breaks. That has Envoy's own
// error in place of its head, where the engine dies before the picker has seen that.
var toldDeaths = map[string]struct {
	fault, body, code string
	opens             bool // the breaker
}{
	"before its head":       {emulator.DieBeforeHeaders, pickedChat, "upstream_reset", true},
	"no HTTP":               {emulator.BadHead, pickedChat, "upstream_protocol_error", true},
	"its head has no end":   {emulator.HugeHead, pickedChat, "upstream_protocol_error", true},
	"after its head":        {emulator.DieAfterHeaders, pickedChat, "upstream_reset", false},
	"in a body":             {emulator.DieAfterTokens, pickedChat, "upstream_reset", false},
	"in a stream":           {emulator.DieAfterTokens, streamChat, "", false},
	"at the end too early":  {emulator.Close, streamChat, "", false},
	"a stream without end":  {emulator.Cut, streamChat, "upstream_reset", true},
	"an error in a stream":  {emulator.ErrorEvent, streamChat, "upstream_reset", true},
	"bytes that are no SSE": {emulator.Garbage, streamChat, "upstream_protocol_error", true},
}

// Over Envoy itself, an engine that dies is told in the contract's error until the answer's head is on its way; a
// stream under which it dies breaks. Breakers count what Envoy tells of: nothing once the engine's head has come.
func TestARealEnvoyTellsDeaths(t *testing.T) {
	envoyBinary(t)
	for proto, client := range clientsOf(t) {
		for name, c := range toldDeaths {
			t.Run(proto+" "+name, func(t *testing.T) {
				w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.failures=1", "fleet.breaker.open_for=1h",
					"fleet.probe_interval=1h")
				e := newRealEnvoy(t, w)
				w.Fault("debug-0", fmt.Sprintf(`{"kind":%q,"k":3,"times":0}`, c.fault))
				at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
				resp, text, err := e.post(client, c.body, "X-Gateway-Destination-Endpoint-Subset", at)
				code := c.code
				if code == "" && err == nil {
					code = "upstream_reset"
				}
				whole := c.body == pickedChat || c.code == "" && err == nil // else it breaks off behind its error
				if (err == nil) != whole || !strings.Contains(text, code) || whole &&
					(resp.StatusCode != 502 || resp.Header.Get("X-Request-Id") == "") {
					t.Errorf("%d, %v, %v: %s", resp.StatusCode, resp.Header, err, text)
				}
				e.back(name)
				if open := w.Replica("debug-0").Fleet.State() == "open"; open != c.opens {
					t.Errorf("the breaker is %s", w.Replica("debug-0").Fleet.State())
				}
			})
		}
	}
}

// Over Envoy itself, what Envoy has no room for, or does not reach, is told from an engine that is busy.
func TestARealEnvoyWithoutRoomBlamesNoReplica(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, lingering(), "fleet.breaker.open_for=1h", "fleet.probe_interval=1h",
		"limits.ttft_timeout=1h", "limits.idle_timeout=1h")
	e := newRealEnvoy(t, w, "lb_policy: CLUSTER_PROVIDED",
		"lb_policy: CLUSTER_PROVIDED\n      circuit_breakers: {thresholds: [{max_requests: 1}]}")
	client := clientsOf(t)["HTTP/1.1"]
	at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	e.begun(ctx, client, "X-Gateway-Destination-Endpoint-Subset", at)
	for range 6 {
		resp, text, err := e.post(client, pickedChat, "X-Gateway-Destination-Endpoint-Subset", at)
		var said errorBody
		if json.Unmarshal([]byte(text), &said) != nil || err != nil || resp.StatusCode < 500 || said.Error.Code == "" {
			t.Errorf("%d, %v: %s", resp.StatusCode, err, text)
		}
	}
	if rep := w.Replica("debug-0").Fleet; rep.State() != "closed" || !rep.Available() {
		t.Errorf("the breaker is %s", rep.State())
	}
	leave()
	e.back("the first")
}

// Over Envoy itself, an engine that is gone is not reached, and is out after a few.
func TestARealEnvoyTellsOfAnEngineThatIsGone(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.open_for=1h", "fleet.probe_interval=1h")
	e := newRealEnvoy(t, w)
	at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
	w.Engines["debug-0"].Kill()
	client := clientsOf(t)["HTTP/2"]
	resp, text, err := e.post(client, pickedChat, "X-Gateway-Destination-Endpoint-Subset", at)
	if err != nil || resp.StatusCode < 500 || !strings.Contains(text, `"code"`) {
		t.Errorf("%d, %v: %s", resp.StatusCode, err, text)
	}
	eventually(t, "it is out", func() bool {
		resp, _, err := e.post(client, pickedChat)
		return err == nil && resp.StatusCode == 200 &&
			(w.Replica("debug-0").Fleet.State() == "open" || !w.Replica("debug-0").Fleet.Available())
	})
	eventually(t, "it is over", func() bool { return w.App.Server().Inbound() == 0 })
}

// Over Envoy itself, an engine that is killed in the midst of a stream has the stream break, and frees what it held.
func TestARealEnvoysStreamBreaksWithItsEngine(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, lingering(), "limits.ttft_timeout=1h", "limits.idle_timeout=1h")
	e := newRealEnvoy(t, w)
	at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
	ends := make(chan error, 2)
	for _, client := range clientsOf(t) {
		_, lines := e.begun(t.Context(), client, "X-Gateway-Destination-Endpoint-Subset", at)
		go func() {
			_, err := io.Copy(io.Discard, lines)
			ends <- err
		}()
	}
	w.Engines["debug-0"].Kill()
	for range 2 {
		if err := <-ends; err == nil {
			t.Error("the stream ends as one that is whole")
		}
	}
	delete(w.Engines, "debug-0")
	e.back("killed")
}

// Over Envoy itself, a picker that is gone has streams break and requests refused, and one that is back is asked again.
// A filter that fails open has no endpoint to go to either, and takes none from the client.
func TestARealEnvoyOutlivesItsPicker(t *testing.T) {
	envoyBinary(t)
	for name, edits := range map[string][]string{"closed": nil,
		"open": {"failure_mode_allow: false", "failure_mode_allow: true"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, smallWorld, lingering(), "limits.ttft_timeout=1h", "limits.idle_timeout=1h")
			e := newRealEnvoy(t, w, edits...)
			for proto, client := range clientsOf(t) {
				_, lines := e.begun(t.Context(), client)
				e.end()
				if rest, err := io.ReadAll(lines); err == nil {
					t.Errorf("%s: the stream ends as one that is whole: %s", proto, rest)
				}
				e.back("the picker is gone")
				e.refusesWithoutPicker(client)
				e.end = pickerAt(t, w, listens(t, e.picker), false, nil)
				eventually(t, "it is asked again", func() bool {
					resp, _, err := e.post(client, strings.Replace(pickedChat, "8", "1", 1))
					return err == nil && resp.StatusCode == 200
				})
			}
			e.back("all")
		})
	}
}

// refusesWithoutPicker asks for an answer and, without a body, for what an engine has: neither may come.
func (e *realEnvoy) refusesWithoutPicker(client *http.Client) {
	e.t.Helper()
	at := strings.TrimPrefix(e.w.Engines["debug-0"].URL, "http://")
	refused := func(resp *http.Response, text string, err error) {
		e.t.Helper()
		var said errorBody
		if err != nil || json.Unmarshal([]byte(text), &said) != nil || said.RequestID == "" ||
			(resp.StatusCode != 500 || said.Error.Code != "internal_error") &&
				(resp.StatusCode != 503 || said.Error.Code != "no_healthy_replica") {
			e.t.Errorf("%v, %v: %s", resp, err, text)
		}
	}
	resp, text, err := e.post(client, pickedChat, "X-Gateway-Destination-Endpoint", at)
	refused(resp, text, err)
	r, err := http.NewRequestWithContext(e.t.Context(), "GET", "http://"+e.at+"/v1/models", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("X-Gateway-Destination-Endpoint", at)
	if resp, err = client.Do(r); err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	whole, err := io.ReadAll(resp.Body)
	refused(resp, string(whole), err)
}

// Over Envoy itself, what Envoy tries again goes to the same endpoint, and is one attempt.
func TestARealEnvoyThatTriesAgainKeepsTheEndpoint(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, smallEngines())
	e := newRealEnvoy(t, w, "timeout: 0s}", "timeout: 0s, retry_policy: {retry_on: \"5xx,reset\", num_retries: 2}}")
	at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
	for proto, client := range clientsOf(t) {
		for _, fault := range []string{`{"kind":"status","k":503,"times":2}`,
			`{"kind":"die_before_headers","times":2}`} {
			w.Fault("debug-0", fault)
			resp, text, err := e.post(client, pickedChat, "X-Gateway-Destination-Endpoint-Subset", at)
			if err != nil || resp.StatusCode != 200 || resp.Header.Get("X-Attempts") != "1" {
				t.Errorf("%s, %s: %d, %v: %s", proto, fault, resp.StatusCode, err, text)
			}
			e.back(fault)
		}
	}
}

// Over Envoy itself, a client that takes nothing of a long answer has Envoy hold its engine back. The answer is given
// up, and no replica is blamed.
func TestARealEnvoysClientThatTakesNothingBlamesNoReplica(t *testing.T) {
	envoyBinary(t)
	engines := roomyEngines()
	for i := range engines {
		engines[i].Step = -1
	}
	w := newWorld(t, roomyWorld, engines, "limits.idle_timeout=1s", "fleet.breaker.failures=1",
		"fleet.breaker.open_for=1h", "fleet.probe_interval=1h")
	const bound = "per_connection_buffer_limit_bytes: 32768\n      "
	e := newRealEnvoy(t, w, "filter_chains:", bound+"filter_chains:",
		"original_dst_lb_config:", bound+"original_dst_lb_config:")
	e.askRaw(`{"model":"debug","max_tokens":100000,"stream":true,"messages":[{"role":"user","content":"why"}]}`)
	e.holds(1)
	e.back("nothing is taken")
	for name, rep := range w.Replicas() {
		if rep.Fleet.State() != "closed" {
			t.Errorf("the breaker of %s is %s", name, rep.Fleet.State())
		}
	}
}
