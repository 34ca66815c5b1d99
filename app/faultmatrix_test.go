package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
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
	emulator.Abort:           {apierr.UpstreamReset, apierr.UpstreamReset},
}

// untold reports whether a surface does not tell the fault: vLLM's own Responses says that what it has given up is
// completed.
func (f engineFault) untold(s *surface) bool {
	return f.Kind == emulator.Abort && s.mode == "native" && s.name == "responses"
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
		"limits.retry_budget=1", "limits.retry_burst=1000", "fleet.breaker.failures=1000",
		"fleet.probe_interval=1h"}, more...)
}

// patient is impatient, and waits for all but engines that are silent for ever.
func patient() []string {
	return impatient("limits.idle_timeout=1h", "limits.ttft_timeout=1h", "limits.answer_timeout=1h")
}

// silent reports whether the engine says nothing until its time is over.
func (f engineFault) silent() bool { return f.streamed == apierr.UpstreamTimeout }

// worlds returns a world for each answer of silent: what other faults end in does not depend on the machine's speed.
func worlds(t *testing.T, engines []emulator.Config) map[bool]*world {
	return map[bool]*world{
		true:  newWorld(t, smallWorld, engines, impatient()...),
		false: newWorld(t, smallWorld, engines, patient()...),
	}
}

// matrixMode is how engines are asked: for chats alone, or at the doors that they serve.
type matrixMode struct {
	worlds   map[bool]*world
	surfaces []surface
}

func matrixModes(t *testing.T) []matrixMode {
	return []matrixMode{{worlds(t, smallEngines()), surfaces}, {worlds(t, nativeEngines()), natives()}}
}

// Promises 1 and 2: whatever an engine does, in whichever phase, an answer ends in exactly one of complete or a typed
// error at every door, says not a token that is not its own, and leaves neither blocks nor goroutines behind.
func TestEveryFaultInEveryPhaseEndsInOneVerdict(t *testing.T) {
	modes, baseline := matrixModes(t), 0
	for _, mode := range []string{"streamed", "unary"} {
		for _, f := range matrix() {
			t.Run(fmt.Sprintf("%s %d %s", f.Kind, f.K, mode), func(t *testing.T) {
				var asking sync.WaitGroup // what a fault does to one stream, it does not do to another
				for _, d := range modes {
					w := d.worlds[f.silent()]
					// every time: a retry meets it too
					w.Fault("systems-0", fmt.Sprintf(`{"kind":%q,"k":%d,"times":0}`, f.Kind, f.K))
					for i := range d.surfaces {
						s := &d.surfaces[i]
						if f.untold(s) {
							continue
						}
						asking.Go(func() { f.judge(t, mode, s, w.verdictOf(s, "systems", mode)) })
					}
				}
				asking.Wait()
				for _, d := range modes {
					eventually(t, "ledgers at their baseline", d.worlds[f.silent()].Quiet)
					d.worlds[f.silent()].clearFaults("systems-0")
				}
			})
			if baseline == 0 {
				baseline = ownGoroutines()
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	eventually(t, "goroutines at their baseline", func() bool { return ownGoroutines() <= baseline })
}

// matrixBody is the question of the matrix at a surface.
func matrixBody(s *surface, model, mode string) string {
	return s.body(ask(model, "x", matrixTokens, mode == "streamed"))
}

// verdictOf asks the question of the matrix; the request has the name of the surface.
func (w *world) verdictOf(s *surface, model, mode string) *heardOf {
	return w.askAt(s, matrixBody(s, model, mode), mode == "streamed", "X-Request-Id", s.name)
}

// judge holds what the client got against what the fault is to end in.
func (f engineFault) judge(t *testing.T, mode string, s *surface, h *heardOf) {
	t.Helper()
	code, text, id := f.unary, "", s.name
	if mode == "streamed" {
		code, text = f.streamed, indexText(id, f.tokens)
	}
	switch {
	case code != "":
		h.failsWith(t, code, param(code), id)
	case h.code != http.StatusOK || !h.clean || !h.Done || h.err != nil:
		t.Errorf("%s %s: status %d, clean end %v, %v: %s", s.mode, id, h.code, h.clean, h.err, h.raw)
	}
	if mode == "streamed" && h.code == http.StatusOK && h.Text != text {
		t.Errorf("%s %s: text %q, want %q", s.mode, id, h.Text, text)
	}
}

func param(code apierr.Code) string {
	if code == apierr.ModelNotFound {
		return "model"
	}
	return ""
}

// Promise 1: with another replica the same faults cost the client nothing at any door, unless all the tokens were out,
// or the engine took the whole time for a first token, or it refused what the client sent, or said more than is read,
// or a native stream has begun, which has more bytes than half of the few tokens that are asked for.
func TestEveryFaultIsAnotherReplicasTurn(t *testing.T) {
	modes := matrixModes(t)
	for _, mode := range []string{"streamed", "unary"} {
		for _, f := range matrix() {
			mine := f.Kind == emulator.Status && f.K < 429 && f.K != 302 // the client's mistake
			late := f.streamed == apierr.UpstreamTimeout && (mode == "unary" || f.K == 0)
			spent := mode == "streamed" && f.K == matrixTokens
			vast := f.Kind == emulator.HugeHead || f.Kind == emulator.Flood && mode == "unary"
			if mine || late || spent || vast {
				continue
			}
			for _, d := range modes {
				for i := range d.surfaces {
					s := &d.surfaces[i]
					begun := s.mode == "native" && mode == "streamed" && f.K > 0 && f.streamed != ""
					if begun || f.untold(s) || testing.Short() && i != f.K%len(d.surfaces) {
						continue
					}
					t.Run(fmt.Sprintf("%s %d %s %s %s", f.Kind, f.K, mode, s.mode, s.name), func(t *testing.T) {
						f.turn(t, d.worlds[f.silent()], s, mode)
					})
				}
			}
		}
	}
}

// turn has the replica that a question goes to fail, and another answer.
func (f engineFault) turn(t *testing.T, w *world, s *surface, mode string) {
	next := w.next(matrixBody(&surfaces[0], "debug", mode))
	w.Fault(next, fmt.Sprintf(`{"kind":%q,"k":%d,"times":0}`, f.Kind, f.K))
	h := w.verdictOf(s, "debug", mode)
	same := h.Text == indexText(s.name, matrixTokens) || f.Kind == emulator.Overrun && mode == "unary"
	if h.code != http.StatusOK || !h.clean || h.err != nil || !h.Done || !same {
		t.Errorf("status %d, clean end %v, %v: %s", h.code, h.clean, h.err, h.raw)
	}
	w.clearFaults(next)
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// A client that leaves, or whose deadline passes, in any phase of its answer, at any door.
func TestAnAnswerThatIsGivenUpInAnyPhaseLeavesNothingBehind(t *testing.T) {
	for mode, engines := range map[string][]emulator.Config{"translated": smallEngines(), "native": nativeEngines()} {
		t.Run(mode, func(t *testing.T) {
			doors := surfaces
			if mode == "native" {
				doors = natives()
			}
			givenUp(t, doors, newWorld(t, smallWorld, engines, "limits.idle_timeout=10s", "limits.ttft_timeout=10s"))
		})
	}
}

func givenUp(t *testing.T, doors []surface, w *world) {
	w.Post("/v1/chat/completions", systems) // everything has started
	before := ownGoroutines()
	for _, phase := range []string{`"hang"`, `"hang_after_tokens","k":0`, `"hang_after_tokens","k":1`,
		`"hang_after_tokens","k":3`, `"hang_after_tokens","k":12`, `"slow"`} {
		w.Fault("systems-0", `{"times":0,"kind":`+phase+`}`)
		for i := range doors {
			for _, mode := range []string{"unary", "streamed"} {
				w.leaves(&doors[i], mode)
				if phase != `"slow"` {
					w.outOfTime(&doors[i], mode)
				}
				eventually(t, "ledgers at their baseline", w.Quiet)
			}
		}
		w.clearFaults("systems-0")
	}
	http.DefaultClient.CloseIdleConnections()
	eventually(t, fmt.Sprintf("goroutines at their baseline of %d", before),
		func() bool { return ownGoroutines() <= before })
}

// leaves asks at a surface and goes away as soon as an engine works for the answer.
func (w *world) leaves(s *surface, mode string) {
	w.T.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	ctx, leave := context.WithCancel(w.T.Context())
	defer leave()
	body := strings.NewReader(matrixBody(s, "systems", mode))
	req, err := http.NewRequestWithContext(ctx, "POST", w.Data+s.path, body)
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

// outOfTime asks at a surface with a deadline that passes in the phase.
func (w *world) outOfTime(s *surface, mode string) {
	w.T.Helper()
	h := w.askAt(s, matrixBody(s, "systems", mode), mode == "streamed", "X-Deadline-Ms", "80", "X-Request-Id", "late")
	h.failsWith(w.T, apierr.DeadlineExceeded, "", "late")
}
