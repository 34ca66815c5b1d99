package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/ensemble"
	"octet/gateway/wire"
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
	x.turn.rep.Kind = kindOf(t, "vllm")
	if err := x.play(&tape{pieces: toldEvents(20, 3), end: io.EOF}); err != nil || x.handedOut != 60 {
		t.Fatal(err, x.handedOut)
	}
	var want strings.Builder
	for i := range 20 {
		want.Write(event(i))
	}
	if got := w.body.String(); got != want.String()+string(doneEvent) {
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
		x.turn.rep.Kind, x.maxTokens, x.cont = kindOf(t, "vllm"), tt.most, new(continuation)
		x.rt.Limits.BodyBytes = 1 << 20
		if err := x.play(&tape{pieces: tt.pieces[:30], end: io.ErrUnexpectedEOF}); err == nil ||
			x.unfinished() != tt.kept {
			t.Errorf("%s: %v, can go on: %v", tt.name, err, x.unfinished())
		}
	}
}

func TestEachKindIsAskedForItsCount(t *testing.T) {
	for kind, want := range map[string]string{
		"vllm":     `stream_options={"include_usage":true,"continuous_usage_stats":true}`,
		"sglang":   `stream_options={"include_usage":true,"continuous_usage_stats":true}`,
		"llamacpp": `timings_per_token=true`,
		"openai":   ``,
	} {
		x := stage(t, &sink{header: http.Header{}})
		if err := wire.Parse(wire.Chat, []byte(`{"messages":[{"role":"user","content":"x"}],"stream":true}`),
			wire.Limits{}, &x.req); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range x.countEdits(&ensemble.Replica{Kind: kindOf(t, kind)}, nil) {
			got += e.Key + "=" + string(e.Raw)
		}
		if got != want {
			t.Errorf("%s is asked %s", kind, got)
		}
	}
}

// A completion whose engine tells the ids of its tokens goes on from them, where they are just what the client has.
func TestACompletionGoesOnFromItsTokenIDs(t *testing.T) {
	for _, tt := range []struct {
		name string
		feed func(c *continuation)
		base int
		want string
	}{
		{"one a time", func(c *continuation) {
			c.keepIDs([]byte("1,2"), []byte("3"), true)
			c.keepIDs(nil, []byte("4"), true)
		}, 2, "[1,2,3,4]"},
		{"a character in two", func(c *continuation) {
			c.keepIDs([]byte("1"), []byte("3"), true)
			c.keepIDs(nil, []byte("4"), false)
			c.keepIDs(nil, []byte("5"), true)
			c.keepIDs(nil, []byte("6"), false)
		}, 3, "[1,3,4,5]"},
		{"several at last", func(c *continuation) {
			c.keepIDs([]byte("1"), []byte("3"), true)
			c.keepIDs(nil, []byte("4,5,6"), true)
		}, 4, ""},
		{"several, then one", func(c *continuation) {
			c.keepIDs([]byte("1"), []byte("3,4"), true)
			c.keepIDs(nil, []byte("5"), true)
		}, 3, "[1,3,4,5]"},
		{"fewer than were counted", func(c *continuation) { c.keepIDs([]byte("1"), []byte("3"), true) }, 2, ""},
		{"none", func(*continuation) {}, 2, ""},
		{"behind what went on from text", func(c *continuation) {
			c.ids = tokenIDs{from: 2}
			c.keepIDs([]byte("1,9,8"), []byte("5"), true)
		}, 3, "[1,9,8,5]"},
	} {
		c := new(continuation)
		tt.feed(c)
		c.base = tt.base
		if got := string(c.idsSoFar()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
