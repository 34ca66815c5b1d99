package gateway

import (
	"net/http"
	"testing"

	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/gateway/wire"
)

// A stream that could go on elsewhere keeps its body, counted, and nothing else of the question; however often it goes
// on.
func TestASlimStreamKeepsItsBodyAndItsCount(t *testing.T) {
	const body = `{"model":"debug","stream":true,"max_tokens":7,"messages":[{"role":"user","content":"why?"}]}`
	x := stage(t, &sink{header: http.Header{}})
	s, rt := x.s, x.rt
	rt.Limits.QueueBytes, rt.Limits.JSONDepth, rt.Limits.Messages = 1<<20, 64, 64
	x.body = append(x.body[:0], body...)
	if err := x.countBody(len(body)); err != nil {
		t.Fatal(err)
	}
	x.kind, x.relay.Cont = wire.Chat, new(stream.Continuation)
	if err := x.parse(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		x.slim()
		if x.question != nil || string(x.kept) != body || s.bodies.Load() != int64(len(body)) {
			t.Fatalf("kept %q, %d bytes are counted", x.kept, s.bodies.Load())
		}
		if err := x.reread(); err != nil {
			t.Fatal(err)
		}
		if string(x.body) != body || x.req.Model != "debug" || x.relay.MaxTokens != 7 || x.kept != nil ||
			s.bodies.Load() != int64(len(body)) {
			t.Fatalf("back came %q, %d bytes are counted", x.body, s.bodies.Load())
		}
	}
	x.slim()
	x.turn.at = new(receipt.Attempt)
	x.end()
	if n := s.bodies.Load(); n != 0 {
		t.Errorf("%d bytes are counted in the end", n)
	}
}
