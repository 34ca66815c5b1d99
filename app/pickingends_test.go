package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"octet/engine/emulator"
	"octet/gateway/receipt"
)

// callEnd is how a call ends that has its endpoint.
type callEnd struct {
	name  string
	end   func(call extproc.ExternalProcessor_ProcessClient, leave func())
	code  codes.Code // of the call
	whole bool       // the answer is
}

// says ends a call by a message.
func says(m func() *extproc.ProcessingRequest) func(extproc.ExternalProcessor_ProcessClient, func()) {
	return func(call extproc.ExternalProcessor_ProcessClient, _ func()) { _ = call.Send(m()) } // shows in Recv
}

// callEnds are possible while the answer's head is waited for, and in the answer.
var callEnds = []callEnd{
	{name: "the proxy ends its side", code: codes.Canceled,
		end: func(call extproc.ExternalProcessor_ProcessClient, _ func()) { _ = call.CloseSend() }},
	{name: "the proxy resets", code: codes.Canceled,
		end: func(_ extproc.ExternalProcessor_ProcessClient, leave func()) { leave() }},
	{name: "a piece of the request", code: codes.InvalidArgument,
		end: says(func() *extproc.ProcessingRequest { return requestPiece("x", true) })},
	{name: "another request", code: codes.InvalidArgument,
		end: says(func() *extproc.ProcessingRequest { return requestHead("POST", "/", false, nil) })},
	{name: "the request's trailers", code: codes.InvalidArgument,
		end: says(func() *extproc.ProcessingRequest {
			return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_RequestTrailers{
				RequestTrailers: &extproc.HttpTrailers{}}}
		})},
	{name: "nothing", code: codes.InvalidArgument,
		end: says(func() *extproc.ProcessingRequest { return &extproc.ProcessingRequest{} })},
}

// answerEnds are possible in the answer alone.
var answerEnds = []callEnd{
	{name: "a second head", code: codes.InvalidArgument,
		end: says(func() *extproc.ProcessingRequest { return answerHead(false, ":status", "200") })},
	{name: "its own end", whole: true,
		end: says(func() *extproc.ProcessingRequest { return answerPiece([]byte("data: [DONE]\n\n"), true) })},
	{name: "its end, and the proxy's", whole: true,
		end: func(call extproc.ExternalProcessor_ProcessClient, _ func()) {
			_, _ = call.Send(answerPiece([]byte("data: [DONE]\n\n"), true)), call.CloseSend()
		}},
}

// Issue 23: wherever a call ends, and however, its request has a receipt, nothing is held, and no replica is blamed:
// one failure would open its breaker.
func TestEveryEndOfACallHasAReceiptAndBlamesNoReplica(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.failures=1", "fleet.breaker.open_for=1h",
		"fleet.probe_interval=1h", "limits.ttft_timeout=1h", "limits.idle_timeout=1h", "limits.answer_timeout=1h")
	e := newEnvoy(t, w, false, nil)
	for _, c := range callEnds {
		t.Run("before the head/"+c.name, func(t *testing.T) { endsAs(t, w, e, c, false) })
		t.Run("in the answer/"+c.name, func(t *testing.T) { endsAs(t, w, e, c, true) })
	}
	for _, c := range answerEnds {
		t.Run("in the answer/"+c.name, func(t *testing.T) { endsAs(t, w, e, c, true) })
	}
}

// What ends as it does where an engine has died, as a client leaves too, has the replica probed soon; nothing else has.
func TestACallThatTheProxyGivesUpHasTheReplicaProbedSoon(t *testing.T) {
	for _, c := range slices.Concat(callEnds, answerEnds) {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, smallWorld, smallEngines(), "fleet.probe_interval=1h", "limits.idle_timeout=1h")
			e := newEnvoy(t, w, false, nil)
			eventually(t, "all were probed once", func() bool { return w.probedSoon() == 0 })
			endsAs(t, w, e, c, true)
			if c.code == codes.Canceled {
				eventually(t, "it is probed soon", func() bool { return w.probedSoon() == 1 })
			} else if n := w.probedSoon(); n > 0 {
				t.Errorf("%d replicas are probed soon", n)
			}
		})
	}
}

// An engine that lets a connection go within its answer is probed soon; one that says what is wrong, or answers, not.
func TestAnEngineWhoseAnswerBreaksIsProbedSoon(t *testing.T) {
	for fault, want := range map[string]int{emulator.DieAfterTokens: 1, emulator.ErrorEvent: 0, "": 0} {
		t.Run(fault, func(t *testing.T) {
			w := newWorld(t, smallWorld, smallEngines(), "fleet.probe_interval=1h", "limits.continuations=0")
			eventually(t, "all were probed once", func() bool { return w.probedSoon() == 0 })
			if fault != "" {
				w.Fault("debug-0", fmt.Sprintf(`{"kind":%q,"k":3,"times":1}`, fault))
			}
			w.Post("/v1/chat/completions", streamChat)
			quiet(t, w)
			if want > 0 {
				eventually(t, "it is probed soon", func() bool { return w.probedSoon() == want })
			} else if n := w.probedSoon(); n > 0 {
				t.Errorf("%d replicas are probed soon", n)
			}
		})
	}
}

// probedSoon returns how many replicas are to be probed within ten minutes.
func (w *world) probedSoon() (n int) {
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil && rep.Fleet.NextProbe(time.Now()) < 10*time.Minute {
			n++
		}
	}
	return n
}

// endsAs has one call end, in its answer or before its head.
func endsAs(t *testing.T, w *world, e *envoy, c callEnd, answered bool) {
	ctx, leave := context.WithTimeout(t.Context(), time.Minute)
	defer leave()
	call, err := e.client.Process(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = call.Send(requestHead("POST", "/v1/chat/completions", false, nil)), call.Send(requestPiece(streamChat, true))
	var got carried
	asked, err := e.told(call, &got)
	if err != nil || got.immediate {
		t.Fatalf("%v, %+v", err, got)
	}
	if answered {
		_ = call.Send(answerHead(false, ":status", "200", "content-type", "text/event-stream"))
		_ = call.Send(answerPiece([]byte(`data: {"id":"1","object":"chat.completion.chunk","model":"debug",`+
			`"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n"), false))
		if m, err := call.Recv(); err != nil || m.GetResponseHeaders() == nil {
			t.Fatalf("%v, %v", m, err)
		}
	}
	c.end(call, leave)
	for err == nil {
		_, err = call.Recv()
	}
	if got := status.Code(err); got != c.code && !(c.whole && errors.Is(err, io.EOF)) {
		t.Errorf("the call ends with %v", err)
	}
	// a request without a name has its receipt's
	r := kept(t, w, asked.Header.Get("X-Request-Id"))
	if r.Result.Done != c.whole || len(r.Attempts) != 1 {
		t.Errorf("%+v, %+v", r.Result, r.Attempts)
	}
	quiet(t, w)
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil && (rep.Fleet.State() != "closed" || !rep.Fleet.Available()) {
			t.Errorf("%s is blamed", rep.Name)
		}
	}
}

// kept waits for the receipt of that id.
func kept(t *testing.T, w *world, id string) *receipt.Receipt {
	t.Helper()
	r := new(receipt.Receipt)
	eventually(t, "the receipt is kept", func() bool { return w.Get(w.Data+"/v1/receipts/"+id, r) == http.StatusOK })
	return r
}
