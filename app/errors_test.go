package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/gateway/apierr"
	"octet/internal/apptest"
)

// Every code of the contract's table that one request can provoke; the others have tests of their own: seen collects
// them.
func TestEveryRefusalIsTyped(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.body_bytes=64KiB", "limits.json_depth=16")
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	chat := func(members string) string { return `{"messages":[{"role":"user","content":"x"}]` + members + `}` }
	const path = "/v1/chat/completions"
	for _, c := range []struct {
		name, path, body string
		status           int
		code             apierr.Code
		param            string
		headers          []string
	}{
		{"not json", path, `{"messages"`, 400, apierr.InvalidJSON, "", nil},
		{"trailing bytes", path, chat("") + "x", 400, apierr.InvalidJSON, "", nil},
		{"duplicate key", path, chat(`,"n":1,"n":1`), 400, apierr.DuplicateKey, "", nil},
		{"too deep", path, chat(`,"x":` + deep), 400, apierr.JSONTooDeep, "", nil},
		{"invalid utf-8", path, chat(",\"x\":\"\xff\""), 400, apierr.InvalidUTF8, "", nil},
		{"wrong case", path, chat(`,"Model":"debug"`), 400, apierr.InvalidRequest, "Model", nil},
		{"missing", path, `{"model":"debug"}`, 400, apierr.MissingParameter, "messages", nil},
		{"invalid value", path, chat(`,"temperature":"hot"`), 400, apierr.InvalidValue, "temperature", nil},
		{"unsupported", path, chat(`,"audio":{}`), 400, apierr.UnsupportedParameter, "audio", nil},
		{"picture", path, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`,
			400, apierr.UnsupportedContent, "messages[0].content[0]", nil},
		{"too long", path, chat(`,"model":"debug","max_tokens":5000`), 400, apierr.ContextLength, "max_tokens",
			nil},
		{"larger than the pool", path,
			`{"model":"systems","messages":[{"role":"user","content":"` + strings.Repeat("word ", 9000) + `"}]}`, 400,
			apierr.ExceedsPool, "", nil},
		{"bad priority", path, chat(""), 400, apierr.InvalidValue, "X-Priority", []string{"X-Priority", "101"}},
		{"bad deadline", path, chat(""), 400, apierr.InvalidValue, "X-Deadline-Ms",
			[]string{"X-Deadline-Ms", "soon"}},
		{"unknown intent", path, chat(""), 400, apierr.InvalidValue, "X-Intent", []string{"X-Intent", "poetry"}},
		{"long session", path, chat(""), 400, apierr.InvalidValue, "X-Session-Id",
			[]string{"X-Session-Id", strings.Repeat("s", 257)}},
		{"unknown model", path, chat(`,"model":"gpt"`), 404, apierr.ModelNotFound, "model", nil},
		{"unknown adapter", path, chat(`,"model":"debug"`), 404, apierr.ModelNotFound, "X-Adapter",
			[]string{"X-Adapter", "none"}},
		{"unknown path", "/v1/nothing", chat(""), 404, apierr.RouteNotFound, "", nil},
		{"unknown receipt", "/v1/outcomes", `{"receipt":"none","kind":"compile","pass":true}`, 404,
			apierr.ReceiptNotFound, "receipt", nil},
		{"wrong method", "/v1/models", chat(""), 405, apierr.MethodNotAllowed, "", nil},
		{"too large", path, chat(`,"x":"` + strings.Repeat("x", 70<<10) + `"`), 413, apierr.PayloadTooLarge, "",
			nil},
		{"not json by type", path, chat(""), 415, apierr.UnsupportedMediaType, "Content-Type",
			[]string{"Content-Type", "text/plain"}},
		{"header too large", path, chat(""), 431, apierr.HeaderTooLarge, "",
			[]string{"X-Filler", strings.Repeat("x", 40<<10)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, answer := w.Post(c.path, c.body, append(c.headers, "X-Request-Id", "err-1")...)
			checkError(t, resp, answer, c.status, c.code, c.param)
		})
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

func checkError(t testing.TB, resp *http.Response, answer []byte, status int, code apierr.Code, param string) {
	t.Helper()
	var e errorBody
	if err := json.Unmarshal(answer, &e); err != nil {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, answer)
	}
	got := ""
	if e.Error.Param != nil {
		got = *e.Error.Param
	}
	if resp.StatusCode != status || e.Error.Code != string(code) || got != param {
		t.Errorf("status %d, code %s, param %q; want %d, %s, %q: %s", resp.StatusCode, e.Error.Code, got, status, code,
			param, answer)
	}
	if e.Error.Message == "" || e.Error.Type == "" || e.RequestID == "" ||
		e.RequestID != resp.Header.Get("X-Request-Id") {
		t.Errorf("error object %s, X-Request-Id %q", answer, resp.Header.Get("X-Request-Id"))
	}
}

const key, keySHA = apptest.Key, apptest.KeySHA

func tenants(more string) []string {
	return []string{"auth.anonymous=false", `auth.tenants[0].name=acme`, "auth.tenants[0].key_sha256=" + keySHA,
		"auth.tenants[0].priority_max=5", more}
}

//nolint:lll // raw text that cannot be broken
func TestKeysDecideWhoMayDoWhat(t *testing.T) {
	auth := []string{"Authorization", "Bearer " + key}
	t.Run("no key", func(t *testing.T) {
		w := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].priority_policy=refuse")...)
		resp, answer := w.Post("/v1/chat/completions", hello)
		checkError(t, resp, answer, 401, apierr.InvalidAPIKey, "Authorization")
		resp, answer = w.Post("/v1/chat/completions", hello, append(auth, "X-Priority", "6")...)
		checkError(t, resp, answer, 403, apierr.PriorityNotAllowed, "X-Priority")
		if resp, answer = w.Post("/v1/chat/completions", hello, append(auth, "X-Priority", "5")...); resp.StatusCode != 200 {
			t.Errorf("status %d: %s", resp.StatusCode, answer)
		}
	})
	t.Run("a salt of its own", func(t *testing.T) {
		w := newWorld(t, smallWorld, smallEngines(),
			append(tenants("auth.tenants[0].cache_salt=pepper"), "auth.anonymous=true")...)
		body := chatOf(strings.Repeat("one prefix, two tenants; ", 40))
		w.Post("/v1/chat/completions", body)
		w.heard()
		for i, want := range []string{"0", "*"} {
			resp, answer := w.Post("/v1/chat/completions", body, auth...)
			delivered := between(string(answer), `"cached_tokens":`, "}")
			if resp.Header.Get("X-Cached-Tokens") != delivered || want == "0" && delivered != "0" || want == "*" &&
				delivered == "0" {
				t.Errorf("request %d: predicted %s, delivered %s, want %s", i, resp.Header.Get("X-Cached-Tokens"),
					delivered, want)
			}
			w.heard()
		}
	})
	t.Run("specialists", func(t *testing.T) {
		w := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].specialists[0]=systems")...)
		resp, answer := w.Post("/v1/chat/completions", hello, auth...)
		checkError(t, resp, answer, 403, apierr.PermissionDenied, "model")
		resp, answer = w.Post("/v1/chat/completions", hello, append([]string{"X-Adapter", "unheard-of"}, auth...)...)
		checkError(t, resp, answer, 403, apierr.PermissionDenied, "model")
	})
	t.Run("rate", func(t *testing.T) {
		w := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].rate.requests_per_second=1")...)
		w.Post("/v1/chat/completions", hello, auth...)
		resp, answer := w.Post("/v1/chat/completions", hello, auth...)
		checkError(t, resp, answer, 429, apierr.QuotaExceeded, "")
		if after := resp.Header.Get("Retry-After"); after != "1" && after != "2" { // it is jittered, and rounded up
			t.Errorf("Retry-After is %q", after)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		w := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].rate.tokens_per_minute=20")...)
		w.Post("/v1/chat/completions", hello, auth...)
		resp, answer := w.Post("/v1/chat/completions", hello, auth...)
		checkError(t, resp, answer, 429, apierr.QuotaExceeded, "")
	})
}

func TestAnIdempotencyKeyIsOneRequestAtATime(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1}`)
	long := `{"model":"systems","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.Ask(ctx, "/v1/chat/completions", long, "Idempotency-Key", "k1")
	resp, answer := w.Post("/v1/chat/completions", long, "Idempotency-Key", "k1")
	checkError(t, resp, answer, 409, apierr.IdempotencyConflict, "Idempotency-Key")
	leave()
	eventually(t, "ledgers at their baseline", w.Quiet)
	resp, answer = w.Post("/v1/chat/completions", hello, "Idempotency-Key", "k1")
	checkError(t, resp, answer, 409, apierr.IdempotencyConflict, "Idempotency-Key")
	eventually(t, "the same request again is answered", func() bool { // once the first one's exchange has ended
		resp, answer = w.Post("/v1/chat/completions", long, "Idempotency-Key", "k1")
		return resp.StatusCode == 200
	})
}

// MEGA-62
func TestAFullSchedulerRefusesHonestly(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "specialists[1].scheduler.max_running=1",
		"specialists[1].scheduler.max_waiting=1", "limits.max_queue_wait=300ms")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":0}`)
	body := `{"model":"systems","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.Ask(ctx, "/v1/chat/completions", body) // runs
	answers := make(chan apierr.Code, 2)
	for range 2 { // one waits until its time is up, one finds the queue full
		go func() {
			var e errorBody
			_, answer := w.Post("/v1/chat/completions", body)
			_ = json.Unmarshal(answer, &e)
			answers <- apierr.Code(e.Error.Code)
		}()
	}
	if a, b := <-answers, <-answers; a != apierr.QueueFull || b != apierr.QueueFull {
		t.Errorf("codes %s and %s", a, b)
	}
	resp, answer := w.Post("/v1/chat/completions", body, "X-Deadline-Ms", "50")
	checkError(t, resp, answer, 429, apierr.DeadlineUnachievable, "")
	leave()
	eventually(t, "ledgers at their baseline", w.Quiet)
}

func TestAPoolThatStaysFullIsSaidToBeFull(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.max_queue_wait=200ms")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":0}`)
	body := `{"model":"systems","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"` +
		strings.Repeat("word ", 6000) + `"}]}`
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.Ask(ctx, "/v1/chat/completions", strings.Replace(body, "word", "first", 1))
	resp, answer := w.Post("/v1/chat/completions", body)
	checkError(t, resp, answer, 429, apierr.KVExhausted, "")
	leave()
	eventually(t, "ledgers at their baseline", w.Quiet)
}

func TestAPriorityFloorThrottlesTheLow(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	put := func(method, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, w.Admin+"/admin/knobs/priority_floor.review",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if status := put("PUT", `{"value":3,"by":"night shift","why":"spike","for":"1m"}`); status != 200 {
		t.Fatalf("PUT is status %d", status)
	}
	resp, answer := w.Post("/v1/chat/completions", hello, "X-Intent", "review", "X-Priority", "2")
	checkError(t, resp, answer, 429, apierr.PriorityFloor, "")
	if status := put("DELETE", ""); status != 200 {
		t.Fatalf("DELETE is status %d", status)
	}
	if resp, answer = w.Post("/v1/chat/completions", hello, "X-Intent", "review"); resp.StatusCode != 200 {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
}

func TestASlowBodyIsARequestTimeout(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.body_timeout=100ms")
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.Data, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(
		conn,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
			"100\r\n\r\n{")
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	buf := make([]byte, 4096)
	n, _ := conn.Read(buf)
	if answer := string(buf[:n]); !strings.HasPrefix(answer, "HTTP/1.1 408") ||
		!strings.Contains(answer, string(apierr.RequestTimeout)) {
		t.Errorf("answer %q", answer)
	}
}

// GAIE-08
func TestNoReplicaLeftSaysWhy(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.Engines["systems-0"].Kill()
	body := strings.Replace(hello, "debug", "systems", 1)
	seen := []string{}
	eventually(t, "no_healthy_replica", func() bool {
		var e errorBody
		_, answer := w.Post("/v1/chat/completions", body)
		_ = json.Unmarshal(answer, &e)
		if !slices.Contains(seen, e.Error.Code) {
			seen = append(seen, e.Error.Code)
		}
		return e.Error.Code == string(apierr.NoHealthyReplica) && strings.Contains(e.Error.Message, "health")
	})
	for _, code := range seen {
		if !slices.Contains([]string{"upstream_reset", "no_healthy_replica", "breaker_open"}, code) {
			t.Errorf("seen %v", seen)
		}
	}
}

func TestABreakerThatOpensSaysSo(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.open_for=1m")
	w.Fault("systems-0", `{"kind":"die_before_headers","times":0}`)
	body := strings.Replace(hello, "debug", "systems", 1)
	eventually(t, "breaker_open", func() bool {
		resp, answer := w.Post("/v1/chat/completions", body)
		return resp.StatusCode == 503 && strings.Contains(string(answer), string(apierr.BreakerOpen))
	})
}

func TestMoreOpenRequestsThanTheLimitAreOverload(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.max_streams=1", "limits.idle_timeout=1m")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1}`)
	w.Ask(t.Context(), "/v1/chat/completions", streamed(strings.Replace(hello, "debug", "systems", 1)))
	resp, answer := w.Post("/v1/chat/completions", hello)
	checkError(t, resp, answer, 503, apierr.Overloaded, "")
}

// GAIE-44
//
//nolint:lll // raw text that cannot be broken
func TestMetricsSayWhatWasBuilt(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	if all := metricsOf(t, w); !strings.Contains(all, `octet_build_info{build_ref="unknown",commit="unknown",version="dev"} 1`) {
		t.Errorf("no build info in\n%s", all)
	}
}

// MEGA-21, MEGA-27, MEGA-29: every replica has a Gate of its own and nothing is shared above them, so that one
// specialist's overload leaves another's admission alone.
func TestOneSpecialistsOverloadIsNobodyElses(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "specialists[1].scheduler.max_running=1",
		"specialists[1].scheduler.max_waiting=50")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":0}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range 20 {
		go func() {
			req, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
				strings.NewReader(streamed(strings.Replace(hello, "debug", "systems", 1))))
			req.Header.Set("Content-Type", "application/json")
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		}()
	}
	gate := w.App.Server().Runtime().Replicas[w.Replica("systems-0").Host].Gate
	eventually(t, "systems is overloaded", func() bool { return gate.Stats().Waiting > 10 })
	if resp, answer := w.Post("/v1/chat/completions", hello); resp.StatusCode != 200 ||
		resp.Header.Get("X-Queue-Ms") != "0" {
		t.Errorf("debug: status %d after %s ms in the queue: %s", resp.StatusCode, resp.Header.Get("X-Queue-Ms"),
			answer)
	}
}
