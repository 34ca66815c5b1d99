package sse

import (
	"testing"

	"octet/gateway/wire"
)

// FuzzValuesEndWhereACursorEndsThem puts something behind a string and a number, as there always is within an object.
func FuzzValuesEndWhereACursorEndsThem(f *testing.F) {
	for _, s := range []string{"", `"`, "a", `a"`, `a\"b"`, "12345678\"", "123456789012345\"x", "1234567890123456\"",
		"\x1f\"", "\x7f!# \"", `\u00e9"`, `\q"`, "\xff\"",
		"0123456789012345678901234567890123456789012345678901234567890\"", "0", "00", "-", "-1", "12", "1.5", "1e",
		"1e5", "123456789012345678", "1234567890123456789", "99999999999999999999", "x"} {
		f.Add(s, "}")
		f.Add(s, `,"other":"0123456789012345678901234567890123456789"}`)
	}
	f.Fuzz(func(t *testing.T, value, behind string) {
		quoted := []byte(`"` + value + behind)
		c := wire.NewCursor(quoted, 0)
		c.Quoted()
		if got := text(quoted); got != c.Offset()%len(quoted) && got != c.Offset() {
			t.Errorf("%q: the string has %d bytes, want %d", quoted, got, c.Offset())
		}
		plain := []byte(value + behind)
		if len(plain) == 0 || plain[0] != '-' && plain[0]-'0' > 9 {
			if _, _, size := number(plain); size != 0 {
				t.Errorf("%q: a number of %d bytes", plain, size)
			}
			return
		}
		c = wire.NewCursor(plain, 0)
		n, whole := c.Int()
		m, whole2, size := number(plain)
		if size != c.Offset()%len(plain) || size > 0 && (m != n || whole2 != whole) {
			t.Errorf("%q: %d %v of %d bytes, want %d %v of %d", plain, m, whole2, size, n, whole, c.Offset())
		}
	})
}
