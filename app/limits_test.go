package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/gateway/apierr"
)

// Every limit's refusal is typed, and says what the limit is.
func TestEveryLimitRefusesByItsName(t *testing.T) {
	long := strings.Repeat("x", 4<<10)
	chat := func(content string) string {
		return `{"model":"systems","max_tokens":4,"messages":[{"role":"user","content":"` + content + `"}]}`
	}
	for _, c := range []struct {
		limit, path, body string
		fault             string
		status            int
		code              apierr.Code
		param, says       string
		headers           []string
	}{
		{"limits.body_bytes=4KiB", "", chat(long), "", 413, apierr.PayloadTooLarge, "", "limits.body_bytes, 4096",
			nil},
		{"limits.header_bytes=2KiB", "", chat("x"), "", 431, apierr.HeaderTooLarge, "",
			"limits.header_bytes is 2048", []string{"X-Filler", long}},
		{"limits.header_bytes=2KiB", "?" + long, chat("x"), "", 431, apierr.HeaderTooLarge, "",
			"limits.header_bytes is 2048", nil},
		{"limits.json_depth=8", "", strings.Replace(chat("x"), "{", `{"x":[[[[[[[[1]]]]]]]],`, 1), "", 400,
			apierr.JSONTooDeep, "", "too deep", nil},
		{"limits.messages=2", "",
			`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"c"}]}`,
			"",
			400, apierr.InvalidValue, "messages", "more than 2 messages", nil},
		{"limits.queue_bytes=1KiB", "", chat(long), "", 503, apierr.Overloaded, "", "limits.queue_bytes is 1024",
			nil},
		{"limits.response_bytes=1KiB", "", chat("x"), `{"kind":"flood"}`, 502, apierr.UpstreamProtocolError, "",
			"could not be understood", nil},
		{"limits.event_bytes=1KiB", "", streamed(chat("x")), `{"kind":"flood"}`, 502, apierr.UpstreamProtocolError,
			"", "could not be understood", nil},
		{"limits.ttft_timeout=100ms", "", streamed(chat("x")), `{"kind":"hang"}`, 504, apierr.UpstreamTimeout, "",
			"in time", nil},
		{"limits.answer_timeout=100ms", "", chat("x"), `{"kind":"hang"}`, 504, apierr.UpstreamTimeout, "",
			"in time", nil},
	} {
		t.Run(c.limit, func(t *testing.T) {
			w := newWorld(t, smallWorld, smallEngines(), c.limit)
			if c.fault != "" {
				w.Fault("systems-0", c.fault)
			}
			resp, answer := w.Post("/v1/chat/completions"+c.path, c.body, append(c.headers, "X-Request-Id", "limit")...)
			checkError(t, resp, answer, c.status, c.code, c.param)
			if !strings.Contains(string(answer), c.says) {
				t.Errorf("no %q in %s", c.says, answer)
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// Bodies count while their requests wait, and while a stream could go on elsewhere; then no more.
func TestQueueBytesAreGivenBack(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.queue_bytes=8KiB")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1}`)
	body := `{"model":"systems","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"` +
		strings.Repeat("x", 5<<10) + `"}]}`
	first := w.Ask(t.Context(), "/v1/chat/completions", body)
	resp, answer := w.Post("/v1/chat/completions", body)
	checkError(t, resp, answer, 503, apierr.Overloaded, "")
	first.Body.Close()
	eventually(t, "its bytes are given back", func() bool { // which is after its place at the Gate
		resp, _ := w.Post("/v1/chat/completions", body)
		return resp.StatusCode == 200
	})
	for range 5 { // what was refused, and what has ended, counts no more
		if resp, answer := w.Post("/v1/chat/completions", body); resp.StatusCode != 200 {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
	}
}

func TestOneTenantsStreamsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		sets    []string
		headers []string
	}{
		"a tenant":  {tenants("auth.tenants[0].max_streams=1"), []string{"Authorization", "Bearer " + key}},
		"anonymous": {[]string{"auth.anonymous_limits.max_streams=1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, smallWorld, smallEngines(), c.sets...)
			w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1}`)
			first := w.Ask(t.Context(), "/v1/chat/completions", streamed(systems), c.headers...)
			resp, answer := w.Post("/v1/chat/completions", hello, c.headers...)
			checkError(t, resp, answer, 429, apierr.QuotaExceeded, "")
			if !strings.Contains(string(answer), "max_streams") {
				t.Errorf("no max_streams in %s", answer)
			}
			first.Body.Close()
			eventually(t, "the stream is given back", func() bool {
				resp, _ := w.Post("/v1/chat/completions", hello, c.headers...)
				return resp.StatusCode == 200
			})
		})
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	for _, most := range []int{1, 2, 3} {
		w := newWorld(t, smallWorld, smallEngines(), fmt.Sprint("limits.max_attempts=", most), "limits.retry_budget=1",
			"fleet.breaker.failures=1000", "fleet.probe_interval=1h")
		for _, name := range []string{"debug-0", "debug-1"} {
			w.Fault(name, `{"kind":"die_before_headers","times":0}`)
		}
		resp, answer := w.Post("/v1/chat/completions", hello)
		checkError(t, resp, answer, 502, apierr.UpstreamReset, "")
		var receipt struct{ Attempts []any }
		eventually(t, "the receipt",
			func() bool { return w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), &receipt) == 200 })
		if len(receipt.Attempts) != min(most, 2) { // there are two replicas
			t.Errorf("%d attempts, where limits.max_attempts is %d", len(receipt.Attempts), most)
		}
	}
}

// Of receipts and idempotency keys the oldest are forgotten.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.receipts=2", "limits.idempotency_keys=2")
	var ids []string
	for i := range 3 {
		resp, answer := w.Post("/v1/chat/completions", hello, "Idempotency-Key", fmt.Sprint(i))
		if resp.StatusCode != 200 {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		ids = append(ids, resp.Header.Get("X-Receipt-Id"))
	}
	for i, want := range []int{404, 200, 200} {
		eventually(t, "the receipt", func() bool { return w.Get(w.Data+"/v1/receipts/"+ids[i], nil) == want })
	}
	resp, answer := w.Post("/v1/chat/completions", systems, "Idempotency-Key", "2")
	checkError(t, resp, answer, 409, apierr.IdempotencyConflict, "Idempotency-Key")
	if resp, answer = w.Post("/v1/chat/completions", systems, "Idempotency-Key", "0"); resp.StatusCode != 200 {
		t.Errorf("a key that was forgotten: status %d: %s", resp.StatusCode, answer)
	}
}

// dial opens a connection of a client that minds no protocol.
func (w *world) dial() net.Conn { return w.dialAt(w.Data) }

// dialAdmin is dial for the operators' listener.
func (w *world) dialAdmin() net.Conn { return w.dialAt(w.Admin) }

func (w *world) dialAt(url string) net.Conn {
	w.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// A client that is slow with a head, with a small body, or that keeps a connection for nothing, loses it.
func TestWhoIsSlowLosesTheConnection(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.header_timeout=150ms", "limits.keepalive_timeout=150ms",
		"limits.body_timeout=150ms")
	for name, sent := range map[string]string{
		"half a head": "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"idle":        "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n",
		"outcome": "POST /v1/outcomes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
			"50\r\n\r\n{",
	} {
		conn := w.dial()
		fmt.Fprint(conn, sent)
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "outcome" && !strings.Contains(string(answer), string(apierr.RequestTimeout)) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// The time for one answer's writes is not the next one's on the same connection.
func TestAWriteTimeoutIsOfOneAnswer(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.write_timeout=100ms")
	conn := w.dial()
	answers := bufio.NewReader(conn)
	for _, body := range []string{hello, `{"model":"none"}`, streamed(hello), `{`, hello} {
		fmt.Fprintf(
			conn,
			"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+
				"%d\r\n\r\n%s", len(body), body)
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond) // real time: a slow handler
	}
	w.Fault("systems-0", `{"kind":"hang"}`)
	fmt.Fprintf(
		conn,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Deadline-Ms: "+
			"300\r\nContent-Length: %d\r\n\r\n%s", len(systems), systems)
	if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 504 {
		t.Errorf("an error later than a write may take: %v %v", resp, err)
	}
}

// A crowd of one tenant's keys has no other's forgotten.
func TestIdempotencyKeysAreForgottenByTenant(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "auth.tenants[0].name=acme", "auth.tenants[0].key_sha256="+keySHA,
		"limits.idempotency_keys=2")
	auth := []string{"Authorization", "Bearer " + key, "Idempotency-Key", "theirs"}
	w.Post("/v1/chat/completions", hello, auth...)
	for i := range 5 {
		w.Post("/v1/chat/completions", hello, "Idempotency-Key", fmt.Sprint(i))
	}
	resp, answer := w.Post("/v1/chat/completions", systems, auth...)
	checkError(t, resp, answer, 409, apierr.IdempotencyConflict, "Idempotency-Key")
}
