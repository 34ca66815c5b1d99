package bpe

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// prose is n bytes of documents and code, at most 64 KiB.
func prose(tb testing.TB, n int) []byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/prose.txt")
	if err != nil {
		tb.Fatal(err)
	}
	return text[:n]
}

// hundredThousand is a tokenizer with a vocabulary as large as models have.
func hundredThousand(tb testing.TB) *Tokenizer {
	tb.Helper()
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := Parse(tiktokenFile(tb, codec, 100256, strings.Replace(smallRegex, `\p{N}|`, `\p{N}{1,3}|`, 1)))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func BenchmarkEncode(b *testing.B) {
	few, _ := small(b)
	encodeAll(b, "vocabulary=small", few)
	encodeAll(b, "vocabulary=100k", hundredThousand(b))
}

func encodeAll(b *testing.B, name string, t *Tokenizer) {
	letters, rng := make([]byte, 1<<20), rand.New(rand.NewPCG(1, 2))
	for i := range letters {
		letters[i] = byte('a' + rng.IntN(26))
	}
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"text=64KiB", prose(b, 64<<10)},
		{"chat=4KiB", prose(b, 4<<10)},
		{"one-letter=1MiB", []byte(strings.Repeat("a", 1<<20))},
		{"one-sign=1MiB", []byte(strings.Repeat("=", 1<<20))},
		{"white=1MiB", []byte(strings.Repeat(" ", 1<<20))},
		{"digits=1MiB", []byte(strings.Repeat("1", 1<<20))},
		{"any-letters=1MiB", letters},
		{"han=64KiB", []byte(strings.Repeat("漢字交混文", 64<<10/15))},
	} {
		b.Run(name+"/"+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			var ids []uint32
			for b.Loop() {
				ids = t.Encode(ids[:0], c.text, Start)
			}
			b.ReportMetric(float64(len(c.text))/float64(len(ids)), "bytes/token")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := os.ReadFile(smallFile)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
