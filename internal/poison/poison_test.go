package poison_test

import (
	"bytes"
	"testing"

	"octet/internal/poison"
)

func TestWhatIsGivenBackIsOverwrittenWhereItIsBuiltSo(t *testing.T) {
	page := []byte("whole page")
	text, ids, names := page[:5], []uint64{1, 2, 3}, []string{"a", "b"}
	poison.Bytes(text)
	poison.Words(ids[:1])
	poison.Values(names[:0])
	if changed := !bytes.Equal(page, []byte("whole page")); changed != poison.On {
		t.Errorf("%q", page)
	}
	if poison.On && (bytes.ContainsFunc(page, func(c rune) bool { return c < 0x80 }) || ids[2] != 0xfefefefefefefefe ||
		names[1] != "") {
		t.Errorf("%x %x %q", page, ids, names)
	}
}
