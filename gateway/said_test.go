package gateway

import (
	"strings"
	"testing"

	"octet/gateway/sse"
)

// One text is kept for all who look at it after, each within its own bound.
func TestWhatWasSaidIsKeptOnceForAll(t *testing.T) {
	x := &exchange{}
	if o := x.overheard(sse.Options{}); o.Text != nil {
		t.Error("what nobody wants is kept")
	}
	if _, ok := x.said.within(10); ok {
		t.Error("nothing has a text")
	}
	x.keepSaid(20)
	x.keepSaid(5)
	other := ""
	o := x.overheard(sse.Options{Text: func(raw []byte) { other += string(raw) }})
	o.Text([]byte(`one\n`))
	o.Text([]byte(`"two`[1:]))
	if text, ok := x.said.within(20); !ok || string(text) != "one\ntwo" || other != `one\ntwo` {
		t.Errorf("%q, %v; the other heard %q", text, ok, other)
	}
	if text, ok := x.said.within(5); ok {
		t.Errorf("%q is longer than 5 bytes", text)
	}
	o.Text([]byte(strings.Repeat("x", 20)))
	if text, ok := x.said.within(100); ok {
		t.Errorf("%q is not all that was said", text)
	}
}

// An answer of which the client has seen nothing begins anew; one that it has seen a part of goes on.
func TestWhatNobodyHasSeenWasNotSaid(t *testing.T) {
	for started, want := range map[bool]string{false: "second", true: "firstsecond"} {
		x := &exchange{}
		x.keepSaid(100)
		x.overheard(sse.Options{}).Text([]byte("first"))
		x.started = started
		x.overheard(sse.Options{}).Text([]byte("second"))
		if text, ok := x.said.within(100); !ok || string(text) != want {
			t.Errorf("started %v: %q, want %q", started, text, want)
		}
	}
	x := &exchange{}
	x.keepSaid(4)
	x.overheard(sse.Options{}).Text([]byte("far too long"))
	x.said.whole([]byte(`ok\t`))
	if text, ok := x.said.within(4); !ok || string(text) != "ok\t" {
		t.Errorf("%q, %v", text, ok)
	}
}
