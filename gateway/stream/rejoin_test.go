package stream

import (
	"bytes"
	"strings"
	"testing"

	"octet/gateway/sse"
	"octet/gateway/stream/streamtest"
)

// What a later engine says is passed on as the first one would have gone on; what is no chunk, as it came.
//
//nolint:lll // raw text that cannot be broken
func TestALaterEngineSpeaksAsTheFirst(t *testing.T) {
	c := &Continuation{base: 10}
	c.remember([]byte(`data: {"id":"one","created":7,"choices":[]}` + "\n\n"))
	const opening = `data: {"id":"two","created":9,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	for _, tt := range []struct{ said, want string }{
		{opening + "\n\n", ""},
		{opening + "\r\n\r\n" + `data: {"id":"two","choices":[{"delta":{"content":"a"}}]}` + "\r\n\r\n",
			`data: {"id":"one","choices":[{"delta":{"content":"a"}}]}` + "\r\n\r\n"},
		{`data: {"created":9,"id":"two","choices":[{"text":"\"role\""}],"usage":null}` + "\n\n",
			`data: {"created":7,"id":"one","choices":[{"text":"\"role\""}],"usage":null}` + "\n\n"},
		{": ping\n\n", ": ping\n\n"},
		{`data: {"choices":[{"delta":{"role":"assistant","reasoning_content":"r"}}]}` + "\n\n",
			`data: {"choices":[{"delta":{"reasoning_content":"r"}}]}` + "\n\n"},
		{`data: {"choices":[{"delta":{"content":"","role":"assistant","tool_calls":[{"index":0}]}}]}` + "\n\n",
			`data: {"choices":[{"delta":{"content":"","tool_calls":[{"index":0}]}}]}` + "\n\n"},
		{`data: {"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":[]},"finish_reason":null}]}` +
			"\n\n", ""},
		{`data: {"usage":{"prompt_tokens":30,"total_tokens":35,"completion_tokens":5},"id":"two"}` + "\n\n",
			`data: {"usage":{"prompt_tokens":20,"total_tokens":35,"completion_tokens":15},"id":"one"}` + "\n\n"},
		{`data: {"usage":{"completion_tokens":1.5,"prompt_tokens":4}}` + "\n\n",
			`data: {"usage":{"completion_tokens":1.5,"prompt_tokens":0}}` + "\n\n"},
		{"data: {\ndata: }\n\n", "data: {\ndata: }\n\n"},
	} {
		if got := string(c.joined([]byte(tt.said))); got != tt.want {
			t.Errorf("%q\nbecame %q\nwant   %q", tt.said, got, tt.want)
		}
	}
	both := opening + "\n\n" + strings.Repeat(": x\n\n", 2)
	if got := string(c.joined([]byte(both))); got != ": x\n\n: x\n\n" {
		t.Errorf("got %q", got)
	}
}

// What a later engine says, made to join the first one's, says the same to a reader of streams.
func FuzzJoin(f *testing.F) {
	for i, s := range streamtest.Seeds() {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, input string, base int) {
		c := &Continuation{base: 1 + max(base, -(base+1))%1000, later: true, id: []byte(`"first"`), born: []byte("1")}
		heard, events := heardIn([]byte(input))
		joined := bytes.Clone(c.joined(events))
		again, all := heardIn(joined)
		if heard != again || len(all) != len(joined) {
			t.Fatalf("%q, of which %q may go out, became %q: %+v, then %+v", input, events, joined, heard, again)
		}
	})
}

// heardSo is what a Scanner makes of a stream.
type heardSo struct {
	Text, Finish, Err string
	Tokens            int
}

// heardIn reads a stream to its end or first fault, and returns the events that may go out.
func heardIn(input []byte) (h heardSo, events []byte) {
	var s sse.Scanner
	s.Reset(sse.Options{Text: func(raw []byte) { h.Text += string(raw) }})
	out, _ := s.Feed(bytes.Clone(input))
	h.Tokens, h.Finish = s.Tokens(), s.FinishReason()
	return h, append(bytes.Clone(out[0]), out[1]...)
}
