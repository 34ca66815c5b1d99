package wire

import (
	"fmt"
	"strings"
	"testing"
)

// chatBody is a chat request of about size bytes: code, as it comes, in the last message.
func chatBody(size int) []byte {
	const line = `for (auto it = std::begin(v); it != std::end(v); ++it) { sum += *it; } // \"running\" total\n`
	head := `{"model":"octet","stream":true,"stream_options":{"include_usage":true},"temperature":0.2,"max_tokens":256,` +
		`"messages":[{"role":"system","content":"You are a C++ expert."},{"role":"user","content":"`
	tail := `"}]}`
	n := max(0, size-len(head)-len(tail)) / len(line)
	return []byte(head + strings.Repeat(line, n) + tail)
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{1, 16, 64} {
		body := chatBody(size << 10)
		b.Run(fmt.Sprintf("KiB=%d", size), func(b *testing.B) {
			var r Request
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Parse(Chat, body, Limits{}, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParsePlainText(b *testing.B) {
	body := []byte(`{"model":"octet","messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 64<<10/12) + `"}]}`)
	var r Request
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseTokenPrompt(b *testing.B) {
	body := []byte(`{"model":"octet","prompt":[1` + strings.Repeat(",12345", 10_000) + `]}`)
	var r Request
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(Completion, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTurns(b *testing.B) {
	body := chatBody(64 << 10)
	var r Request
	var turns []Turn
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
		turns = r.Turns(turns[:0])
	}
}

func BenchmarkSplice(b *testing.B) {
	body := chatBody(64 << 10)
	var r Request
	if err := Parse(Chat, body, Limits{}, &r); err != nil {
		b.Fatal(err)
	}
	edits := []Edit{{"model", []byte(`"debug"`)}, {"priority", []byte("-3")}}
	var segments [][]byte
	b.ReportAllocs()
	for b.Loop() {
		r.pieces = r.pieces[:0]
		var err error
		if segments, err = r.Splice(edits, segments[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
