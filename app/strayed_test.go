package app_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"octet/engine/emulator"
)

// thought is the reasoning in a message, as it is sent to an engine that is to continue it.
var thought = regexp.MustCompile(`"content":"([^"]*)","reasoning_content":"[^"]*","reasoning":"[^"]*"`)

// templated returns a server in front of an engine of w that changes what a request says of reasoning, as a model's
// template may.
func templated(t *testing.T, w *atomic.Pointer[world], engine, instead string) string {
	quiet := log.New(io.Discard, "", 0)
	proxy := httputil.ReverseProxy{FlushInterval: -1, ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(w.Load().Engines[engine].URL)
		if err != nil {
			t.Error(err)
		}
		r.SetURL(to)
		body, _ := io.ReadAll(r.In.Body)
		body = thought.ReplaceAll(body, []byte(instead))
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.Load() == nil {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A model whose template does not show reasoning where it would be continued, or ends it there, is found out by its
// prompt: what it says is not given to the client, which gets one typed error. After that its engine is asked no more.
func TestReasoningIsNotContinuedByAModelThatDoesNotSeeIt(t *testing.T) {
	for name, instead := range map[string]string{"dropped": `"content":"$1"`,
		"ended": `"content":"\n$1","reasoning_content":"Let me think. "`} {
		t.Run(name, func(t *testing.T) {
			var behind atomic.Pointer[world]
			w := newWorld(t, smallWorld, toolEngines(100*time.Microsecond), "limits.retry_budget=1",
				"fleet.breaker.failures=1000",
				"specialists[0].replicas[0].url="+templated(t, &behind, "debug-0", instead),
				"specialists[0].replicas[1].url="+templated(t, &behind, "debug-1", instead),
				"specialists[0].replicas[0].engine=vllm", "specialists[0].replicas[1].engine=vllm")
			behind.Store(w)
			for _, name := range []string{"debug-0", "debug-1"} {
				eventually(t, "the replicas are healthy", func() bool { return w.Replica(name).Fleet.Healthy() })
			}
			const i = 2
			body := toldAt(chatPath, "debug", i)
			_, whole := w.Post(chatPath, body, "X-Request-Id", "cut")
			_, all := beyond(t, string(whole), false)
			continued := 0
			for k := 6; k < all; k += 5 {
				w.diesOnce(body, emulator.DieAfterTokens, k)
				resp, got := w.Post(chatPath, body, "X-Request-Id", "cut")
				brokeOff(t, fmt.Sprintf("after %d of %d", k, all), string(whole), string(got))
				r := w.receiptOf(resp.Header)
				continued += r.Result.Continued
				if r.Result.Done || r.Result.CompletionTokens > k {
					t.Errorf("after %d: %+v", k, r.Result)
				}
			}
			if continued < 1 || continued > 2 {
				t.Errorf("%d times an engine was asked to go on, of two replicas", continued)
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}
