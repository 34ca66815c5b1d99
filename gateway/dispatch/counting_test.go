package dispatch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/engine/enginetest"
	"octet/gateway/stream"
)

// toldEvents are n chunks that say how many tokens have come, each of every tokens.
func toldEvents(n, every int) (pieces [][]byte) {
	for i := range n {
		usage := fmt.Sprintf(`,"usage":{"prompt_tokens":10,"total_tokens":%d,"completion_tokens":%d}}`, 10+(i+1)*every,
			(i+1)*every)
		pieces = append(pieces, append(bytes.TrimSuffix(event(i), []byte("}\n\n")), usage+"\n\n"...))
	}
	return append(pieces, []byte("data: [DONE]\n\n"))
}

// What tells the tokens was asked for by us: the client gets the stream as if it had not been.
func TestTheClientSeesNothingOfTheCount(t *testing.T) {
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	x.turn.rep.Kind = enginetest.Kind(t, "vllm")
	if err := x.play(&tape{pieces: toldEvents(20, 3), end: io.EOF}); err != nil || x.Relay.Delivered() != 60 {
		t.Fatal(err, x.Relay.Delivered())
	}
	var want strings.Builder
	for i := range 20 {
		want.Write(event(i))
	}
	if got := w.body.String(); got != want.String()+string(stream.DoneEvent) {
		t.Errorf("the client got %s", got)
	}
}

// An answer with max_tokens whose tokens nothing tells is not gone on with by guess.
func TestWhatNothingCountsIsNotGoneOnWith(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces [][]byte
		most   int
		kept   bool
	}{
		{"told", toldEvents(50, 2), 400, true},
		{"not told", events(50), 400, false},
		{"not told, and nothing depends on it", events(50), -1, true},
	} {
		x := stage(t, &sink{header: http.Header{}})
		x.turn.rep.Kind, x.Relay.MaxTokens, x.Relay.Cont = enginetest.Kind(t, "vllm"), tt.most, new(stream.Continuation)
		x.Relay.TextBytes = 1 << 20
		if err := x.play(&tape{pieces: tt.pieces[:30], end: io.ErrUnexpectedEOF}); err == nil ||
			x.Relay.Unfinished() != tt.kept {
			t.Errorf("%s: %v, can go on: %v", tt.name, err, x.Relay.Unfinished())
		}
	}
}
