package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// spansSeeds have values of all lengths about the least that is noted, nested, with escapes and white space.
func spansSeeds() [][]byte {
	long := strings.Repeat("a", spanLength)
	all := [][]byte{
		nil, []byte(`"` + long), []byte(`{"a":"` + long + "\x01\"}"), []byte(` {"a":1} `),
		[]byte(` {"` + long + `":{"` + long + `":"` + long + `"},"b":["` + long + `",{},[],"\u00e9` + long + `"]}`),
		[]byte(`[[["` + long + `"],"` + long + `"],{"\n":"` + long + `\"\\"}]`),
	}
	for n := spanLength - 8; n <= spanLength; n++ {
		all = append(all, fmt.Appendf(nil, `{"a":"%s","b":{"c":["%[1]s"]},"d":[["%[1]s",1 ] ]}`, long[:n]))
	}
	return all
}

// FuzzSpans holds cursors that know spans against those that read every byte: the same values at the same places.
func FuzzSpans(f *testing.F) {
	for _, seed := range spansSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want := Check(body, 64)
		spans, got := NewSpans(body, 64)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, without spans %v", got, want)
		}
		if got != nil {
			return
		}
		for i, noted := range spans.all {
			if noted.end-noted.off < spanLength || i > 0 && noted.off <= spans.all[i-1].off {
				t.Fatalf("span %d: %+v", i, spans.all)
			}
		}
		sameValues(t, body, spans, 0, len(body))
	})
}

// sameValues compares what both kinds of cursors say of the value between two places, and of all within it.
func sameValues(t *testing.T, body []byte, spans *Spans, off, end int) {
	fast, slow := spans.Cursor(off, end), NewCursor(body[off:end], len(body))
	at, raw := slow.Value()
	if gotAt, got := fast.Value(); gotAt != at || !bytes.Equal(got, raw) || !fast.End() || !slow.End() {
		t.Fatalf("%q at %d, without spans %q at %d", got, gotAt, raw, at)
	}
	if raw[0] != '{' && raw[0] != '[' {
		return
	}
	fast, slow = spans.Cursor(off, end), NewCursor(body[off:end], len(body))
	fast.Enter(raw[0])
	slow.Enter(raw[0])
	for item(t, &fast, &slow, raw[0]) {
		at, raw := slow.Value()
		if gotAt, got := fast.Value(); gotAt != at || !bytes.Equal(got, raw) {
			t.Fatalf("%q at %d, without spans %q at %d", got, gotAt, raw, at)
		}
		sameValues(t, body, spans, off+at, off+at+len(raw))
	}
	if !fast.End() || !slow.End() {
		t.Fatal("not at its end")
	}
}

// item moves both cursors to the next item of a container, and returns false at its end.
func item(t *testing.T, fast, slow *Cursor, kind byte) bool {
	if kind == '[' {
		more := slow.More()
		if fast.More() != more {
			t.Fatal("one cursor is at the end of an array")
		}
		return more
	}
	want, more := slow.Key()
	if got, ok := fast.Key(); ok != more || !bytes.Equal(got, want) {
		t.Fatalf("member %q, %v; without spans %q, %v", got, ok, want, more)
	}
	return more
}
