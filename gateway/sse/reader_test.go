package sse

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"octet/gateway/wire"
)

// walked is what walk saw, in order: names, the insides of strings, and integers.
type walked struct {
	seen  []string
	whole bool
}

// walkReader and walkCursor read an object by the two means, every value in the way that its name asks for.
func walkReader(b []byte) (w walked) {
	r := &reader{b: b, room: maxDepth}
	if r.peek() != '{' {
		return w
	}
	var value func()
	value = func() {
		switch ch := r.peek(); {
		case ch == '{':
			for r.enter(); r.key(); {
				name := string(r.name)
				w.seen = append(w.seen, name)
				switch name {
				case "skipped":
					r.skip()
				case "int":
					n, ok := r.integer()
					w.int(n, ok)
				default:
					value()
				}
			}
		case ch == '[':
			for r.enter(); r.more(); {
				value()
			}
		case ch == '"':
			w.seen = append(w.seen, string(r.quoted()))
		default:
			r.skip()
		}
	}
	value()
	w.whole = r.end()
	return w
}

func walkCursor(b []byte) (w walked) {
	c := wire.NewCursor(b, maxDepth)
	if c.Peek() != '{' {
		return w
	}
	var value func()
	value = func() {
		switch ch := c.Peek(); {
		case ch == '{':
			c.Enter('{')
			for raw, ok := c.Key(); ok; raw, ok = c.Key() {
				name := string(raw)
				w.seen = append(w.seen, name)
				switch name {
				case "skipped":
					c.Skip()
				case "int":
					n, ok := c.Int()
					w.int(n, ok)
				default:
					value()
				}
			}
		case ch == '[':
			for c.Enter('['); c.More(); {
				value()
			}
		case ch == '"':
			w.seen = append(w.seen, string(c.Quoted()))
		default:
			c.Skip()
		}
	}
	value()
	w.whole = c.End()
	return w
}

func (w *walked) int(n int, ok bool) {
	w.seen = append(w.seen, "no integer")
	if ok {
		w.seen[len(w.seen)-1] = string(rune(n & 0xffff))
	}
}

func checkReader(t *testing.T, b []byte) {
	t.Helper()
	got, want := walkReader(b), walkCursor(b)
	if got.whole != want.whole {
		t.Fatalf("%q: good %v, the Cursor says %v", b, got.whole, want.whole)
	}
	if want.whole && strings.Join(got.seen, "\x00") != strings.Join(want.seen, "\x00") {
		t.Fatalf("%q: saw %q, the Cursor saw %q", b, got.seen, want.seen)
	}
}

// randomJSON appends a value, with white space here and there.
func randomJSON(rng *rand.Rand, b []byte, depth int) []byte {
	space := func() { b = append(b, []string{"", "", "", " ", "\n\t "}[rng.IntN(5)]...) }
	space()
	defer func() { space() }()
	switch kind := rng.IntN(12); {
	case kind < 3 && depth > 0:
		b = append(b, '{')
		for n := range rng.IntN(4) {
			if n > 0 {
				b = append(b, ',')
			}
			space()
			b = append(b, []string{`"int"`, `"skipped"`, `"prompt_tokens"`, `"\u0069nt"`, `"a\\b"`, `""`, `"é"`}[rng.IntN(7)]...)
			space()
			b = randomJSON(rng, append(b, ':'), depth-1)
		}
		return append(b, '}')
	case kind < 5 && depth > 0:
		b = append(b, '[')
		for n := range rng.IntN(4) {
			if n > 0 {
				b = append(b, ',')
			}
			b = randomJSON(rng, b, depth-1)
		}
		return append(b, ']')
	case kind < 8:
		b = append(b, '"')
		for range rng.IntN(6) {
			b = append(b, []string{"x", "some text", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude00`, "é", "\xff", strings.Repeat("y", 70), "!#$ ~\x7f"}[rng.IntN(11)]...)
		}
		return append(b, '"')
	}
	return append(b, []string{"0", "1", "-1", "12345678", "999999999999999999", "9999999999999999999", "1.5", "1e9", "-0", "0.1E-7", "true", "false", "null"}[rng.IntN(13)]...)
}

func TestAnEnginesWordsAreReadAsByACursor(t *testing.T) {
	for seed := range uint64(40_000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := append(randomJSON(rng, []byte(`{"v":`), 5), '}')
		if rng.IntN(3) > 0 { // one or two bytes otherwise
			for range 1 + rng.IntN(2) {
				at := rng.IntN(len(b))
				switch rng.IntN(3) {
				case 0:
					b[at] = "{}[]\",:0\\x\n\x01 -e."[rng.IntN(16)]
				case 1:
					b = append(b[:at], b[at+1:]...)
				default:
					b = append(b[:at], append([]byte{"{}[]\",:0\\x\n\x01 -e."[rng.IntN(16)]}, b[at:]...)...)
				}
				if len(b) == 0 {
					b = []byte("{")
				}
			}
		}
		checkReader(t, b)
		checkReader(t, b[:rng.IntN(len(b)+1)])
	}
	for _, deep := range []int{maxDepth - 2, maxDepth - 1, maxDepth, maxDepth + 1} {
		checkReader(t, []byte(`{"v":`+strings.Repeat("[", deep)+strings.Repeat("]", deep)+"}"))
		checkReader(t, []byte(strings.Repeat(`{"skipped":`, deep)+"1"+strings.Repeat("}", deep)))
	}
}

func FuzzReader(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(append(randomJSON(rand.New(rand.NewPCG(seed, 4)), []byte(`{"v":`), 4), '}'))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkReader(t, b)
		checkReader(t, bytes.ReplaceAll(b, []byte{'v'}, []byte("int")))
	})
}
