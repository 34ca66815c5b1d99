package wire

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMarksAreTheSpecialBytesAndNoOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		n := 1 + rng.IntN(batch)
		b := make([]byte, n*block)
		for i := range b {
			b[i] = byte(' ' + rng.IntN(96))
			if rng.IntN(8) == 0 {
				b[i] = byte(rng.IntN(128 + rng.IntN(129)))
			}
		}
		var fast, slow [batch]uint64
		high, high2 := marks(b, n, &fast), marksByWords(b, n, &slow)
		anyHigh := bytes.ContainsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
		if fast != slow || (high != 0) != (high2 != 0) || (high != 0) != anyHigh {
			t.Fatalf("%q: %x and %x, high %v and %v, want %v", b, fast, slow, high != 0, high2 != 0, anyHigh)
		}
		for i, ch := range b {
			if slow[i/block]>>(i%block)&1 == 1 != isSpecial(ch) {
				t.Fatalf("byte %#x at %d of %q: marks %x", ch, i, b, slow)
			}
		}
	}
}

func TestBlocksAreUnescapedAlikeByEveryMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		var raw []byte
		for n := (2 + rng.IntN(5)) * block; len(raw) < n; {
			raw = append(raw, [...]string{"x", "some text", `\n`, `\"`, `\\`, `\t`, `\u0041`, strings.Repeat("y", 70)}[rng.IntN(6+rng.IntN(3))]...)
		}
		raw = append(raw, strings.Repeat("z", block)...)
		blocks := len(raw)/block - 1
		fast, slow := make([]byte, len(raw)+block), make([]byte, len(raw)+block)
		read, wrote := unquoteBlocks(fast, raw, blocks)
		read2, wrote2 := unquoteByWords(slow, raw, blocks)
		if read != read2 || string(fast[:wrote]) != string(slow[:wrote2]) || read > len(raw) || wrote > read {
			t.Fatalf("%q: read %d and %d, %q and %q", raw, read, read2, fast[:wrote], slow[:wrote2])
		}
	}
}

// slowBody is Cursor.body byte by byte.
func slowBody(b []byte, i int) (end int, high, escaped bool) {
	c := Cursor{b: b}
	for ; i < len(b) && b[i] != '"'; i++ {
		switch {
		case b[i] < ' ':
			return -1, false, false
		case b[i] == '\\':
			n := c.escape(i)
			if n == 0 {
				return -1, false, false
			}
			escaped = true
			i += n - 1
		}
		high = high || b[i] >= utf8.RuneSelf
	}
	if i == len(b) {
		return -1, false, false
	}
	return i, high, escaped
}

// slowUnquoted is AppendUnquoted byte by byte.
func slowUnquoted(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\':
			dst = append(dst, raw[i])
			i++
		case raw[i+1] == 'u':
			r, n := decodeEscape(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		default:
			dst = append(dst, escapes[raw[i+1]])
			i += 2
		}
	}
	return dst
}

// checkString holds the block-wise reading of a string that begins anywhere in a text to the one byte by byte.
func checkString(t *testing.T, text []byte, start int) {
	t.Helper()
	c := Cursor{b: text}
	end, high, escaped := c.body(start)
	wantEnd, wantHigh, wantEscaped := slowBody(text, start)
	if end != wantEnd || escaped != wantEscaped || wantHigh && !high {
		t.Fatalf("%q from %d: %d %v %v, want %d %v %v", text, start, end, high, escaped, wantEnd, wantHigh, wantEscaped)
	}
	if end < 0 {
		if c.fault.code == "" {
			t.Fatalf("%q from %d: no fault", text, start)
		}
		return
	}
	raw := text[start:end]
	want := slowUnquoted(nil, raw)
	if got := AppendUnquoted([]byte("before"), raw); string(got[6:]) != string(want) || string(got[:6]) != "before" {
		t.Fatalf("%q is %q, want %q", raw, got, want)
	}
}

var pieces = []string{"x", "for (int i = 0; i < n; ++i) ", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude00`, `\ud800`, `\uzzzz`, `\q`, "é", "😀", `"`, "\n", "\xff", strings.Repeat("y", 63), strings.Repeat("z", 200)}

func TestStringsAreReadByBlocksAsByteByByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30_000 {
		var text []byte
		likely := 9 + rng.IntN(len(pieces)-8)
		for range rng.IntN(60) {
			text = append(text, pieces[rng.IntN(likely)%len(pieces)]...)
		}
		for range rng.IntN(30) {
			text = append(text, pieces[rng.IntN(6)]...)
		}
		if rng.IntN(4) > 0 {
			text = append(text, `"`...)
		}
		text = append(text, strings.Repeat("}", rng.IntN(100))...)
		checkString(t, text, rng.IntN(min(len(text)+1, 80)))
	}
}

func FuzzStrings(f *testing.F) {
	for _, s := range pieces {
		f.Add(strings.Repeat("a", 60)+s, 3, 5)
		f.Add(s+s+"b"+s, 40, 70)
	}
	f.Fuzz(func(t *testing.T, s string, times, tail int) {
		text := append(bytes.Repeat([]byte(s), 1+times&15), '"')
		text = append(text, bytes.Repeat([]byte{'}'}, tail&127)...)
		for start := range min(len(text), 4) {
			checkString(t, text, start)
		}
	})
}
