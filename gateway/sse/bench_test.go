package sse

import (
	"fmt"
	"strings"
	"testing"
)

// event300 is a chunk of 300 bytes as vLLM writes it; n makes no two neighbours alike in the text.
//
//nolint:lll // raw text that cannot be broken
func event300(n int) string {
	e := fmt.Sprintf(
		`data: {"id":"chatcmpl-0a1b2c3d4e5f60718293a4b5c6d7e8f9","object":"chat.completion.chunk","created":1795218989,`+
			`"model":"debug","choices":[{"index":0,"delta":{"content":" tok%03d"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":null,"system_fingerprint":"vllm-0"`, n%1000)
	return e + strings.Repeat(" ", 300-len(e)-3) + "}\n\n"
}

// BenchmarkFeed gives ns per event: alike chunks differ in their text only, unlike ones have to be walked every time.
func BenchmarkFeed(b *testing.B) {
	const events = 260
	streams := map[string]*strings.Builder{"alike": {}, "unlike": {}}
	for n := range events {
		streams["alike"].WriteString(event300(n))
		streams["unlike"].WriteString(strings.Replace(event300(n), "1795218989", fmt.Sprint(1795218000+n), 1))
	}
	for _, kind := range []string{"alike", "unlike"} {
		stream := []byte(streams[kind].String())
		for _, size := range []int{300, 4096} {
			b.Run(fmt.Sprintf("%s/piece=%d", kind, size), func(b *testing.B) { benchmarkFeed(b, stream, size, events) })
		}
	}
}

func benchmarkFeed(b *testing.B, stream []byte, size, events int) {
	var s Scanner
	b.ReportAllocs()
	for b.Loop() {
		s.Reset(Options{})
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := s.Feed(rest[:min(size, len(rest))]); err != nil {
				b.Fatal(err)
			}
		}
		if s.Tokens() != events {
			b.Fatal(s.Tokens())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
}

func BenchmarkScanUnary(b *testing.B) {
	body := recorded(b, "vllm_like_pd_decode.json")
	var a Answers
	for name, scan := range map[string]func([]byte) (Unary, error){"walked": ScanUnary, "alike": a.Scan} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scan(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
