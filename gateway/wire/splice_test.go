package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestSpliceChangesNothingElse(t *testing.T) {
	for _, c := range []struct {
		body  string
		edits []Edit
		want  string
	}{
		{` {"model" : "octet" , "prompt":"p"} `, []Edit{{"model", []byte(`"debug"`)}},
			` {"model" : "debug" , "prompt":"p"} `},
		{`{"prompt":"p"}`, []Edit{{"model", []byte(`"debug"`)}, {"priority", []byte(`3`)}},
			`{"model":"debug","priority":3,"prompt":"p"}`},
		{`{"prompt":"p","n":1}`, []Edit{{"a", []byte(`[]`)}, {"n", []byte(`2`)}, {"prompt", []byte(`"q"`)}},
			`{"a":[],"prompt":"q","n":2}`},
		{`{"mod\u0065l":"x","prompt":"p"}`, []Edit{{"model", []byte(`"y"`)}}, `{"mod\u0065l":"y","prompt":"p"}`},
		{`{"prompt":"p"}`, []Edit{{"a\"b", []byte(`0`)}}, `{"a\"b":0,"prompt":"p"}`},
		{`{"prompt":"p"}`, nil, `{"prompt":"p"}`},
	} {
		r := mustParse(t, Completion, c.body)
		segments, err := r.Splice(c.edits, nil)
		for _, segment := range segments {
			if cap(segment) != len(segment) &&
				!slices.ContainsFunc(c.edits, func(e Edit) bool { return &e.Raw[0] == &segment[0] }) {
				t.Errorf("an append to %s would write elsewhere", segment)
			}
		}
		if got := string(bytes.Join(segments, nil)); err != nil || got != c.want {
			t.Errorf("%s with %s gave %s (%v), want %s", c.body, c.edits, got, err, c.want)
		}
		outline := outlineOf(t, []byte(c.body))
		if got := string(bytes.Join(outline.Splice(c.edits, nil), nil)); got != c.want {
			t.Errorf("%s, not parsed, with %s gave %s, want %s", c.body, c.edits, got, c.want)
		}
	}
}

// outlineOf outlines an object.
func outlineOf(t *testing.T, body []byte) (o Outline) {
	o.Text = body
	if err := Judge(body, 64, func(c *Cursor) error {
		c.Peek()
		o.Opening = c.Offset()
		c.Enter('{')
		for name, ok := c.Key(); ok; name, ok = c.Key() {
			at, raw := c.Value()
			o.Members = append(o.Members, Place{string(name), at, at + len(raw)})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSpliceAliasesTheBody(t *testing.T) {
	body := chatBody(64 << 10)
	var r Request
	if err := Parse(Chat, body, Limits{}, &r); err != nil {
		t.Fatal(err)
	}
	segments, _ := r.Splice([]Edit{{"model", []byte(`"debug"`)}}, nil)
	if last := segments[len(segments)-1]; &last[len(last)-1] != &body[len(body)-1] || len(segments) != 3 {
		t.Errorf("%d segments, and the last is not the body's", len(segments))
	}
}

func TestSpliceRefusesWhatWouldNotParse(t *testing.T) {
	r := mustParse(t, Completion, `{"prompt":"p"}`)
	for _, edits := range [][]Edit{
		{{"a", nil}}, {{"a", []byte(`{`)}}, {{"a", []byte(`1 2`)}}, {{"a", []byte(`{"x":1,"x":2}`)}},
		{{"a", []byte("1")}, {"a", []byte("2")}}, {{"\xff", []byte("1")}},
	} {
		if segments, err := r.Splice(edits, nil); err == nil || segments != nil {
			t.Errorf("%s was spliced", edits)
		}
	}
}

func TestEarlierSplicesStayGood(t *testing.T) {
	r := mustParse(t, Completion, `{"prompt":"p"}`)
	var all [][][]byte
	for range 50 {
		segments, err := r.Splice([]Edit{{"some_long_member_name", []byte(`1`)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, segments)
	}
	for i, segments := range all {
		if got := string(bytes.Join(segments, nil)); got != `{"some_long_member_name":1,"prompt":"p"}` {
			t.Fatalf("splice %d is now %s", i, got)
		}
	}
}

func TestRunningUsageKeepsOtherStreamOptions(t *testing.T) {
	const asked = `{"include_usage":true,"continuous_usage_stats":true`
	for options, want := range map[string]string{
		``:                       asked + `}`,
		`,"stream_options":null`: asked + `}`,
		`,"stream_options":{ }`:  asked + `}`,
		`,"stream_options":{"include_obfuscation":true}`: asked +
			`,"include_obfuscation":true}`,
		`,"stream_options":{"include_obfuscation": false , "include_usage": false }`: asked +
			`,"include_obfuscation":false}`,
		`,"stream_options":{"include_usage":null}`: asked +
			`}`,
		`,"stream_options":{"include_usage":true}`: asked +
			`}`,
		`,"stream_options":{"continuous_usage_stats":true}`: asked +
			`}`,
		`,"stream_options":{"include_usage":true,"continuous_usage_stats":true,"include_obfuscation":null}`: ``,
	} {
		e, ok := mustParse(t, Chat, user(options)).RunningUsage()
		if string(e.Raw) != want || ok != (want != "") || ok && !Valid(e.Raw, 8) {
			t.Errorf("%s: edit %s %v, want %s", options, e.Raw, ok, want)
		}
	}
}

func TestFinalUsageKeepsOtherStreamOptions(t *testing.T) {
	for options, want := range map[string]string{
		``:                       `{"include_usage":true}`,
		`,"stream_options":null`: `{"include_usage":true}`,
		`,"stream_options":{"include_obfuscation":true,"include_usage":false}`: `{"include_usage":true,` +
			`"include_obfuscation":true}`,
		`,"stream_options":{"include_usage":true}`: ``,
	} {
		e, ok := mustParse(t, Chat, user(options)).FinalUsage()
		if string(e.Raw) != want || ok != (want != "") || ok && !Valid(e.Raw, 8) {
			t.Errorf("%s: edit %s %v, want %s", options, e.Raw, ok, want)
		}
	}
}

func TestAppendQuotedIsReadBackAsItWas(t *testing.T) {
	var every strings.Builder
	for r := range rune(0x300) {
		every.WriteRune(r)
	}
	for _, s := range []string{"", "plain", `a"b\c/`, "\x00\x1f\x7f\n\r\t\b\f", "héllo 😀\uFFFD", every.String(),
		"bad\xff\xc3(\xe2\x82"} {
		quoted := AppendQuoted([]byte("#"), s)[1:]
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != string([]rune(s)) {
			t.Errorf("%q was quoted as %s (%v)", s, quoted, err)
		}
		if !Valid(quoted, 1) || !bytes.Equal(quoted, AppendQuoted(nil, []byte(s))) {
			t.Errorf("%q: %s", s, quoted)
		}
	}
}
