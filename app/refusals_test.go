package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octet/gateway/apierr"
)

// refuser is an engine that refuses requests that hold its word, by a status or by an error object as the first event
// of a stream.
type refuser struct {
	status atomic.Int32 // 0 refuses nothing
	event  atomic.Bool
	health atomic.Int32 // of probes; 0 is 200
	words  string       // of health
}

//nolint:lll // raw text that cannot be broken
func (m *refuser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	status := int(m.status.Load())
	switch refused := status != 0 && strings.Contains(string(body), "bad"); {
	case r.Method == http.MethodGet:
		if h := int(m.health.Load()); h != 0 {
			w.WriteHeader(h)
			_, _ = io.WriteString(w, m.words)
		}
	case refused && m.event.Load() && strings.Contains(string(body), `"stream":true`):
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"error\":{\"message\":\"no\",\"type\":\"T\",\"code\":%d}}\n\ndata: [DONE]\n\n", status)
	case refused:
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":"no","type":"T","code":%d}}`, status)
	case strings.Contains(string(body), `"stream":true`):
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(
			w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"yes\"}}]}\n\n"+
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	default:
		_, _ = io.WriteString(
			w,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	}
}

// newRefusingWorld has a specialist of so many such engines, and another of one.
func newRefusingWorld(t *testing.T, n int, sets ...string) (*world, []*refuser) {
	var all []*refuser
	var urls []string
	for range n + 1 {
		m := new(refuser)
		engine := httptest.NewServer(m)
		t.Cleanup(engine.Close)
		all, urls = append(all, m), append(urls, fmt.Sprintf("{url: %q, engine: openai, blocks: 512}", engine.URL))
	}
	return newWorld(t, fmt.Sprintf(`
auth: {anonymous: true}
fleet: {probe_interval: 50ms, breaker: {failures: 5, open_for: 10s}}
specialists:
  - {name: debug, replicas: [%s]}
  - {name: systems, replicas: [%s]}
`, strings.Join(urls[:n], ", "), urls[n]), nil, sets...), all
}

func (w *world) breakers() (states string) {
	for _, r := range w.Replicas() {
		states += r.Fleet.State() + " "
	}
	return states
}

const bad = `{"model":"debug","messages":[{"role":"user","content":"bad %d"}]}`

// A refusal before a byte of the answer is another replica's turn, whether it comes as a status or as the first event.
func TestAnEnginesRefusalIsAnotherReplicasTurn(t *testing.T) {
	w, engines := newRefusingWorld(t, 2, "limits.retry_burst=100", "fleet.breaker.failures=1000")
	for _, event := range []bool{false, true} {
		for _, status := range []int32{429, 500, 503} {
			engines[0].status.Store(status)
			engines[0].event.Store(event)
			for i := range 10 {
				for _, body := range []string{fmt.Sprintf(bad, i), streamed(fmt.Sprintf(bad, i))} {
					resp, answer := w.Post("/v1/chat/completions", body)
					if resp.StatusCode != 200 || !strings.Contains(string(answer), "yes") {
						t.Fatalf("%d, as an event %v: status %d: %s", status, event, resp.StatusCode, answer)
					}
				}
			}
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// What all engines refuse is typed, says when to come back where they are busy, and is held against none of them.
func TestARefusalOfAllEnginesIsTypedAndBlamesNone(t *testing.T) {
	w, engines := newRefusingWorld(t, 2, "limits.retry_burst=1000")
	for _, event := range []bool{false, true} {
		for _, c := range []struct {
			status int32
			want   int
			code   apierr.Code
			after  bool
		}{
			{429, 429, apierr.QueueFull, true}, {503, 503, apierr.Overloaded, true},
			{500, 502, apierr.UpstreamReset, false},
			{400, 400, apierr.InvalidRequest, false}, {422, 400, apierr.InvalidRequest, false},
			{413, 413, apierr.PayloadTooLarge, false},
		} {
			for _, e := range engines[:2] {
				e.status.Store(c.status)
				e.event.Store(event)
			}
			for i := range 12 {
				resp, answer := w.Post("/v1/chat/completions", streamed(fmt.Sprintf(bad, i)))
				if after := resp.Header.Get("Retry-After"); (after != "") != c.after ||
					strings.Contains(string(answer), "lost") {
					t.Errorf("%d: Retry-After %q: %s", c.status, after, answer)
				}
				checkError(t, resp, answer, c.want, c.code, "")
			}
			if states := w.breakers(); strings.Contains(states, "open") {
				t.Fatalf("after %d, as an event %v: the breakers are %s", c.status, event, states)
			}
			if resp, answer := w.Post("/v1/chat/completions", hello); resp.StatusCode != 200 {
				t.Fatalf("a bystander after %d: %s", c.status, answer)
			}
		}
	}
}

// Where no other replica can tell whose fault it is, one request that fails again and again says nothing of its
// replica, and different ones do.
func TestALoneReplicaIsJudgedByDifferentRequests(t *testing.T) {
	w, engines := newRefusingWorld(t, 1)
	engines[0].status.Store(500)
	for range 20 {
		w.Post("/v1/chat/completions", fmt.Sprintf(bad, 1))
	}
	if states := w.breakers(); strings.Contains(states, "open") {
		t.Errorf("one request opened a breaker: %s", states)
	}
	for i := range 4 {
		w.Post("/v1/chat/completions", fmt.Sprintf(bad, i+2))
		w.Post("/v1/chat/completions", strings.Replace(systems, "systems", "debug", 1))
	}
	if states := w.breakers(); strings.Contains(states, "open") {
		t.Errorf("failures with answers in between opened a breaker: %s", states)
	}
	for i := range 5 {
		w.Post("/v1/chat/completions", fmt.Sprintf(bad, i+10))
	}
	resp, answer := w.Post("/v1/chat/completions", fmt.Sprintf(bad, 1))
	checkError(t, resp, answer, 503, apierr.BreakerOpen, "")
	if after := resp.Header.Get("Retry-After"); after == "" || len(after) > 2 {
		t.Errorf("an open breaker says Retry-After %q", after)
	}
}

// The gateway is ready while it can serve something, or everything, and says by its probes when to come back.
func TestReadinessGoesByWhatCanBeServed(t *testing.T) {
	for _, when := range []string{"any", "all"} {
		w, engines := newRefusingWorld(t, 1, "fleet.ready_when="+when)
		ready := func() int { return w.Get(w.Data+"/readyz", nil) }
		is := func(what string, want int) { eventually(t, what, func() bool { return ready() == want }) }
		is("ready at first", 200)
		engines[0].health.Store(500)
		is("one specialist is down", map[string]int{"any": 200, "all": 503}[when])
		debug := w.Replica("debug-0").Fleet
		eventually(t, "debug is down", func() bool { return !debug.Healthy() })
		resp, answer := w.Post("/v1/chat/completions", hello)
		checkError(t, resp, answer, 503, apierr.NoHealthyReplica, "")
		if resp.Header.Get("Retry-After") != "1" {
			t.Errorf("no healthy replica: Retry-After %q", resp.Header.Get("Retry-After"))
		}
		engines[1].health.Store(500)
		is("all are down", 503)
		resp, answer = w.fetch("/readyz")
		if resp.Header.Get("Retry-After") == "" {
			t.Errorf("without Retry-After: %s", answer)
		}
		engines[0].health.Store(0)
		engines[1].health.Store(0)
		is("ready again", 200)
	}
}

func (w *world) fetch(path string) (*http.Response, []byte) {
	w.T.Helper()
	resp, err := http.Get(w.Data + path)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp, answer
}
