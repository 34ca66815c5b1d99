package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAPlainRunEndsAtEverySpecialByteWhereverItStands(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		for _, size := range []int{0, 1, 7, 8, 9, 31, 40, 128, 198} {
			for ch := range 256 {
				for at := range size {
					b := bytes.Repeat([]byte{'x'}, size)
					b[at] = byte(ch)
					checkPass(t, b, 0)
				}
			}
		}
	})
}

// What stands behind a backslash is judged exactly, wherever it stands.
func TestEveryLetterOfAnEscapeIsJudgedWhereverItStands(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		for ch := range 256 {
			for at := range 140 {
				b := bytes.Repeat([]byte{'x'}, 150)
				b[at], b[at+1] = '\\', byte(ch)
				checkPass(t, b, 0)
			}
		}
	})
}

// Every \uXXXX is judged as one rune, wherever it stands and whatever one byte of it is.
func TestHexadecimalEscapesAreJudgedWhereverTheyStand(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		for _, good := range []string{`\u0041`, `\uD7ff`, `\ud800`, `\uDBFF`, `\udc00`, `\ue000`, `\uFFFD`, `\uffff`,
			`\u00e9\u0301`, `\ud83d\ude00`, `\\u0041`} {
			for at := range 140 {
				b := []byte(strings.Repeat("x", at) + good + strings.Repeat("y", 140-at))
				checkPass(t, b, 0)
				checkPass(t, b[:at+len(good)], 0)
				if at%3 == 0 {
					checkAround(t, b, at, len(good))
				}
			}
		}
	})
}

func TestSurrogatesAreJudgedByTwos(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		halves := []string{`\ud7FF`, `\ud800`, `\uD9ab`, `\udAff`, `\udbff`, `\uDBFF`, `\udc00`, `\uDcff`, `\udd00`,
			`\uDfff`, `\ue000`, `\u00d8`, `\n`, `x`}
		for _, first := range halves {
			for _, second := range halves {
				for _, at := range []int{0, 10, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63} {
					checkPass(t, []byte(strings.Repeat("x", at)+first+second+second+first+strings.Repeat("y", 80)), 0)
				}
			}
		}
	})
}

// checkAround replaces each byte of an escape by others, and cuts it.
func checkAround(t *testing.T, b []byte, at, n int) {
	t.Helper()
	for k := range n {
		was := b[at+k]
		for _, ch := range []byte("\x00\x1f\"/09:@AFG\\\\`afgu\x7f\x80\xb0\xe1\xff") {
			b[at+k] = ch
			checkPass(t, b, 0)
			checkString(t, append(b[:len(b):len(b)], '"'), 0)
		}
		b[at+k] = was
		checkPass(t, b[:at+k], 0)
	}
}

func TestInvalidUTF8IsFoundAnywhereInALongString(t *testing.T) {
	var r Request
	for at := range 400 {
		body := []byte(`{"prompt":"` + strings.Repeat("x", 400) + `"}`)
		body[len(`{"prompt":"`)+at] = 0x80
		if e := asError(t, Parse(Completion, body, Limits{}, &r)); e.Code != CodeInvalidUTF8 {
			t.Fatalf("at %d: %v", at, e)
		}
	}
}

func TestUnquotingAgreesWithADecoder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bits := []string{"a", "é", "😀", `\n`, `\t`, `\b`, `\f`, `\r`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\uD83D`,
		`\ude00`, `\ud83d\ude00`, `\uFFFD`, `\u0000`, strings.Repeat("z", 150)}
	for range 1500 {
		var raw strings.Builder
		for range rng.IntN(8) {
			raw.WriteString(bits[rng.IntN(len(bits))])
		}
		var want string
		if err := json.Unmarshal([]byte(`"`+raw.String()+`"`), &want); err != nil {
			t.Fatal(err)
		}
		got := AppendUnquoted(nil, []byte(raw.String()))
		if string(got) != want || len(got) > raw.Len() || !ValidQuoted([]byte(raw.String())) {
			t.Fatalf("%s: %q, the decoder gives %q", raw.String(), got, want)
		}
	}
	for _, raw := range []string{`"`, `a"b`, `\`, `\x`, `\u12`, "\n", "\x1f"} {
		if ValidQuoted([]byte(raw)) {
			t.Errorf("%q passes for the inside of a string", raw)
		}
	}
}

func TestAShortTextIsValidWhereNothingInItIsSpecial(t *testing.T) {
	for n := range 20 {
		for ch := range 256 {
			for at := range n {
				raw := bytes.Repeat([]byte{'x'}, n)
				raw[at] = byte(ch)
				if end, _ := slowPass(raw, 0); ValidQuoted(raw) != (end == n) {
					t.Fatalf("%q: %v", raw, ValidQuoted(raw))
				}
			}
		}
	}
}

// Text is unescaped once into one buffer that never moves: what was handed out stays where it is.
func TestTextIsUnescapedOnceAndStaysInPlace(t *testing.T) {
	var r Request
	for _, n := range []int{1, 100} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"text","text":"\n%d"},{"type":"text","text":"plain"}]}`,
				i)
		}
		body := []byte(`{"messages":[{"role":"us\u0065r","content":"\t"}` + b.String() + `]}`)
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			t.Fatal(err)
		}
		first := r.Turns(nil)
		used := len(r.p.arena)
		second := r.Turns(nil)
		for i := range first {
			if &first[i].Text[0] != &second[i].Text[0] || len(r.p.arena) != used || cap(r.p.arena) < len(body) {
				t.Fatalf("text %d moved: %d bytes of %d, then %d", i, used, cap(r.p.arena), len(r.p.arena))
			}
		}
	}
}

func TestACursorTakesAnEnginesLooseText(t *testing.T) {
	c := NewCursor([]byte("{\"a\":\"\xff\\ud800\",\"a\":[1, 2.5]}"), 4)
	names := 0
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		names += len(name)
		c.Skip()
	}
	if names != 2 || !c.End() {
		t.Errorf("%d names, end %v", names, c.End())
	}
	if Valid([]byte("\"\xff\""), 4) || Valid([]byte(`{"a":1,"a":1}`), 4) || Valid([]byte(`[[]]`), 1) ||
		!Valid([]byte(` [[]] `), 2) {
		t.Error("Valid is not strict")
	}
	if !utf8.Valid(AppendUnquoted(nil, []byte(`\ud800`))) {
		t.Error("a lone surrogate is not replaced")
	}
}

func TestFourDigitsAreReadInEitherCase(t *testing.T) {
	for r := range uint32(0x10000) {
		for _, format := range []string{"%04x", "%04X"} {
			if got := fourDigits(binary.LittleEndian.Uint32(fmt.Appendf(nil, format, r))); got != r {
				t.Fatalf("%#x is read as %#x", r, got)
			}
		}
		raw := fmt.Appendf(nil, `a\u%04xb`, r)
		if got, want := AppendUnquoted(nil, raw), slowUnquoted(nil, raw); !bytes.Equal(got, want) {
			t.Fatalf("%s is %q, want %q", raw, got, want)
		}
	}
}
