package intake

import (
	"errors"
	"testing"
	"time"

	"octet/gateway/apierr"
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

// MEGA-01: a body whose snippets were put into its prompt counts beside the one that was received, as long as both are
// held; a copy of the request, and a stream that goes on elsewhere, have the one with the snippets.
func TestABodyWithItsSnippetsInThePromptIsTheRequests(t *testing.T) {
	const received = `{"model":"debug","repo_snippets":["int x;"],"messages":[{"role":"user","content":"why?"}]}`
	const sent = `{"model":"debug","messages":[{"role":"user","content":"int x;\n\nwhy?"}]}`
	var m Memory
	ask := func(bytes, queue int64) (*Request, error) {
		q := &Request{Body: new(Body), memory: &m, limits: &ensemble.Limits{BodyBytes: bytes, QueueBytes: queue}}
		q.Bytes = []byte(received)
		if err := m.take(q.Body, len(received), queue); err != nil {
			t.Fatal(err)
		}
		return q, q.read(wire.Chat)
	}
	q, err := ask(int64(len(received)), 1<<20)
	if err != nil || string(q.Bytes) != sent || m.Held() != int64(len(received)+len(sent)) {
		t.Fatalf("%v: %s, %d bytes are counted", err, q.Bytes, m.Held())
	}
	if c := q.Copy(0, time.Now()); string(c.Bytes) != sent || c.Parse(c.Kind) != nil || c.Parsed.HasExtras() {
		t.Errorf("the copy is %s", c.Bytes)
	}
	q.Release(true)
	if err := q.Restore(); err != nil || string(q.Bytes) != sent || m.Held() != int64(len(sent)) {
		t.Errorf("%v: back came %s, %d bytes are counted", err, q.Bytes, m.Held())
	}
	q.End()
	for want, of := range map[apierr.Code][2]int64{
		apierr.PayloadTooLarge: {int64(len(sent)) - 1, 1 << 20}, apierr.Overloaded: {1 << 20, int64(len(received))},
	} {
		q, err := ask(of[0], of[1])
		if e := new(apierr.Error); !errors.As(err, &e) || e.Code != want {
			t.Errorf("%v, want %s", err, want)
		}
		q.End()
	}
	if n := m.Held(); n != 0 {
		t.Errorf("%d bytes are counted in the end", n)
	}
}
