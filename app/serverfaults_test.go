package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// trial is a request to an engine that has a fault, by a client that leaves after a time, if that is not zero.
type trial struct {
	name, fault, body string
	leaves            time.Duration
	headers           []string
	status            int
	server            bool // it fails for a server's fault
}

const (
	inOnePiece = `{"model":"debug","max_tokens":20,"messages":[{"role":"user","content":"x"}]}`
	asAStream  = `{"model":"debug","max_tokens":60,"stream":true,"messages":[{"role":"user","content":"x"}]}`
)

// holdsFaults makes the trials in turn, and holds the counts of server's faults and of statuses to what came of them.
func holdsFaults(t *testing.T, trials []trial) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Step: 10 * time.Millisecond}})
		b.Serve(deadlineWorld)
		time.Sleep(2 * time.Second)
		count := func(name string, labels ...string) float64 {
			return b.Metric("http://admin", name, append(labels, `specialist="debug"`)...)
		}
		for _, a := range trials {
			status := fmt.Sprintf("status=\"%d\"", a.status)
			faults, ended := count("octet_server_faults_total"), count("octet_requests_total", status)
			if a.fault != "" {
				b.setFault(http.MethodPost, a.fault)
			}
			if got := b.declared(a.body, a.leaves, a.headers...); got != a.status {
				t.Errorf("%s: status %d, want %d", a.name, got, a.status)
			}
			time.Sleep(time.Second) // a client that left is noticed
			want := map[bool]float64{true: 1}[a.server]
			if got := count("octet_server_faults_total") - faults; got != want {
				t.Errorf("%s: %v server's faults, want %v", a.name, got, want)
			}
			if got := count("octet_requests_total", status) - ended; got != 1 {
				t.Errorf("%s: %v requests of that status", a.name, got)
			}
			b.setFault(http.MethodDelete, "")
			time.Sleep(time.Minute) // the replica's breaker
		}
	})
}

// setFault sets a fault of the only engine, or takes it away.
func (b *bubble) setFault(method, fault string) {
	b.T.Helper()
	resp, err := b.Ask(b.T.Context(), method, "http://debug-0/admin/faults", fault)
	if err != nil {
		b.T.Fatal(err)
	}
	_ = resp.Body.Close() // the status is all
}

// An answer that breaks off after its status for a server's fault is counted as one that fails with 5xx is. One that is
// whole, that is refused, or that ends by its client, is not.
func TestAnswersThatBreakOffAreServerFaults(t *testing.T) {
	holdsFaults(t, []trial{
		{name: "a whole stream", body: asAStream, status: 200},
		{name: "its engine dies", fault: dies, body: asAStream, status: 200, server: true},
		{name: "its engine falls silent", fault: silent, body: asAStream, status: 200, server: true},
		{name: "its engine says an error", fault: `{"kind":"error_event","k":3,"times":9}`, body: asAStream,
			status: 200, server: true},
		{name: "its engine dies at once", fault: `{"kind":"die_before_headers","times":9}`, body: inOnePiece,
			status: 502, server: true},
		{name: "its client leaves", body: asAStream, leaves: 300 * time.Millisecond, status: 200},
		{name: "its deadline passes", fault: silent, body: asAStream, headers: []string{"X-Deadline-Ms", "600"},
			status: 200},
		{name: "it is refused", body: strings.Replace(inOnePiece, "20", "2000", 1),
			headers: []string{"X-Deadline-Ms", "20"}, status: 429},
	})
}

const (
	dies   = `{"kind":"die_after_tokens","k":3,"times":9}`
	silent = `{"kind":"hang_after_tokens","k":3,"times":1}`
)

// A deadline that its client has set and that passes is no server's fault, though it ends in 504; an engine that is
// silent for longer than the gateway waits is one.
func TestDeadlinesOfClientsAreNoServerFaults(t *testing.T) {
	const hangs = `{"kind":"hang","times":1}`
	holdsFaults(t, []trial{
		{name: "before the answer", fault: hangs, body: inOnePiece, headers: []string{"X-Deadline-Ms", "600"},
			status: 504},
		{name: "before a stream", fault: hangs, body: asAStream, headers: []string{"X-Deadline-Ms", "600"},
			status: 504},
		{name: "before the first token", fault: hangs, body: asAStream, headers: []string{"X-TTFT-Deadline-Ms", "600"},
			status: 504},
		{name: "the gateway's own bound", fault: hangs, body: asAStream, headers: []string{"X-Deadline-Ms", "60000"},
			status: 504, server: true},
	})
}

// Before a specialist has been asked anything, its server's faults are told, and how many requests ended with a status
// of one: none.
func TestServerFaultsAreToldBeforeTheFirst(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	page := metricsOf(t, w)
	for _, specialist := range []string{"debug", "systems"} {
		want := []string{fmt.Sprintf("octet_server_faults_total{specialist=%q} 0", specialist)}
		for _, status := range []int{200, 500, 502, 503, 504} {
			want = append(want, fmt.Sprintf("octet_requests_total{specialist=%q,status=\"%d\"} 0", specialist, status))
		}
		for _, line := range want {
			if len(seriesOf(page, line)) != 1 {
				t.Errorf("no %s", line)
			}
		}
	}
}

// A client that does not read has its answer broken off for no fault of the server, and with no code: none says that.
// The receipt does.
func TestAClientThatDoesNotReadIsNoServerFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Step: 10 * time.Millisecond}})
		b.Serve(deadlineWorld, "limits.write_timeout=200ms", "specialists[0].context=100000")
		time.Sleep(2 * time.Second)
		resp, err := b.Ask(t.Context(), http.MethodPost, "http://data/v1/chat/completions",
			strings.Replace(asAStream, "60", "7000", 1), "X-Request-Id", strings.Repeat("x", 128))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(5 * time.Minute) // nothing is read
		failed := b.Metric("http://admin", "octet_errors_total")
		if n := b.Metric("http://admin", "octet_server_faults_total"); failed != 0 || n != 0 || !b.Quiet() {
			t.Errorf("%v answers failed, %v of them for a server's fault; all is over: %t", failed, n, b.Quiet())
		}
		r := b.Read("http://data/v1/receipts/" + resp.Header.Get("X-Receipt-Id"))
		if !strings.Contains(r, `"client_slow"`) || strings.Contains(r, `"internal_error"`) {
			t.Errorf("the receipt says %s", r)
		}
	})
}
