package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// leave sends a request and leaves when it runs on a replica, in that phase.
func (w *world) leave(body, replica string) {
	w.T.Helper()
	ctx, leave := context.WithCancel(w.T.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			readStream(resp.Body)
			resp.Body.Close()
		}
	})
	eventually(w.T, replica+" is asked", func() bool { return w.running(replica) > 0 })
	time.Sleep(10 * time.Millisecond) // real time: into the phase
	leave()
	asking.Wait()
}

// running returns the places taken at a replica's Gate.
func (w *world) running(replica string) int {
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil && rep.Name == replica {
			return rep.Gate.Stats().Running
		}
	}
	w.T.Fatalf("no replica %s", replica)
	return 0
}

// DYN-24: a client that leaves, in whichever phase, frees both replicas.
func TestAClientThatLeavesFreesBothReplicas(t *testing.T) {
	w := newWorld(t, halves, halvesEngines())
	for _, phase := range []struct{ replica, fault string }{
		{"p-0", `{"kind":"hang"}`}, {"d-0", `{"kind":"hang"}`}, {"d-0", `{"kind":"hang_after_tokens","k":3}`},
		{"d-0", `{"kind":"slow"}`},
	} {
		for _, body := range []string{long("debug", phase.replica+phase.fault, ""),
			streamed(long("debug", phase.fault+phase.replica, ""))} {
			w.Fault(phase.replica, phase.fault)
			w.leave(body, phase.replica)
			w.clearFaults(phase.replica)
			w.baseline()
		}
	}
}

// Both replicas hold a place: the one that prefills from before its answer until the other's first token.
func TestThePrefillReplicaIsHeldUntilTheFirstToken(t *testing.T) {
	w := newWorld(t, halves, halvesEngines(), "limits.ttft_timeout=30s", "limits.idle_timeout=30s")
	w.Fault("d-0", `{"kind":"hang"}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
			strings.NewReader(streamed(long("debug", "held", ""))))
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "decode is asked", func() bool { return w.running("d-0") == 1 && w.armed("d-0") == 0 })
	if n := w.running("p-0"); n != 1 || w.Engines["p-0"].State().Exported == 0 {
		t.Errorf("prefill holds %d places while its blocks wait for decode", n)
	}
	leave()
	w.baseline()

	w.Fault("d-0", `{"kind":"hang_after_tokens","k":2}`)
	resp := w.Ask(t.Context(), "/v1/chat/completions", streamed(long("debug", "freed", "")))
	buf := make([]byte, 1)
	if _, err := resp.Body.Read(buf); err != nil {
		t.Fatal(err)
	}
	eventually(t, "prefill is free", func() bool { return w.running("p-0") == 0 })
	if w.running("d-0") != 1 {
		t.Error("decode lost its place")
	}
	resp.Body.Close()
	w.baseline()
}

// Many clients at once, some of which leave, on engines some of which fail: every answer is whole and its own, or a
// typed error, and nothing stays taken.
func TestManyDisaggregatedAnswersUnderFaultsAndAborts(t *testing.T) {
	w := newWorld(t, halves, halvesEngines(), "limits.max_queue_wait=10s")
	want := map[string]string{}
	for i := range 6 {
		want[fmt.Sprint("many", i)], _ = w.says("unary", long("alone", fmt.Sprint("many", i), ""))
	}
	for _, replica := range []string{"p-0", "p-1", "d-0", "d-1"} {
		w.Fault(replica, `{"kind":"die_after_headers","times":3}`)
		w.Fault(replica, `{"kind":"error_event","times":3}`)
	}
	var asking sync.WaitGroup
	for i := range 48 {
		asking.Go(func() {
			salt := fmt.Sprint("many", i%6)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%4 == 3 {
				time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
			}
			req, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
				strings.NewReader(streamed(long("debug", salt, ""))))
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			s := readStream(resp.Body)
			switch {
			case s.done && s.text != want[salt]:
				t.Errorf("%d: %q, alone %q", i, s.text, want[salt])
			case !s.done && !strings.HasPrefix(want[salt], s.text):
				t.Errorf("%d: broken off after %q, alone %q", i, s.text, want[salt])
			}
		})
	}
	asking.Wait()
	for _, replica := range []string{"p-0", "p-1", "d-0", "d-1"} {
		w.clearFaults(replica)
	}
	w.baseline()
}

// A deadline that passes while another replica computes the prompt ends everything.
func TestADeadlineEndsAPrefill(t *testing.T) {
	w := newWorld(t, halves, halvesEngines(), "limits.ttft_timeout=5s")
	w.Fault("p-0", `{"kind":"hang"}`)
	resp, answer := w.Post("/v1/chat/completions", streamed(long("debug", "late", "")), "X-Deadline-Ms", "150")
	checkError(t, resp, answer, 504, "deadline_exceeded", "")
	w.baseline()
}
