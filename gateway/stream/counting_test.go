package stream

import (
	"testing"

	"octet/engine"
	"octet/gateway/wire"
)

func TestEachKindIsAskedForItsCount(t *testing.T) {
	for kind, want := range map[string]string{
		"vllm":     `stream_options={"include_usage":true,"continuous_usage_stats":true}`,
		"sglang":   `stream_options={"include_usage":true,"continuous_usage_stats":true}`,
		"llamacpp": `timings_per_token=true` + `stream_options={"include_usage":true}`,
		"openai":   `stream_options={"include_usage":true}`,
	} {
		var r wire.Request
		if err := wire.Parse(wire.Chat, []byte(`{"messages":[{"role":"user","content":"x"}],"stream":true}`),
			wire.Limits{}, &r); err != nil {
			t.Fatal(err)
		}
		got := ""
		k, _ := engine.AllKinds().Named(kind)
		edits, asks := AskUsage(new(Continuation).Count(nil, &r, wire.Chat, &k), &r, &k)
		if asks != (k.Streams.Counted != engine.CountsUsage) {
			t.Errorf("%s is asked for its usage at the end: %v", kind, asks)
		}
		for _, e := range edits {
			got += e.Key + "=" + string(e.Raw)
		}
		if got != want {
			t.Errorf("%s is asked %s", kind, got)
		}
	}
}

// A completion whose engine tells the ids of its tokens goes on from them, where they are just what the client has.
func TestACompletionIsContinuedFromItsTokenIDs(t *testing.T) {
	for _, tt := range []struct {
		name string
		feed func(c *Continuation)
		base int
		want string
	}{
		{"one a time", func(c *Continuation) {
			c.keepIDs([]byte("1,2"), []byte("3"), true)
			c.keepIDs(nil, []byte("4"), true)
		}, 2, "[1,2,3,4]"},
		{"a character in two", func(c *Continuation) {
			c.keepIDs([]byte("1"), []byte("3"), true)
			c.keepIDs(nil, []byte("4"), false)
			c.keepIDs(nil, []byte("5"), true)
			c.keepIDs(nil, []byte("6"), false)
		}, 3, "[1,3,4,5]"},
		{"several at last", func(c *Continuation) {
			c.keepIDs([]byte("1"), []byte("3"), true)
			c.keepIDs(nil, []byte("4,5,6"), true)
		}, 4, ""},
		{"several, then one", func(c *Continuation) {
			c.keepIDs([]byte("1"), []byte("3,4"), true)
			c.keepIDs(nil, []byte("5"), true)
		}, 3, "[1,3,4,5]"},
		{"fewer than were counted", func(c *Continuation) { c.keepIDs([]byte("1"), []byte("3"), true) }, 2, ""},
		{"none", func(*Continuation) {}, 2, ""},
		{"behind what went on from text", func(c *Continuation) {
			c.ids = tokenIDs{from: 2}
			c.keepIDs([]byte("1,9,8"), []byte("5"), true)
		}, 3, "[1,9,8,5]"},
	} {
		c := new(Continuation)
		tt.feed(c)
		c.base = tt.base
		if got := string(c.idsSoFar()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
