package app_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/slo"
)

// deadlineWorld is one specialist at 10 ms a token; an answer of 20 tokens takes over 200 ms.
const deadlineWorld = `
limits: {ttft_timeout: 10s, idle_timeout: 10s}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 1, max_waiting: 4}
    slo: {min_samples: 4}
    replicas: [{name: debug-0, url: "http://debug-0"}]
`

// declared sends a request with a deadline and reads its answer; its client leaves after a time, if that is not zero.
func (b *bubble) declared(body string, leaves time.Duration, headers ...string) (status int) {
	b.T.Helper()
	ctx, cancel := context.Background(), func() {}
	if leaves > 0 {
		ctx, cancel = context.WithTimeout(ctx, leaves)
	}
	defer cancel()
	resp, err := b.Ask(ctx, "POST", "http://data/v1/chat/completions", body, headers...)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body) // a stream that fails ends abnormally
	_ = resp.Body.Close()                 // it is read
	return resp.StatusCode
}

// deadlines returns what is published of the specialist's deadlines.
func (b *bubble) deadlines() (s slo.Share) {
	b.T.Helper()
	var report slo.Report
	if err := json.Unmarshal([]byte(b.Read("http://data/v1/slo/debug")), &report); err != nil {
		b.T.Fatal(err)
	}
	return report.Deadlines
}

// MEGA-54: deadline misses are published per specialist: in a header, in /v1/slo and as metrics. Missed is a deadline
// that passed before the whole answer, or the first token of a stream. What was refused, failed, or was left by its
// client before its deadline is neither met nor missed.
func TestDeadlineMissesArePublishedPerSpecialist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Step: 10 * time.Millisecond}})
		b.Serve(deadlineWorld)
		time.Sleep(2 * time.Second)
		const unary = `{"model":"debug","max_tokens":20,"messages":[{"role":"user","content":"x"}]}`
		// of several blocks, at whose ends the pace is measured
		const stream = `{"model":"debug","max_tokens":60,"stream":true,"messages":[{"role":"user","content":"x"}]}`
		fault := func(method, fault string) {
			resp, err := b.Ask(t.Context(), method, "http://debug-0/admin/faults", fault)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close() // the status is all
		}
		samples, missed := 0, 0.0
		holds := func(when string, status, want, more int, late float64) {
			t.Helper()
			samples, missed = samples+more, missed+late
			time.Sleep(time.Second) // a client that left is noticed, the head is made anew
			got := b.deadlines()
			if status != want || got.Samples != samples || samples < 4 && got.Fraction != nil ||
				samples >= 4 && (got.Fraction == nil || *got.Fraction != missed/float64(samples)) {
				t.Errorf("%s: status %d, and %d samples with share %v; want %d, and %v of %d missed", when, status,
					got.Samples, got.Fraction, want, missed, samples)
			}
		}
		for range 3 {
			holds("in time", b.declared(unary, 0, "X-Deadline-Ms", "5000"), 200, 1, 0)
		}
		holds("no deadline", b.declared(unary, 0), 200, 0, 0)
		holds("its first token in time", b.declared(stream, 0, "X-TTFT-Deadline-Ms", "5000"), 200, 1, 0)
		holds("in one piece there is no first token", b.declared(unary, 0, "X-TTFT-Deadline-Ms", "5000"), 200, 0, 0)
		holds("its client leaves before it", b.declared(stream, 50*time.Millisecond, "X-Deadline-Ms", "5000"),
			200, 0, 0)
		fault("POST", `{"kind":"hang_after_tokens","k":3,"times":1}`)
		holds("in the middle of a stream", b.declared(stream, 0, "X-Deadline-Ms", "600"), 200, 1, 1)
		fault("POST", `{"kind":"hang","times":1}`)
		holds("before the answer", b.declared(unary, 0, "X-Deadline-Ms", "600"), 504, 1, 1)
		fault("POST", `{"kind":"hang","times":1}`)
		holds("before the first token", b.declared(stream, 0, "X-TTFT-Deadline-Ms", "600"), 504, 1, 1)
		long := strings.Replace(unary, "20", "1500", 1)
		go b.declared(long, 0)
		time.Sleep(time.Second)
		holds("refused while another runs", b.declared(long, 0, "X-Deadline-Ms", "2000"), 429, 0, 0)
		time.Sleep(30 * time.Second)
		fault("POST", `{"kind":"die_after_tokens","k":3,"times":9}`)
		holds("its engine dies before it", b.declared(stream, 0, "X-Deadline-Ms", "60000"), 200, 0, 0)
		fault("DELETE", "")
		time.Sleep(time.Minute) // the replica's breaker
		resp, err := b.Ask(t.Context(), "POST", "http://data/v1/chat/completions", unary)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // the head is all
		if got := resp.Header.Get("X-SLO-Deadline-Missed"); got != "share=0.429, samples=7" {
			t.Errorf("the header is %q", got)
		}
		met := b.Metric("http://admin", "octet_deadlines_total", `result="met"`, `specialist="debug"`)
		late := b.Metric("http://admin", "octet_deadlines_total", `result="missed"`, `specialist="debug"`)
		share := b.Metric("http://admin", "octet_slo_deadline_missed", `specialist="debug"`)
		if met != 4 || late != 3 || share != 3.0/7 {
			t.Errorf("the metrics say %v met, %v missed, share %v", met, late, share)
		}
	})
}
