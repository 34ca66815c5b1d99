package wire

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// edges are runes and other bytes at the limits of what is valid.
var edges = []string{"a", "\x7f", "é", "\u0080", "\u07ff", "\u0800", "€", "\ud7ff", "\ue000", "\uffff", "\U00010000",
	"😀", "\U0010ffff",
	"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xdf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe0\xa0", "\xed\xa0\x80",
	"\xed\xbf\xbf", "\xef\xbf",
	"\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf4\x8f\xbf", "\xf5\x80\x80\x80",
	"\xf8\x88\x80\x80\x80", "\xff", "\xfe"}

const sound = 13 // edges that are valid

func TestUTF8IsJudgedAlikeByEveryMeansAndInBounds(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		page := page(t)
		rng := rand.New(rand.NewPCG(9, 10))
		check := func(text []byte) {
			t.Helper()
			for _, b := range [][]byte{page[:len(text):len(text)], page[len(page)-len(text):]} {
				copy(b, text)
				if got, want := validUTF8(b), utf8.Valid(b); got != want {
					t.Fatalf("%q: %v, want %v", b, got, want)
				}
			}
		}
		for size := range 300 {
			for _, piece := range edges { // one wherever it stands, among ASCII and among others
				for _, around := range []string{"x", "é", "語", "😀"} {
					at := rng.IntN(size + 1)
					check([]byte(strings.Repeat(around, at) + piece + strings.Repeat(around, size-at)))
					check([]byte(strings.Repeat(around, size) + piece))
				}
			}
			var text []byte
			for len(text) < size {
				text = append(text, edges[rng.IntN(sound)]...)
			}
			check(text)
			if size > 0 {
				check(text[:size])
				check(text[1:])
				text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
				check(text)
			}
		}
	})
}

func TestEveryTwoBytesInARowAreJudged(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		for first := range 256 {
			for second := range 256 {
				for _, tail := range []string{"x", "\x80", "\x80\x80", "\xbf\xbf"} {
					b := slicesOf(first, second, tail)
					if got, want := validUTF8(b), utf8.Valid(b); got != want {
						t.Fatalf("%x %x %q: %v, want %v", first, second, tail, got, want)
					}
				}
			}
		}
	})
}

// slicesOf is ASCII on both sides of two bytes and a tail.
func slicesOf(first, second int, tail string) []byte {
	b := bytes.Repeat([]byte{'x'}, 160)
	b[90], b[91] = byte(first), byte(second)
	copy(b[92:], tail)
	return b
}

func FuzzUTF8(f *testing.F) {
	for _, piece := range edges {
		f.Add(piece, 70, 70)
		f.Add("語"+piece+"é", 30, 3)
	}
	f.Fuzz(func(t *testing.T, s string, before, times int) {
		b := append(bytes.Repeat([]byte{'x'}, before&127), strings.Repeat(s, 1+times&31)...)
		for _, b := range [][]byte{b, append(b[:len(b):len(b)], strings.Repeat("z", 80)...)} {
			eachMeans(func(name string) {
				if got, want := validUTF8(b), utf8.Valid(b); got != want {
					t.Fatalf("%q by %s: %v, want %v", b, name, got, want)
				}
			})
		}
	})
}
