package gateway

import (
	"strings"
	"testing"
)

// What a later engine says is passed on as the first one would have gone on; what is no chunk, as it came.
func TestALaterEngineSpeaksAsTheFirst(t *testing.T) {
	c := &continuation{base: 10}
	c.remember([]byte(`data: {"id":"one","created":7,"choices":[]}` + "\n\n"))
	const opening = `data: {"id":"two","created":9,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	for _, tt := range []struct{ said, want string }{
		{opening + "\n\n", ""},
		{opening + "\r\n\r\n" + `data: {"id":"two","choices":[{"delta":{"content":"a"}}]}` + "\r\n\r\n",
			`data: {"id":"one","choices":[{"delta":{"content":"a"}}]}` + "\r\n\r\n"},
		{`data: {"created":9,"id":"two","choices":[{"text":"\"role\""}],"usage":null}` + "\n\n",
			`data: {"created":7,"id":"one","choices":[{"text":"\"role\""}],"usage":null}` + "\n\n"},
		{": ping\n\n", ": ping\n\n"},
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
