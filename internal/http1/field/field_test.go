package field

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

const tokens = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func checkText(t *testing.T, s string) {
	t.Helper()
	control, visible := len(s), true
	name, value := s != "", true
	for i := len(s) - 1; i >= 0; i-- {
		b := s[i]
		if b < ' ' || b == 0x7f {
			control = i
			value = value && b == '\t'
		}
		visible = visible && b > ' ' && b < 0x7f
		name = name && strings.IndexByte(tokens, b) >= 0
	}
	if got := Control(s, 0); got != control {
		t.Errorf("%q: a control character at %d, want %d", s, got, control)
	}
	for at := range len(s) {
		if got := Control([]byte(s), at); got != at+Control(s[at:], 0) {
			t.Errorf("%q from %d: %d", s, at, got)
		}
	}
	if IsVisible(s) != visible || IsName(s) != name || IsValue(s) != value {
		t.Errorf("%q: visible %v, a name %v, a value %v", s, IsVisible(s), IsName(s), IsValue(s))
	}
	if IsVisible([]byte(s)) != visible || IsName([]byte(s)) != name || IsValue([]byte(s)) != value {
		t.Errorf("%q differs as bytes", s)
	}
	if got := Trim(s); got != strings.Trim(s, " \t") {
		t.Errorf("%q trimmed is %q", s, got)
	}
}

// Each byte at each place among others, and the empty text.
func TestEveryByteIsFoundWhereverItStands(t *testing.T) {
	checkText(t, "")
	for _, filler := range []string{"a", "-", " ", "\x80", "\xff", "~", "\t"} {
		for length := range 20 {
			for at := range length {
				for b := range 256 {
					s := bytes.Repeat([]byte(filler), length)
					s[at] = byte(b)
					checkText(t, string(s))
				}
			}
		}
	}
}

func FuzzTextIsWhatALoopSays(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{tokens, " \t\r\nab", "\x00\x1f\x20\x7e\x7f\x80\xff", "aAzZ-@[`{"} {
		for length := range 15 {
			s := make([]byte, 2*length)
			for i := range s {
				s[i] = alphabet[rng.IntN(len(alphabet))]
			}
			f.Add(string(s))
		}
	}
	f.Fuzz(checkText)
}

func TestFoldKnowsAsciiAlone(t *testing.T) {
	for _, c := range []struct {
		s    string
		want bool
	}{{"Close", true}, {"CLOSE", true}, {"close", true}, {"closes", false}, {"clos", false}, {"cloſe", false},
		{"c\x0cose", false}, {"", false}} {
		if Fold(c.s, "close") != c.want || Fold([]byte(c.s), "close") != c.want {
			t.Errorf("%q: want %v", c.s, c.want)
		}
	}
}
