package chattemplate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// decodePlain is what decode is held to: a library's reader, and values one by one.
func decodePlain(raw []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
	v, err := decodeValue(d, 0)
	if _, end := d.ReadToken(); err == nil && end != io.EOF {
		return nil, fmt.Errorf("%w: more than one value", ErrRefused)
	}
	return v, err
}

func decodeValue(d *jsontext.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: JSON nests more than %d deep", ErrTooLarge, maxDepth)
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case 'n':
		return nil, nil //nolint:nilnil // null is a value
	case 't', 'f':
		return t.Bool(), nil
	case '"':
		return t.String(), nil
	case '0':
		return decodeNumber(t.String()), nil
	case '[':
		return decodeList(d, depth)
	default:
		return decodeDict(d, depth)
	}
}

func decodeNumber(s string) any {
	if i, err := strconv.Atoi(s); err == nil && s != "-0" {
		return i
	}
	f, _ := strconv.ParseFloat(s, 64) // it is JSON
	return f
}

func decodeList(d *jsontext.Decoder, depth int) (any, error) {
	l := &list{}
	for d.PeekKind() != ']' {
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
	}
	_, err := d.ReadToken()
	return l, err
}

func decodeDict(d *jsontext.Decoder, depth int) (any, error) {
	m := &dict{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		m.put(key, v)
	}
	_, err := d.ReadToken()
	return m, err
}

// plainValue is v without what two equal values may differ in.
func plainValue(v any) any {
	switch x := v.(type) {
	case *list:
		out := []any{}
		for _, one := range x.items {
			out = append(out, plainValue(one))
		}
		return out
	case *dict:
		out := []any{}
		for i, key := range x.keys {
			out = append(out, key, plainValue(x.vals[i]))
		}
		return [1]any{out}
	}
	return v
}

func checkDecode(t *testing.T, s *store, raw []byte) {
	t.Helper()
	got, err := s.decode(raw)
	want, wantErr := decodePlain(raw)
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(plainValue(got), plainValue(want)) {
		t.Errorf("%.200q: %v, %v\n   want %v, %v", raw, plainValue(got), err, plainValue(want), wantErr)
	}
	if err != nil && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("%.80q: %v", raw, err)
	}
}

var jsons = []string{
	"", " ", "null", "true", "fals", "[", "]", "{}", "[]", " [ ] ", "{ }", "[1,]", "[,1]", `{"a":1,}`, `{"a"}`,
	`{"a" 1}`, `{1:2}`, `[1 2]`, `[1]x`, `"a"b`, "nullx",
	`"plain"`, `"seven77"`, `"eight888"`, `"nine99999"`, `"a\nb"`, `"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\u20AC"`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ude00\ude00"`, `["a\nb","\tc",{"\u0064":"e\\"}]`, `"\ud83dx"`,
	`"\ud83d\u0041"`,
	`"\u12"`, `"\u12g4"`, `"\u+123"`, `"\x41"`, `"\`, `"abc`, "\"a\x00b\"", "\"a\nb\"", "\"12345678\x1f\"", "\"\x7f\"",
	"\"\xff\"", "\"\xc3\x28\"", "\"é漢😀\"", "\xff", "\u00a0[]",
	"0", "-0", "01", "-", "1.", ".5", "1.5", "1e5", "1E+5", "1e", "1e+", "-1.25e-3", "12345678901234567890",
	"9223372036854775807", "1e999", "-1e999", "0x1", "+1", "1_0", "--1",
	`{"role":"user","content":"a\nb"}`,
	`[{"role":"user","content":"x"},{"role":"tool","content":"y"},{"content":"y","role":"tool"},{"role":"z"}]`,
	`{"a":1,"b":2,"a":3}`,
	`{"a":{"a":{"b":[1,{"a":"\t"}]}},"b":[[],[[]],{}]}`,
	`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"2":9,"14":1}`, `{"":""}`,
	`{"\u0061":1,"a":2}`,
}

func TestJSONIsReadAsALibraryReadsIt(t *testing.T) {
	var s store
	for _, raw := range append(jsons, talk, tools, calls, strings.Repeat("[", 65)+strings.Repeat("]", 65),
		strings.Repeat("[", 66)+strings.Repeat("]", 66)) {
		checkDecode(t, &s, []byte(raw))
	}
}

func FuzzJSONIsReadAsALibraryReadsIt(f *testing.F) {
	for _, raw := range append(jsons, talk, tools, calls) {
		f.Add([]byte(raw))
	}
	var s store
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkDecode(t, &s, raw)
		checkDecode(t, &s, []byte(strconv.Quote(string(raw))))
	})
}
