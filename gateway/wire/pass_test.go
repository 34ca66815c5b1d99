package wire

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func byEveryMeans(t *testing.T, f func(t *testing.T)) {
	eachMeans(func(name string) { t.Run(name, f) })
}

// slowPass is pass byte by byte.
func slowPass(b []byte, i int) (at int, saw seen) {
	for ; i < len(b); i++ {
		switch {
		case b[i] == '\\' && i+1 < len(b) && strings.IndexByte(`"\/bfnrt`, b[i+1]) >= 0:
			if saw |= sawEscape; b[i+1] == '/' {
				saw |= sawLoose
			}
			i++
		case b[i] == '\\':
			r, n := decodeEscape(b[i:])
			if n == 0 || r == utf8.RuneError && !strings.EqualFold(string(b[i:i+6]), `\ufffd`) {
				return i, saw
			}
			saw |= sawEscape | sawLoose
			i += n - 1
		case b[i] == '"' || b[i] < ' ':
			return i, saw
		case b[i] >= utf8.RuneSelf:
			saw |= sawHigh
		}
	}
	return i, saw
}

// checkPass holds pass to slowPass.
func checkPass(t *testing.T, b []byte, i int) {
	t.Helper()
	got, gotSaw := pass(b, i)
	want, wantSaw := slowPass(b, i)
	if got != want || gotSaw != wantSaw {
		t.Fatalf("%q from %d: to %d with %b, want %d with %b", b, i, got, gotSaw, want, wantSaw)
	}
}

// slowBody is Cursor.body byte by byte.
func slowBody(b []byte, i int) (end int, all seen) {
	c := Cursor{b: b}
	for {
		at, saw := slowPass(b, i)
		all |= saw
		if at < len(b) && b[at] == '"' {
			return at, all
		}
		if at == len(b) || b[at] != '\\' {
			return -1, all
		}
		n := c.escape(at)
		if n == 0 {
			return -1, all
		}
		all |= sawEscape | sawLoose
		i = at + n
	}
}

// sprinkle fills b with text and, once in about so many bytes, one that means something or any other.
func sprinkle(rng *rand.Rand, b []byte, often int) {
	const meaning = "\"\\\\\\\\\\\\\\\\nrtbfu/\x00\x1f \x7f\x80\xee\xff"
	for i := range b {
		b[i] = byte(' ' + 1 + rng.IntN(94))
		for b[i] == '"' || b[i] == '\\' {
			b[i]++
		}
		switch rng.IntN(often) {
		case 0:
			b[i] = meaning[rng.IntN(len(meaning))]
		case 1:
			b[i] = byte(rng.IntN(256))
		}
	}
}

// Between two pages that may not be touched, at every length and from every offset of a block.
func TestPassAgreesByEveryMeansAndStaysInBounds(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		page := page(t)
		rng := rand.New(rand.NewPCG(3, 4))
		for n := range 201 {
			for _, often := range []int{2, 5, 20, 100, 1000} {
				for _, b := range [][]byte{page[:n:n], page[len(page)-n:]} {
					sprinkle(rng, b, often)
					for i := 0; i <= min(n, block); i += 1 + rng.IntN(3) {
						checkPass(t, b, i)
					}
				}
			}
		}
		for range 3000 {
			b := page[rng.IntN(block):]
			sprinkle(rng, b, 4+rng.IntN(4000))
			checkPass(t, b, 0)
		}
	})
}

// Four blocks at once begin where they may: at a multiple of 64 when an escape was seen, else anywhere.
func TestPassAgreesWhereverAPieceFallsInALongText(t *testing.T) {
	falling := []string{`\n`, `\"`, `\\`, `\\\\`, `\\\n`, `\\"`, `\n\\\"`, `\b`, `\/`, `\u00e9`, `\ud83d\ude00`,
		`\ud800`, `\q`, `\`, "\\\xee", "\\\xa2", "é", `"`, "\x1f", "\x80",
		"é" + strings.Repeat("a", 62) + `"`}
	byEveryMeans(t, func(t *testing.T) {
		page := page(t)
		for _, head := range []string{"", `\t`, `\t\\`, `\t\u00e9`} {
			for _, offset := range []int{0, 1, 30, 63} {
				text := page[offset : offset+640+offset]
				for at := len(head); at < 450; at++ {
					for _, piece := range falling {
						copy(text, head)
						plain(text[len(head):])
						copy(text[at:], piece)
						checkPass(t, text, 0)
					}
				}
			}
		}
	})
}

func plain(b []byte) {
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
}

// inside makes the inside of a valid string of about so many bytes out of pieces.
func inside(rng *rand.Rand, size int) (raw []byte) {
	kinds := 1 + rng.IntN(len(wholes))
	for len(raw) < size {
		piece := wholes[rng.IntN(kinds)]
		if len(raw)+len(piece) > size {
			piece = "z"
		}
		raw = append(raw, piece...)
	}
	return raw
}

var wholes = []string{"some text ", `\n`, `\"`, `\\`, `\\\\\\`, `x`, strings.Repeat("y", 70), "é", `\t`, `\/`,
	`\b\f\r`, `\u0041`, `\ud83d\ude00`}

func TestTextIsUnquotedAlikeByEveryMeansAndInBounds(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		from, to := page(t), page(t)
		rng := rand.New(rand.NewPCG(7, 8))
		for n := range 400 {
			for range 20 {
				raw := inside(rng, n)
				want := slowUnquoted(nil, raw)
				for _, src := range [][]byte{from[:n:n], from[len(from)-n:]} {
					copy(src, raw)
					if got := AppendUnquoted(nil, src); string(got) != string(want) {
						t.Fatalf("%q is %q, want %q", src, got, want)
					}
					dst := to[len(to)-n-block:]
					read, wrote := unquote(dst, src)
					if read < n && (src[read] != '\\' || src[read+1] != 'u') ||
						string(dst[:wrote]) != string(slowUnquoted(nil, src[:read])) {
						t.Fatalf("%q: %d read, %q written", src, read, dst[:wrote])
					}
				}
			}
		}
	})
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

// checkString holds the reading of a string that begins anywhere in a text to the one byte by byte.
func checkString(t *testing.T, text []byte, start int) {
	t.Helper()
	c := Cursor{b: text}
	end, saw := c.body(start)
	wantEnd, wantSaw := slowBody(text, start)
	if end != wantEnd || end >= 0 && saw != wantSaw {
		t.Fatalf("%q from %d: %d %b, want %d %b", text, start, end, saw, wantEnd, wantSaw)
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
	if !ValidQuoted(raw) || ValidQuoted(text[start:end+1]) {
		t.Fatalf("%q: ValidQuoted is %v, and %v with its quote", raw, ValidQuoted(raw), ValidQuoted(text[start:end+1]))
	}
}

var pieces = []string{"x", "for (int i = 0; i < n; ++i) ", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude00`, `\ud800`,
	`\uzzzz`, `\q`, "é", "😀", `"`, "\n", "\xff", strings.Repeat("y", 63), strings.Repeat("z", 200)}

func TestStringsAreReadByEveryMeansAsByteByByte(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
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
	})
}

func FuzzStrings(f *testing.F) {
	for _, s := range pieces {
		f.Add(strings.Repeat("a", 60)+s, 3, 5)
		f.Add(s+s+"b"+s, 40, 70)
	}
	f.Fuzz(func(t *testing.T, s string, times, tail int) {
		text := append(bytes.Repeat([]byte(s), 1+times&15), '"')
		text = append(text, bytes.Repeat([]byte{'}'}, tail&127)...)
		eachMeans(func(string) {
			for start := range min(len(text), 4) {
				checkString(t, text, start)
			}
		})
	})
}
