package app_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"octet/engine/emulator"
)

// A prefill gives way to a more urgent request like any request that has answered nothing yet, and begins again.
func TestAPrefillGivesWayAndBeginsAgain(t *testing.T) {
	solo := regexp.MustCompile(`(?m)^.*name: p-1.*\n`).ReplaceAllString(halves, "")
	engines := halvesEngines()
	w := newWorld(t, solo, append(engines[:1:1], engines[2:]...), "specialists[0].scheduler.max_running=1",
		"limits.ttft_timeout=10s", "limits.max_queue_wait=10s")
	want, _ := w.says("unary", long("alone", "low", ""))
	w.Fault("p-0", `{"kind":"hang"}`)
	said := make(chan string, 1)
	var resp *http.Response
	go func() {
		var text string
		text, resp = w.says("streamed", long("debug", "low", ""))
		said <- text
	}()
	eventually(t, "the prefill runs", func() bool { return w.running("p-0") == 1 && w.armed("p-0") == 0 })
	urgent, _ := w.says("unary", long("alone", "urgent", ""))
	if got, _ := w.says("unary", long("debug", "urgent", ""), "X-Priority", "5"); got != urgent {
		t.Errorf("urgent: %q, alone %q", got, urgent)
	}
	if got := <-said; got != want {
		t.Errorf("preempted: %q, alone %q", got, want)
	}
	if r := w.receipt(resp); r.Result.Preempted == 0 || attempts(r) != "prefill:p-0=ok, decode:d-0=ok" {
		t.Errorf("preempted %d times, attempts %s", r.Result.Preempted, attempts(r))
	}
	w.baseline()
}

// A stream of two replicas that gives way after its first token goes on from its text, on the replica that answers,
// alone.
func TestADisaggregatedStreamGivesWayAndGoesOn(t *testing.T) {
	solo := regexp.MustCompile(`(?m)^.*name: [pd]-1.*\n`).ReplaceAllString(halves, "")
	engines := halvesEngines()
	engines[2].Step = 20 * time.Millisecond // it still decodes when the prompt of the urgent one is computed
	w := newWorld(t, solo, []emulator.Config{engines[0], engines[2], engines[4]},
		"specialists[0].scheduler.max_running=1", "limits.max_queue_wait=30s", "limits.idle_timeout=30s",
		"limits.answer_timeout=60s")
	want, _ := w.says("unary", long("alone", "low", ""))
	urgent, _ := w.says("unary", long("alone", "urgent", ""))
	w.Fault("d-0", `{"kind":"slow"}`)
	said := make(chan string, 1)
	var resp *http.Response
	go func() {
		var text string
		text, resp = w.says("streamed", long("debug", "low", ""))
		said <- text
	}()
	eventually(t, "it decodes", func() bool { return w.running("d-0") == 1 && w.running("p-0") == 0 })
	if got, _ := w.says("unary", long("debug", "urgent", ""), "X-Priority", "5"); got != urgent {
		t.Errorf("urgent: %q, alone %q", got, urgent)
	}
	if got := <-said; got != want {
		t.Errorf("preempted: %q, alone %q", got, want)
	}
	if r := w.receipt(resp); r.Result.Preempted == 0 || attempts(r) != "prefill:p-0=ok, decode:d-0=ok" {
		t.Errorf("preempted %d times, attempts %s", r.Result.Preempted, attempts(r))
	}
	w.baseline()
}
