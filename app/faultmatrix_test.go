package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/apierr"
)

// engineFault is what an engine does in one phase, and what a client gets of it where no other replica can help.
type engineFault struct {
	emulator.Fault
	streamed, unary apierr.Code // "" is a whole answer
	tokens          int         // of a stream that is broken off
}

const matrixTokens = 12

// struck are faults that may strike after the headers, after some tokens, and after the last one.
var struck = map[string][2]apierr.Code{ // streamed, unary
	emulator.DieAfterTokens:  {apierr.UpstreamReset, apierr.UpstreamReset},
	emulator.Close:           {apierr.UpstreamReset, apierr.UpstreamReset},
	emulator.Cut:             {apierr.UpstreamReset, apierr.UpstreamProtocolError},
	emulator.HangAfterTokens: {apierr.UpstreamTimeout, apierr.UpstreamTimeout},
	emulator.Garbage:         {apierr.UpstreamProtocolError, apierr.UpstreamProtocolError},
	emulator.ErrorEvent:      {apierr.UpstreamReset, apierr.UpstreamReset},
	emulator.HalfEvent:       {apierr.UpstreamReset, apierr.UpstreamReset},
	emulator.Flood:           {apierr.UpstreamProtocolError, apierr.UpstreamProtocolError},
	emulator.BadFrame:        {apierr.UpstreamProtocolError, apierr.UpstreamProtocolError},
}

// unheard are faults before the head of an answer.
var unheard = []engineFault{
	{emulator.Fault{Kind: emulator.DieBeforeHeaders}, apierr.UpstreamReset, apierr.UpstreamReset, 0},
	{emulator.Fault{Kind: emulator.DieAfterHeaders}, apierr.UpstreamReset, apierr.UpstreamReset, 0},
	{emulator.Fault{Kind: emulator.Hang}, apierr.UpstreamTimeout, apierr.UpstreamTimeout, 0},
	{emulator.Fault{Kind: emulator.BadHead}, apierr.UpstreamProtocolError, apierr.UpstreamProtocolError, 0},
	{emulator.Fault{Kind: emulator.HalfHead}, apierr.UpstreamReset, apierr.UpstreamReset, 0},
	{emulator.Fault{Kind: emulator.HugeHead}, apierr.UpstreamProtocolError, apierr.UpstreamProtocolError, 0},
	{emulator.Fault{Kind: emulator.Status, K: 302}, apierr.UpstreamProtocolError,
		apierr.UpstreamProtocolError, 0},
	{emulator.Fault{Kind: emulator.Status, K: 400}, apierr.InvalidRequest, apierr.InvalidRequest, 0},
	{emulator.Fault{Kind: emulator.Status, K: 404}, apierr.ModelNotFound, apierr.ModelNotFound, 0},
	{emulator.Fault{Kind: emulator.Status, K: 413}, apierr.PayloadTooLarge, apierr.PayloadTooLarge, 0},
	{emulator.Fault{Kind: emulator.Status, K: 429}, apierr.QueueFull, apierr.QueueFull, 0},
	{emulator.Fault{Kind: emulator.Status, K: 500}, apierr.UpstreamReset, apierr.UpstreamReset, 0},
	{emulator.Fault{Kind: emulator.Status, K: 503}, apierr.Overloaded, apierr.Overloaded, 0},
	{emulator.Fault{Kind: emulator.Slow}, "", "", matrixTokens},
	{emulator.Fault{Kind: emulator.Overrun, K: 1}, "", "", matrixTokens}, // cut
	{emulator.Fault{Kind: emulator.Overrun, K: 40}, "", "", matrixTokens},
}

// matrix returns every fault in every phase in which it can strike.
func matrix() []engineFault {
	all := unheard
	for kind, codes := range struck {
		for _, k := range []int{0, 1, 3, matrixTokens} {
			all = append(all, engineFault{emulator.Fault{Kind: kind, K: k}, codes[0], codes[1], k})
		}
	}
	return all
}

func impatient(more ...string) []string {
	return append([]string{"limits.idle_timeout=400ms", "limits.ttft_timeout=800ms", "limits.answer_timeout=800ms",
		"limits.response_bytes=1MiB",
		"limits.retry_budget=1", "fleet.breaker.failures=1000", "fleet.probe_interval=1h"}, more...)
}

// patient is impatient, and waits for all but engines that are silent for ever.
func patient() []string {
	return impatient("limits.idle_timeout=1h", "limits.ttft_timeout=1h", "limits.answer_timeout=1h")
}

// silent reports whether the engine says nothing until its time is over.
func (f engineFault) silent() bool { return f.streamed == apierr.UpstreamTimeout }

// worlds returns a world for each answer of silent: what other faults end in does not depend on the machine's speed.
func worlds(t *testing.T) map[bool]*world {
	return map[bool]*world{
		true:  newWorld(t, smallWorld, smallEngines(), impatient()...),
		false: newWorld(t, smallWorld, smallEngines(), patient()...),
	}
}

// Promises 1 and 2: whatever an engine does, in whichever phase, an answer ends in exactly one of complete or a typed
// error, says not a token that is not its own, and leaves neither blocks nor goroutines behind.
func TestEveryFaultInEveryPhaseEndsInOneVerdict(t *testing.T) {
	of := worlds(t)
	baseline := 0
	for _, mode := range []string{"streamed", "unary"} {
		for _, f := range matrix() {
			t.Run(fmt.Sprintf("%s %d %s", f.Kind, f.K, mode), func(t *testing.T) {
				w := of[f.silent()]
				// every time: a retry meets it too
				w.Fault("systems-0", fmt.Sprintf(`{"kind":%q,"k":%d,"times":0}`, f.Kind, f.K))
				resp, body, clean := w.verdictOf(t, systems, mode)
				f.judge(t, mode, resp, body, clean)
				eventually(t, "ledgers at their baseline", w.Quiet)
				w.clearFaults("systems-0")
			})
			if baseline == 0 {
				baseline = ownGoroutines()
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	eventually(t, "goroutines at their baseline", func() bool { return ownGoroutines() <= baseline })
}

func (w *world) verdictOf(t *testing.T, body, mode string) (resp *http.Response, answer string, clean bool) {
	t.Helper()
	if mode == "streamed" {
		body = streamed(body)
	}
	resp = w.Ask(t.Context(), "/v1/chat/completions", body, "X-Request-Id", "one")
	all, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	return resp, string(all), err == nil
}

// judge holds what the client got against what the fault is to end in.
func (f engineFault) judge(t *testing.T, mode string, resp *http.Response, body string, clean bool) {
	t.Helper()
	code, text := f.unary, ""
	if mode == "streamed" {
		code, text = f.streamed, indexText("one", f.tokens)
	}
	switch {
	case mode == "streamed" && resp.StatusCode == 200:
		s := readStream(strings.NewReader(body))
		whole := code == "" && s.done && clean && s.failed == nil
		broken := code != "" && !s.done && !clean && s.failed != nil && s.failed.Error.Code == string(code) &&
			strings.Count(body, `"error"`) == 1
		if whole == broken || s.text != text {
			t.Errorf("done %v, clean end %v, error %+v, want code %q; text %q, want %q", s.done, clean, s.failed, code,
				s.text, text)
		}
	case code == "":
		if resp.StatusCode != 200 || !clean || !json.Valid([]byte(body)) {
			t.Errorf("status %d, clean end %v: %s", resp.StatusCode, clean, body)
		}
	default:
		checkError(t, resp, []byte(body), (&apierr.Error{Code: code}).Status(), code, param(code))
		if !clean {
			t.Error("a typed error did not end properly")
		}
	}
}

func param(code apierr.Code) string {
	if code == apierr.ModelNotFound {
		return "model"
	}
	return ""
}

// Promise 1: with another replica the same faults cost the client nothing, unless all the tokens were out, or the
// engine took the whole time for a first token, or it refused what the client sent, or it said more than is read.
func TestEveryFaultIsAnotherReplicasTurn(t *testing.T) {
	of := worlds(t)
	body := strings.Replace(systems, "systems", "debug", 1)
	for _, mode := range []string{"streamed", "unary"} {
		for _, f := range matrix() {
			mine := f.Kind == emulator.Status && f.K < 429 && f.K != 302 // the client's mistake
			late := f.streamed == apierr.UpstreamTimeout && (mode == "unary" || f.K == 0)
			spent := mode == "streamed" && f.K == matrixTokens
			vast := f.Kind == emulator.HugeHead || f.Kind == emulator.Flood && mode == "unary"
			if mine || late || spent || vast {
				continue
			}
			t.Run(fmt.Sprintf("%s %d %s", f.Kind, f.K, mode), func(t *testing.T) {
				w := of[f.silent()]
				next := w.next(body)
				w.Fault(next, fmt.Sprintf(`{"kind":%q,"k":%d,"times":0}`, f.Kind, f.K))
				resp, answer, clean := w.verdictOf(t, body, mode)
				if resp.StatusCode != 200 || !clean ||
					contentOf(mode, []byte(answer)) != indexText("one", matrixTokens) &&
						(f.Kind != emulator.Overrun || mode == "streamed") {
					t.Errorf("status %d, clean end %v: %s", resp.StatusCode, clean, answer)
				}
				w.clearFaults(next)
				eventually(t, "ledgers at their baseline", w.Quiet)
			})
		}
	}
}

// A client that leaves, or whose deadline passes, in any phase of its answer.
func TestAnAnswerThatIsGivenUpInAnyPhaseLeavesNothingBehind(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.idle_timeout=10s", "limits.ttft_timeout=10s")
	w.Post("/v1/chat/completions", systems) // everything has started
	before := ownGoroutines()
	for _, phase := range []string{`"hang"`, `"hang_after_tokens","k":0`, `"hang_after_tokens","k":1`,
		`"hang_after_tokens","k":3`, `"hang_after_tokens","k":12`, `"slow"`} {
		for _, body := range []string{systems, streamed(systems)} {
			w.Fault("systems-0", `{"times":0,"kind":`+phase+`}`)
			w.leaves(body)
			if phase != `"slow"` {
				w.outOfTime(body)
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
			w.clearFaults("systems-0")
		}
	}
	http.DefaultClient.CloseIdleConnections()
	eventually(t, fmt.Sprintf("goroutines at their baseline of %d", before),
		func() bool { return ownGoroutines() <= before })
}

// leaves asks and goes away as soon as an engine works for the answer.
func (w *world) leaves(body string) {
	w.T.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	ctx, leave := context.WithCancel(w.T.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := client.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	eventually(w.T, "the request runs", func() bool { return w.gate("systems-0").Stats().Running == 1 })
	time.Sleep(20 * time.Millisecond) // real time: into the phase
	leave()
	<-ended
	eventually(w.T, "ledgers at their baseline", w.Quiet)
}

// outOfTime asks with a deadline that passes in the phase.
func (w *world) outOfTime(body string) {
	w.T.Helper()
	resp := w.Ask(w.T.Context(), "/v1/chat/completions", body, "X-Deadline-Ms", "80")
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		checkError(w.T, resp, answer, 504, apierr.DeadlineExceeded, "")
		return
	}
	if s := readStream(strings.NewReader(string(answer))); err == nil || s.done || s.failed == nil ||
		s.failed.Error.Code != string(apierr.DeadlineExceeded) {
		w.T.Errorf("%v: %.200s", err, answer)
	}
}
