package stream

import (
	"math"
	"testing"

	"octet/gateway/sse"
)

func TestAUsageIsBelievedAsFarAsItCanBe(t *testing.T) {
	const bounded, open = 4096, 0
	for name, row := range map[string]struct {
		e          Extent
		said, want sse.Usage
	}{
		"ordinary": {ExtentOf(bounded, 8, 1, 1),
			sse.Usage{PromptTokens: 10, CompletionTokens: 8, CachedTokens: 10},
			sse.Usage{PromptTokens: 10, CompletionTokens: 8, CachedTokens: 10}},
		"nonsense": {ExtentOf(bounded, 8, 1, 1),
			sse.Usage{PromptTokens: math.MaxInt, CompletionTokens: 1e15, CachedTokens: 1e15},
			sse.Usage{PromptTokens: 4096, CompletionTokens: 8, CachedTokens: 4096}},
		"several answers": {ExtentOf(bounded, 8, 3, 2), sse.Usage{PromptTokens: 9000, CompletionTokens: 1e15},
			sse.Usage{PromptTokens: 8192, CompletionTokens: 48}},
		"no max_tokens": {ExtentOf(bounded, -1, 1, 1), sse.Usage{CompletionTokens: 1e15},
			sse.Usage{CompletionTokens: 4096}},
		"beyond it": {ExtentOf(bounded, 1e9, 1, 1), sse.Usage{CompletionTokens: 1e15},
			sse.Usage{CompletionTokens: 4096}},
		"no context": {ExtentOf(open, -1, 1, 1), sse.Usage{PromptTokens: 1e15},
			sse.Usage{PromptTokens: longestContext}},
		"below nothing": {ExtentOf(open, 8, 1, 1),
			sse.Usage{PromptTokens: -5, CompletionTokens: -5, CachedTokens: -5}, sse.Usage{}},
		"more than all": {ExtentOf(open, 8, 1, 1), sse.Usage{PromptTokens: 100, CachedTokens: 200},
			sse.Usage{PromptTokens: 100, CachedTokens: 100}},
	} {
		if got := row.e.Believe(row.said); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}
