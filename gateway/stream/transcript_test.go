package stream

import (
	"strings"
	"testing"

	"octet/gateway/sse"
)

// One text is kept for all that look at it afterwards, each within its own bound.
func TestATranscriptIsKeptOnce(t *testing.T) {
	var kept Transcript
	var o sse.Options
	if kept.Begin(&o, false); o.Text != nil {
		t.Error("a text is kept that is of no use")
	}
	if _, ok := kept.Within(10); ok {
		t.Error("nothing has a text")
	}
	kept.Keep(20)
	kept.Keep(5)
	other := ""
	o.Text = func(raw []byte) { other += string(raw) }
	kept.Begin(&o, false)
	o.Text([]byte(`one\n`))
	o.Text([]byte(`"two`[1:]))
	if text, ok := kept.Within(20); !ok || string(text) != "one\ntwo" || other != `one\ntwo` {
		t.Errorf("%q, %v; the other heard %q", text, ok, other)
	}
	if text, ok := kept.Within(5); ok {
		t.Errorf("%q is longer than 5 bytes", text)
	}
	o.Text([]byte(strings.Repeat("x", 20)))
	if text, ok := kept.Within(100); ok {
		t.Errorf("%q is not all that was said", text)
	}
}

// An answer of which the client has seen nothing begins anew; one that it has seen a part of goes on.
func TestWhatTheClientHasNotSeenIsNotInTheTranscript(t *testing.T) {
	for started, want := range map[bool]string{false: "second", true: "firstsecond"} {
		var kept Transcript
		kept.Keep(100)
		var first, second sse.Options
		kept.Begin(&first, false)
		first.Text([]byte("first"))
		kept.Begin(&second, started)
		second.Text([]byte("second"))
		if text, ok := kept.Within(100); !ok || string(text) != want {
			t.Errorf("started %v: %q, want %q", started, text, want)
		}
	}
	var kept Transcript
	kept.Keep(4)
	var o sse.Options
	kept.Begin(&o, false)
	o.Text([]byte("far too long"))
	kept.Whole([]byte(`{"choices":[{"message":{"content":"ok\t"}}]}`), &sse.Unary{Text: []byte(`ok\t`)})
	if text, ok := kept.Within(4); !ok || string(text) != "ok\t" {
		t.Errorf("%q, %v", text, ok)
	}
}
