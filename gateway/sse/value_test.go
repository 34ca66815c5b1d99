package sse

import (
	"testing"

	"octet/gateway/wire"
)

// FuzzValuesEndWhereACursorEndsThem puts something behind a string and a number, as there always is within an object.
func FuzzValuesEndWhereACursorEndsThem(f *testing.F) {
	for _, s := range []string{"", `"`, "a", `a"`, `a\"b"`, "12345678\"", "123456789012345\"x", "1234567890123456\"", "\x1f\"", "\x7f!# \"", `\u00e9"`, `\q"`, "\xff\"",
		"0123456789012345678901234567890123456789012345678901234567890\"", "0", "00", "-", "-1", "12", "1.5", "1e", "1e5", "123456789012345678", "1234567890123456789", "99999999999999999999", "x"} {
		f.Add(s, "}")
		f.Add(s, `,"other":"0123456789012345678901234567890123456789"}`)
	}
	f.Fuzz(func(t *testing.T, value, behind string) {
		text := []byte(`"` + value + behind)
		c := wire.NewCursor(text, 0)
		raw := c.Quoted()
		want := 0
		if c.Offset() < len(text) {
			want = 1 + len(raw)
		}
		if got := closing(text, 1); got != want && want > 0 || got > 0 && want == 0 && got < len(text)-1 {
			t.Errorf("%q: the string ends at %d, want %d", text, got, want)
		}
		number := []byte(value + behind)
		if len(number) == 0 || number[0] != '-' && number[0]-'0' > 9 {
			if _, _, end := numberAt(number, 0); end != 0 {
				t.Errorf("%q: a number ends at %d", number, end)
			}
			return
		}
		c = wire.NewCursor(number, 0)
		n, whole := c.Int()
		if c.Offset() == len(number) {
			return
		}
		if m, whole2, end := numberAt(number, 0); m != n || whole2 != whole || end != c.Offset() {
			t.Errorf("%q: %d %v up to %d, want %d %v up to %d", number, m, whole2, end, n, whole, c.Offset())
		}
	})
}
