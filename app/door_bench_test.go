package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"octet/engine"
)

// BenchmarkDoor is what BenchmarkComplete is, for 16 KiB of text that come as a chat, through a door that is
// translated, and through one that the engine serves.
func BenchmarkDoor(b *testing.B) {
	const path = "/v1/messages"
	const message = `{"model":"template","stream":false,"max_tokens":16,"system":[{"type":"text","text":"You are.",` +
		`"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"%s"}]}]}`
	line := `template <typename T> auto add(T a, T b) -> T { return a + b; } // \"sum\"\n`
	text := strings.Repeat(line, 16<<10/len(line))
	b.Run("chat", func(b *testing.B) {
		h := benchHandler(b, benchConfig, benchEngine{})
		benchRequests(b, h, "/v1/chat/completions", benchBody(16<<10, false), false)
	})
	b.Run("translated", func(b *testing.B) {
		benchRequests(b, benchHandler(b, benchConfig, benchEngine{}), path, fmt.Appendf(nil, message, text), false)
	})
	b.Run("native", func(b *testing.B) {
		served := strings.ReplaceAll(benchConfig, "blocks: 65536", "blocks: 65536, engine: vllm, doors: [messages]")
		benchRequests(b, benchHandler(b, served, benchMessages{}), path, fmt.Appendf(nil, message, text), false)
	})
}

// benchMessages is benchEngine for Messages.
type benchMessages struct{ benchEngine }

func (benchMessages) Do(context.Context, *engine.Request) (engine.Response, error) {
	return &benchResponse{pieces: [][]byte{[]byte(`{"id":"x","type":"message","role":"assistant","model":"m",` +
		`"content":[{"type":"text","text":"It is a template."}],"stop_reason":"end_turn",` +
		`"usage":{"input_tokens":200,"output_tokens":5}}`)}}, nil
}
