package gateway

import (
	"fmt"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
	"octet/gateway/sse"
)

// nativeEvents are events of text as engines write them: vLLM's, and for Responses also with the number ahead of the
// text, where no event looks like the last.
var nativeEvents = []struct{ door, format string }{
	{"chat", `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1760000000,` +
		`"model":"debug","choices":[{"index":0,"delta":{"content":" t%[1]d"},"logprobs":null,"finish_reason":null}],` +
		`"usage":{"prompt_tokens":9,"total_tokens":2%[1]d,"completion_tokens":1%[1]d}}` + "\n\n"},
	{"messages", "event: content_block_delta\n" + `data: {"type":"content_block_delta","delta":{"type":"text_delta",` +
		`"text":" t%d"},"index":0}` + "\n\n"},
	{"responses", "event: response.output_text.delta\n" + `data: {"content_index":0,"delta":" t%[1]d",` +
		`"item_id":"msg_0123456789abcdef","logprobs":[],"output_index":0,"sequence_number":%[1]d,` +
		`"type":"response.output_text.delta"}` + "\n\n"},
	{"responses/unlike", "event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta",` +
		`"sequence_number":%[1]d,"item_id":"msg_0123456789abcdef","output_index":0,"content_index":0,` +
		`"delta":" t%[1]d","logprobs":[]}` + "\n\n"},
}

// BenchmarkNative is what reading an event costs that passes as it came, beside a chunk of a chat.
func BenchmarkNative(b *testing.B) {
	for _, of := range nativeEvents {
		b.Run("door="+of.door, func(b *testing.B) {
			var events [256][]byte
			for i := range events {
				events[i] = fmt.Appendf(nil, of.format, i)
			}
			var s sse.Scanner
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%len(events) == 0 {
					s.Reset(optionsAt(b, of.door))
				}
				if _, err := s.Feed(events[n%len(events)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func optionsAt(b *testing.B, name string) sse.Options {
	o := sse.Options{Told: true, HideUsage: true}
	if name == "chat" {
		return o
	}
	door := doorOf("/v1/" + name[:min(len(name), len("responses"))])
	body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`
	if name != "messages" {
		body = `{"model":"m","input":"a"}`
	}
	_, answer, err := doorstest.Translate(door, body)
	if err != nil {
		b.Fatal(err)
	}
	o.Dialect = doors.NativeOf(answer)
	return o
}
