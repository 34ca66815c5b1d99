package calibration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// decoded is the slow, obvious form of a JSON value: decoded, its numbers as fractions. ok is false for anything else.
func decoded(text []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil || len(bytes.Trim(text[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, false
	}
	return exact(v), true
}

// exact has fractions for all numbers in v.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, ok := new(big.Rat).SetString(v.String()); ok {
			return "number " + n.RatString()
		}
		panic("a number that is none: " + v.String())
	case string:
		return "string " + v
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name])
		}
	}
	return v
}

// vast reports whether a number in text is too long to be a fraction in reasonable memory.
func vast(text []byte) bool {
	for i, c := range text {
		if c|0x20 != 'e' {
			continue
		}
		rest := strings.TrimLeft(string(text[i+1:]), "+-")
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if n, err := strconv.Atoi(digits); digits != "" && (err != nil || n > 1000) {
			return true
		}
	}
	return false
}

// FuzzLeaves holds the comparison by leaves to that of decoded values.
func FuzzLeaves(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"a":1,"b":[true,null,"x"]}`, ` { "b" : [true , null, "\u0078"], "a":1.0}`},
		{`{"a":1,"a":2}`, `{"a":2}`}, {`{"a":{"b":1},"a":{"c":1}}`, `{"a":{"c":1}}`},
		{`[1,2]`, `[2,1]`}, {`[]`, `{}`}, {`[[]]`, `[[],[]]`}, {`{"a":{}}`, `{"a":[]}`},
		{`1e2`, `100`}, {`-0`, `0.00`}, {`9007199254740993`, `9007199254740992`}, {`0.10`, `1e-1`}, {`1E+2`, `10e1`},
		{`"\ud83d\ude00"`, `"😀"`}, {`"\ud800"`, `"�"`}, {"\"\xff\"", `"�"`}, {`"a\/b"`, `"a/b"`},
		{`"1"`, `1`}, {`null`, `"null"`}, {`false`, `true`}, {`{"":0}`, `{"a":0}`}, {`{"a.b":1}`, `{"a":{"b":1}}`},
		{`{"0":1}`, `[1]`}, {`1 2`, `12`}, {``, `{}`}, {`{"a":1}x`, `{"a":1}`}, {`0e99999999999999999999`, `0`},
		{"0", "\f0"}, {"0\v", "0"},
		{`{"a":1,"b":{"c":3,"c":4}}`, `{"b":{"c":4},"a":1}`}, {"{\"\xff\":1,\"\xfe\":2}", "{\"\xfd\":2}"},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if vast(a) || vast(b) {
			t.Skip()
		}
		left, okLeft := leavesOf(a)
		right, okRight := leavesOf(b)
		slowLeft, wantLeft := decoded(a)
		slowRight, wantRight := decoded(b)
		if okLeft != wantLeft || okRight != wantRight {
			t.Fatalf("JSON: %v %v, want %v %v", okLeft, okRight, wantLeft, wantRight)
		}
		if !okLeft || !okRight {
			return
		}
		same, far := reflect.DeepEqual(slowLeft, slowRight), left.distance(right)
		if slices.Equal(left, right) != same || (far == 0) != same || far < 0 || far > 1 ||
			far != right.distance(left) {
			t.Fatalf("%q and %q: leaves %v, distance %v; by decoding %v", a, b, slices.Equal(left, right), far, same)
		}
	})
}

// written is one of the ways to write a value down: members in another order, numbers and strings in another form,
// spaces, a member of the same name before the one that counts.
func written(r *rand.Rand, v any) string {
	space := []string{"", " ", "\n\t"}[r.IntN(3)]
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var parts []string
		for _, name := range names {
			if r.IntN(8) == 0 {
				parts = append(parts, written(r, name)+":"+written(r, "an earlier one"))
			}
			parts = append(parts, written(r, name)+space+":"+written(r, v[name]))
		}
		return space + "{" + strings.Join(parts, space+",") + "}" + space
	case []any:
		parts := make([]string, 0, len(v))
		for _, element := range v {
			parts = append(parts, written(r, element))
		}
		return "[" + strings.Join(parts, ","+space) + space + "]"
	case string:
		var b strings.Builder
		for _, c := range v {
			if c < 0x10000 && (r.IntN(3) == 0 || c < ' ' || c == '"' || c == '\\') {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
		return space + `"` + b.String() + `"`
	case int:
		return fmt.Sprintf([]string{"%d", "%d.0", "%d00e-2", "%d0.00E-1"}[r.IntN(4)], v)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// arbitrary is a value, with small alphabets so that two are often nearly the same.
func arbitrary(r *rand.Rand, deep int) any {
	switch n := r.IntN(7); {
	case n == 0 && deep > 0:
		all := map[string]any{}
		for range r.IntN(4) {
			all[string(rune('a'+r.IntN(3)))] = arbitrary(r, deep-1)
		}
		return all
	case n == 1 && deep > 0:
		var all []any
		for range r.IntN(3) {
			all = append(all, arbitrary(r, deep-1))
		}
		return append([]any{}, all...)
	case n < 4:
		return []string{"", "x", "\"\\", "é😀", "line\n"}[r.IntN(5)]
	case n < 6:
		return r.IntN(3) + 1
	}
	return []any{nil, true, false}[r.IntN(3)]
}

// However a value is written, it is the same; and it is another than a value that is written otherwise when decoded.
func TestAValueIsTheSameHoweverItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		v, other := arbitrary(r, 4), arbitrary(r, 4)
		a, b, c := written(r, v), written(r, v), written(r, other)
		left, ok := leavesOf([]byte(a))
		right, okRight := leavesOf([]byte(b))
		third, okThird := leavesOf([]byte(c))
		if !ok || !okRight || !okThird {
			t.Fatalf("no JSON: %q, %q, %q", a, b, c)
		}
		if left.distance(right) != 0 {
			t.Fatalf("%q and %q", a, b)
		}
		x, _ := decoded([]byte(a))
		y, _ := decoded([]byte(c))
		if (left.distance(third) == 0) != reflect.DeepEqual(x, y) {
			t.Fatalf("%q and %q: %v", a, c, left.distance(third))
		}
	})
}
