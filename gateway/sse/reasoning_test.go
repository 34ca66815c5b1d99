package sse

import (
	"fmt"
	"strings"
	"testing"
)

// Reasoning of choice 0 is told once for each event that brings some, in whatever pieces the stream comes, and says
// whether text of the same event follows.
func TestReasoningIsToldApartFromText(t *testing.T) {
	deltas := []string{
		`"delta":{"role":"assistant","content":""}`,
		`"delta":{"reasoning_content":"a"}`, `"delta":{"reasoning_content":"b\n"}`, `"delta":{"reasoning_content":"c"}`,
		`"delta":{"reasoning":"d","reasoning_content":"d"}`,
		`"delta":{"reasoning":"e","content":"T"}`, `"delta":{"content":"u"}`, `"delta":{"content":"v"}`,
		`"delta":{"reasoning_content":null,"content":"w"}`,
		`"index":1,"delta":{"reasoning_content":"x"}`, `"index":1,"delta":{"reasoning_content":"y"}`,
	}
	var stream strings.Builder
	for _, d := range deltas {
		stream.WriteString(chunkOf(d))
	}
	const want = `a|b\n|c|d|e+T.u.v.w.`
	for size := 1; size < stream.Len(); size += 7 {
		var got strings.Builder
		var s Scanner
		s.Reset(Options{Choices: 2, Text: func(raw []byte) { fmt.Fprintf(&got, "%s.", raw) },
			Reasoning: func(raw []byte, alone bool) {
				end := "+"
				if alone {
					end = "|"
				}
				fmt.Fprintf(&got, "%s%s", raw, end)
			}})
		for rest := stream.String(); rest != ""; {
			n := min(size, len(rest))
			if _, err := s.Feed([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got.String() != want {
			t.Fatalf("in pieces of %d: %s, want %s", size, got.String(), want)
		}
	}
}
