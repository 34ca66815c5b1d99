package app_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/internal/redistest"
	"octet/routing/events"
	"octet/routing/events/redisstream"
)

// goesTo posts the same prompt n times and fails unless every answer is from that replica.
func (w *world) goesTo(replica, body string, n int) {
	w.T.Helper()
	for range n {
		resp, answer := w.Post("/v1/chat/completions", body)
		if got := resp.Header.Get("X-Replica"); resp.StatusCode != 200 || got != w.Replica(replica).Opaque {
			w.T.Fatalf("status %d from %s, want it from %s (%s): %s", resp.StatusCode, got, replica,
				w.Replica(replica).Opaque, answer)
		}
	}
}

// A replica whose engine publishes Shutdown over a transport gets no request from then on, though it has the prompt's
// blocks, answers and has good probes; until its next life is heard of, or an operator undrains it. MOD2-45
func TestAShutdownEventSendsTheNextRequestElsewhere(t *testing.T) {
	server := redistest.Start(t)
	p := redisAs(t, redisstream.Config{Addr: server.Addr})
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(p, p), "events.redis.addr="+server.Addr,
		"fleet.shutdown_hold=1h", "events.bind_for=0s")
	body := lengthy("a use after free")
	first, _ := w.Post("/v1/chat/completions", body)
	w.exact()
	gone, other := "debug-0", "debug-1"
	if first.Header.Get("X-Replica") != w.Replica(gone).Opaque {
		gone, other = other, gone
	}
	w.goesTo(gone, body, 2)
	w.exact()
	say := func(epoch, seq uint64, kind events.Kind) {
		t.Helper()
		b := events.Batch{Replica: gone, Epoch: epoch, Seq: seq, At: time.Now(), Events: []events.Event{{Kind: kind}}}
		if err := p.Publish(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	withdrawn := func(want bool) func() bool {
		return func() bool { return w.Replica(gone).Fleet.Withdrawn() == want }
	}
	at := w.App.Fabric().Index().Host(w.Replica(gone).Host)
	say(at.Epoch, at.LastSeq+1, events.Shutdown)
	eventually(t, "the event is here", withdrawn(true))
	w.goesTo(other, body, 5)
	if m := w.Metrics(); !strings.Contains(m, `octet_replica_withdrawn{replica="`+gone+`",specialist="debug"} 1`) ||
		!strings.Contains(m, `octet_replica_healthy{replica="`+gone+`",specialist="debug"} 1`) {
		t.Error("the metrics do not say that it is withdrawn, and healthy")
	}
	say(at.Epoch+1, 1, events.Cleared)
	eventually(t, "its next life has begun", withdrawn(false))

	say(at.Epoch+1, 2, events.Shutdown)
	eventually(t, "the event is here", withdrawn(true))
	if status := w.undrain(t.Context(), gone); status != 200 || !withdrawn(false)() {
		t.Errorf("undrained with status %d, it is withdrawn: %t", status, !withdrawn(false)())
	}
	for _, name := range []string{gone, other} { // and where all have announced their ends there is none to go to
		life := w.App.Fabric().Index().Host(w.Replica(name).Host).Epoch // 0 once the slot of one that is gone is swept
		w.App.Fabric().Feed().Deliver(events.Batch{Replica: name, Epoch: max(life, at.Epoch) + 9, Seq: 1,
			Events: []events.Event{{Kind: events.Shutdown}}})
	}
	if resp, answer := w.Post("/v1/chat/completions", body); resp.StatusCode != 503 ||
		!bytes.Contains(answer, []byte("no_healthy_replica")) {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
}

// undrain ends a drain as an operator does, and returns the status.
func (w *world) undrain(ctx context.Context, replica string) int {
	w.T.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.Admin+"/admin/drain/"+replica, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// excludeAfter reloads the configuration with another events.exclude_after.
func (w *world) excludeAfter(d time.Duration) {
	w.T.Helper()
	cfg := *w.App.Config()
	cfg.Events.ExcludeAfter = d
	if err := w.App.Apply(w.T.Context(), &cfg); err != nil {
		w.T.Fatal(err)
	}
}

// A replica whose own event socket is lost gets no new requests where events.exclude_after says so, whatever its probes
// say; without the key probes alone decide. MOD2-45
func TestAReplicaWhoseEventsStopIsExcludedWhereThatIsWanted(t *testing.T) {
	for _, after := range []string{"100ms", "0s"} {
		t.Run(after, func(t *testing.T) {
			a, keysA := zmqEngine(t)
			b, keysB := zmqEngine(t)
			w := newWiredWorld(t, fmt.Sprintf(pair, keysA, keysB), pairOf(a, b), "events.exclude_after="+after)
			body := lengthy("a lost wakeup")
			first, _ := w.Post("/v1/chat/completions", body)
			w.exact()
			lost, other, socket := "debug-0", "debug-1", a
			if first.Header.Get("X-Replica") != w.Replica(lost).Opaque {
				lost, other, socket = other, lost, b
			}
			if err := socket.Close(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "its source is lost", func() bool {
				return !w.App.Fabric().SourceStats()["zmq/"+lost].Connected
			})
			if after == "0s" { // until a reload says otherwise
				w.goesTo(lost, body, 3)
				w.excludeAfter(100 * time.Millisecond)
				eventually(t, "it is excluded by the reload", w.Replica(lost).Fleet.Withdrawn)
				w.excludeAfter(0)
				eventually(t, "it is back by the reload", func() bool { return !w.Replica(lost).Fleet.Withdrawn() })
				w.goesTo(lost, body, 3)
				return
			}
			eventually(t, "it is excluded", w.Replica(lost).Fleet.Withdrawn)
			w.goesTo(other, body, 3)
			if !w.Replica(lost).Fleet.Healthy() {
				t.Error("its probes are good, and it is unhealthy")
			}
		})
	}
}
