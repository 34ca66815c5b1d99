package openai

import (
	"errors"
	"strings"
	"testing"

	"octet/engine"
)

// Further fields go out as they are, and none that could be more or something else than one field. MOD2-43, GAIE-34
func TestFieldsOfARequestAreCheckedAndSent(t *testing.T) {
	c, err := New(Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	good := engine.Request{Method: "POST", Path: "/", Fields: []engine.Field{{Name: "X-Octet-Cache-Hint", Value: "blocks=3, tokens=48"}}}
	if err := check(&good); err != nil {
		t.Error(err)
	}
	if head := string(c.appendHead(nil, &good)); strings.Count(head, "\r\nX-Octet-Cache-Hint: blocks=3, tokens=48\r\n") != 1 {
		t.Errorf("%q", head)
	}
	for _, bad := range []engine.Field{
		{Name: "X-A", Value: "b\r\nX-C: d"}, {Name: "X-A", Value: "b\x00"}, {Name: "X-A: b\r\nX-C", Value: "d"}, {Name: "", Value: "b"}, {Name: "X-A", Value: ""},
		{Name: "Content-Length", Value: "9"}, {Name: "Transfer-Encoding", Value: "chunked"},
	} {
		r := good
		r.Fields = []engine.Field{bad}
		if err := check(&r); !errors.Is(err, ErrRequest) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
