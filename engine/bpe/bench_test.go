package bpe

import (
	"os"
	"strings"
	"testing"
)

// prose is about n bytes of this project's documents and code.
func prose(tb testing.TB, n int) []byte {
	tb.Helper()
	var all []byte
	for _, name := range []string{"../../README.md", "../../scheduler/core.go", "../../gateway/chat.go", "../../config/reference.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, text...)
	}
	for len(all) < n {
		all = append(all, all...)
	}
	return all[:n]
}

func BenchmarkEncode(b *testing.B) {
	fast, _ := small(b)
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
		{"han=64KiB", []byte(strings.Repeat("漢字交混文", 64<<10/15))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			var ids []uint32
			for b.Loop() {
				ids = fast.Encode(ids[:0], c.text, Start)
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
