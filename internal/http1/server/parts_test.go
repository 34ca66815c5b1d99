package server

import (
	"net/textproto"
	"strings"
	"testing"
)

func TestNamesAreSpeltAsNetHTTPSpellsThem(t *testing.T) {
	for name := range common {
		for _, as := range []string{name, strings.ToLower(name), strings.ToUpper(name),
			strings.ToLower(name[:1]) + name[1:]} {
			if got := canonical(as); got != name || got != textproto.CanonicalMIMEHeaderKey(as) {
				t.Errorf("%q becomes %q", as, got)
			}
		}
	}
	for _, name := range []string{"", " ", "a b", "a:", "a\x00", "é", "a\n", "(x)"} {
		if got := canonical(name); got != "" {
			t.Errorf("%q becomes %q", name, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { canonical("Content-Type"); canonical("content-type") }); n > 0 {
		t.Errorf("common names cost %v allocations", n)
	}
}

func FuzzNamesAreSpeltAsNetHTTPSpellsThem(f *testing.F) {
	for name := range common {
		f.Add(name)
		f.Add(strings.ToLower(name))
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := canonical(name); got != "" && got != textproto.CanonicalMIMEHeaderKey(name) {
			t.Errorf("%q becomes %q", name, got)
		} else if got == "" && token(name) {
			t.Errorf("%q is refused", name)
		}
	})
}

func TestChunkSizes(t *testing.T) {
	for line, want := range map[string]int64{
		"0": 0, "5": 5, "a": 10, "A": 10, "fF": 255, "0000000000000005": 5, "0fffffffffffffff": 1<<60 - 1,
		"fffffffffffffff": 1<<60 - 1, "5;a=b": 5, "5;": 5, "5;\t x": 5,
		"": -1, "g": -1, "-1": -1, "+1": -1, "0x5": -1, " 5": -1, "5 ": -1, "5 ;a": -1, "1000000000000000": -1,
		"7fffffffffffffff": -1, "8000000000000000": -1, "00000000000000005": -1, "5;\x01": -1, "5;a\rb": -1, ";": -1,
		"5_0": -1,
	} {
		got, ok := chunkSize(line)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q is %d, want %d", line, got, want)
		}
	}
}

func TestWordsInLists(t *testing.T) {
	for _, c := range []struct {
		list, word, separators string
		want                   bool
	}{
		{"close", "close", ",", true}, {"Close", "close", ",", true}, {"a, close ,b", "close", ",", true},
		{"close x", "close", ",", false},
		{"close x", "close", ", \t", true}, {"xclose", "close", ", \t", false}, {"clo\u017fe", "close", ",", false},
		{"", "close", ",", false}, {",,close", "close", ",", true},
		{"chun\u212aed", "chunked", ",", false},
	} {
		if got := listed(c.list, c.word, c.separators); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.list, got)
		}
	}
}

func TestValuesCannotBreakTheirLine(t *testing.T) {
	for v, want := range map[string]string{"plain": "plain", " a ": "a", "a\r\nB: c": "a  B: c", "\n": "",
		"a\rb": "a b", "\r\na\r\n": "a", "": ""} {
		if got := string(appendValue(nil, v)); got != want {
			t.Errorf("%q is sent as %q, want %q", v, got, want)
		}
	}
}
