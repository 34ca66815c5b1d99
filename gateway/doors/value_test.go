package doors

import (
	"testing"

	"octet/gateway/wire"
)

// walk calls f with every value of v's tree and the path by which it was reached.
func walk(v Value, path string, names []string, f func(v *Value, path string)) error {
	f(&v, path)
	switch v.Kind() {
	case '{':
		into := make([]Value, len(names))
		if err := v.Members(names, into); err != nil {
			return err
		}
		for i := range into {
			under := names[i]
			if path != "" {
				under = path + "." + under
			}
			if err := walk(into[i], under, names, f); err != nil {
				return err
			}
		}
	case '[':
		n := 0
		return v.Each(func(element Value) error {
			n++
			return walk(element, path+"["+string(rune('0'+n-1))+"]", names, f)
		})
	}
	return nil
}

func TestAValueKnowsItsPath(t *testing.T) {
	const body = " {\"a\": [1, {\"b\" : [[], [\"x\", {}], {\"c\": {\"a\": 0}}]}, \"\"],\"b\":null, \"c\": true}\n"
	var v Value
	if err := wire.Judge([]byte(body), 64, func(c *wire.Cursor) error { v = Read(c); return nil }); err != nil {
		t.Fatal(err)
	}
	seen, absent := 0, 0
	if err := walk(v, "", []string{"a", "b", "c"}, func(v *Value, path string) {
		if got := v.Path(); got != path {
			t.Errorf("%q (%s) says that it is at %q", path, v.Raw(), got)
		}
		seen++
		if v.Absent() {
			absent++
		}
	}); err != nil {
		t.Error(err)
	}
	if seen != 24 || absent != 10 {
		t.Errorf("%d values, %d of them absent", seen, absent)
	}
}
