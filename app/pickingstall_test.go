package app_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// An answer that stands still blames its replica, unless so much of it has come that the proxy may hold the engine back
// for a client that reads nothing.
func TestAnAnswerThatTheProxyMayHoldBackBlamesNoReplica(t *testing.T) {
	event := fmt.Sprintf("data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"debug\",\"choices\":["+
		"{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", strings.Repeat("word ", 200))
	for name, c := range map[string]struct {
		events int
		state  string
		ends   codes.Code
	}{"little of it": {1, "open", codes.Aborted}, "much of it": {40, "closed", codes.DeadlineExceeded}} {
		w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.open_for=1h", "fleet.probe_interval=1h",
			"limits.idle_timeout=100ms", "fleet.breaker.failures=1")
		e := newEnvoy(t, w, false, nil)
		at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
		call, err := e.client.Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = call.Send(requestHead("POST", "/v1/chat/completions", false, []string{at})) // what fails shows in Recv
		_ = call.Send(requestPiece(strings.Replace(streamChat, "8", "100", 1), true))
		var got carried
		if _, err := e.told(call, &got); err != nil || got.immediate {
			t.Fatalf("%s: %v, %+v", name, err, got)
		}
		_ = call.Send(answerHead(false, ":status", "200", "content-type", "text/event-stream"))
		for range c.events {
			_ = call.Send(answerPiece([]byte(event), false))
		}
		for err == nil {
			_, err = call.Recv()
		}
		quiet(t, w)
		if state := w.Replica("debug-0").Fleet.State(); state != c.state || status.Code(err) != c.ends {
			t.Errorf("%s: the breaker is %s: %v", name, state, err)
		}
	}
}
