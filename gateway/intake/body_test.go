package intake

import (
	"testing"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/wire"
)

// A stream that may go on elsewhere keeps its body, counted, and nothing else of it; however often it goes on.
func TestASlimStreamKeepsItsBodyAndItsCount(t *testing.T) {
	const body = `{"model":"debug","stream":true,"max_tokens":7,"messages":[{"role":"user","content":"why?"}]}`
	var m Memory
	q := Request{Arrival: time.Now(), Body: new(Body), memory: &m,
		limits: &ensemble.Limits{QueueBytes: 1 << 20, JSONDepth: 64, Messages: 64}}
	q.Bytes = append(q.Bytes[:0], body...)
	if err := m.take(q.Body, len(body), q.limits.QueueBytes); err != nil {
		t.Fatal(err)
	}
	if err := q.Parse(wire.Chat); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		q.Release(true)
		if q.Body != nil || string(q.kept) != body || m.Held() != int64(len(body)) {
			t.Fatalf("kept %q, %d bytes are counted", q.kept, m.Held())
		}
		if err := q.Restore(); err != nil {
			t.Fatal(err)
		}
		if string(q.Bytes) != body || q.Parsed.Model != "debug" || q.Parsed.MaxTokens != 7 || q.kept != nil ||
			m.Held() != int64(len(body)) {
			t.Fatalf("back came %q, %d bytes are counted", q.Bytes, m.Held())
		}
	}
	q.Release(true)
	q.End()
	if n := m.Held(); n != 0 {
		t.Errorf("%d bytes are counted in the end", n)
	}
}
