package wire

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// tapeSeeds have values of all kinds, nested, with escapes and white space.
func tapeSeeds() [][]byte {
	long := strings.Repeat("a", 300)
	return [][]byte{
		nil, []byte(`"` + long), []byte(`{"a":"` + long + "\x01\"}"), []byte(` {"a":1} `), []byte(" 7 "), []byte(`""`),
		[]byte(`{}`), []byte(`[ ]`), []byte(`{"a":[],"b":{},"c":[{}, [ ]],"d":null}`), []byte(`{"a":1,"\u0061":2}`),
		[]byte(` {"` + long + `":{"` + long + `":"` + long + `"},"b":["` + long + `",{},[],"\u00e9` + long + `"]}`),
		[]byte(`[[["` + long + `"],"` + long + `"],{"\n":"` + long + `\"\\","\ud83d\ude00" : true}]`),
		[]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64)), []byte(strings.Repeat("[", 65)),
	}
}

// FuzzTape holds a Tape against a cursor that reads every byte anew: the same values at the same places.
func FuzzTape(f *testing.F) {
	for _, seed := range tapeSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want := Check(body, 64)
		tape, got := NewTape(body, 64)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, without a tape %v", got, want)
		}
		if got != nil {
			return
		}
		c := NewCursor(body, 64)
		if _, raw := c.Value(); !bytes.Equal(tape.Raw(0), raw) {
			t.Fatalf("the body is %q, read anew %q", tape.Raw(0), raw)
		}
		if next := sameItems(t, tape, 0, body); next != len(tape.nodes) {
			t.Fatalf("%d of %d nodes are values or names", next, len(tape.nodes))
		}
	})
}

// sameItems compares what a value holds with what a cursor reads of it, and returns the number behind it.
func sameItems(t *testing.T, tape *Tape, value int, text []byte) (next int) {
	c, items := NewCursor(text, 64), tape.Items(value)
	kind := c.Peek()
	next = value + 1
	if kind == '{' || kind == '[' {
		c.Enter(kind)
	}
	for {
		name, more := nextItem(&c, kind)
		if items.Next() != more {
			t.Fatalf("the tape has another number of items in %q", text)
		}
		if !more {
			return next
		}
		_, raw := c.Value()
		if !bytes.Equal(items.Name(), name) || !bytes.Equal(tape.Raw(items.Value), raw) {
			t.Fatalf("%q: %q, read anew %q: %q", items.Name(), tape.Raw(items.Value), name, raw)
		}
		next = sameItems(t, tape, items.Value, raw)
		for of := range len(tape.nodes) {
			if tape.Holds(items.Value, of) != (of >= items.Value && of < next) {
				t.Fatalf("value %d: whether %d is within it", items.Value, of)
			}
		}
	}
}

func nextItem(c *Cursor, kind byte) (name []byte, more bool) {
	switch kind {
	case '{':
		return c.Key()
	case '[':
		return nil, c.More()
	}
	return nil, false
}

// What a Tape takes is told, and a small multiple of any body.
func TestATapeIsASmallMultipleOfAnyBody(t *testing.T) {
	if size := unsafe.Sizeof(node{}); size != nodeBytes {
		t.Errorf("a node has %d bytes, %d are told", size, nodeBytes)
	}
	const most = 32 // bytes allocated for a byte of a body, those that were grown out of too
	for name, body := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tape, err := NewTape(body, 64)
		runtime.ReadMemStats(&after)
		if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body)); times > most {
			t.Errorf("%s: %.1f bytes allocated for each byte of %d", name, times, len(body))
		}
		if err == nil && tape.Bytes() > 13*len(body) { // a node for two bytes, and room for as many
			t.Errorf("%s: a tape of %d bytes for %d", name, tape.Bytes(), len(body))
		}
	}
}
