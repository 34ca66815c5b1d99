package gateway

import (
	"fmt"
	"strings"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
)

// agentBody is a request of about size bytes to a door, as an agent sends it in the midst of its loop: instructions,
// four tools, and turns of a call and what it returned.
func agentBody(door string, size int) []byte {
	const code = `for _, r := range replicas {\n\tif r.Idle() { return r, nil } // \"first\" of them\n}\n`
	const schema = `{"type":"object","properties":{"path":{"type":"string","description":"from the root"},` +
		`"from":{"type":"integer"}},"required":["path"]}`
	frames := map[string]struct{ frame, tool, turn string }{
		"messages": {
			`{"model":"debug","max_tokens":256,"stream":true,"system":[{"type":"text","text":"You are an agent.",` +
				`"cache_control":{"type":"ephemeral"}}],"tools":[%s],"messages":[{"role":"user","content":"why?"}%s]}`,
			`{"name":"tool_%d","description":"Reads lines of a file.","input_schema":` + schema + `}`,
			`,{"role":"assistant","content":[{"type":"text","text":"I read it."},{"type":"tool_use","id":"t1",` +
				`"name":"tool_1","input":{"path":"routing/pick.go","from":1}}]},{"role":"user","content":[{` +
				`"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"%s"}]}]}`},
		"responses": {
			`{"model":"debug","max_output_tokens":256,"stream":true,"store":false,"instructions":"You are an agent.",` +
				`"tools":[%s],"input":[{"role":"user","content":"why?"}%s]}`,
			`{"type":"function","name":"tool_%d","description":"Reads lines of a file.","parameters":` + schema + `}`,
			`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read it."}]},` +
				`{"type":"function_call","call_id":"t1","name":"tool_1",` +
				`"arguments":"{\"path\":\"routing/pick.go\",\"from\":1}"},` +
				`{"type":"function_call_output","call_id":"t1","output":"%s"}`},
	}
	f := frames[door]
	tools := make([]string, min(4, size>>10))
	for i := range tools {
		tools[i] = fmt.Sprintf(f.tool, i)
	}
	list := strings.Join(tools, ",")
	turns := max(1, (size-len(f.frame)-len(list))/1500)
	said := strings.Repeat(code, max(1, (size-len(f.frame)-len(list)-turns*len(f.turn))/turns/len(code)))
	return fmt.Appendf(nil, f.frame, list, strings.Repeat(fmt.Sprintf(f.turn, said), turns))
}

// BenchmarkTranslate is what a door costs: a request made a chat completion, and an event of a stream.
func BenchmarkTranslate(b *testing.B) {
	for _, name := range []string{"messages", "responses"} {
		door := doorOf("/v1/" + name)
		for _, size := range []int{1, 16} {
			b.Run(fmt.Sprintf("door=%s/request/KiB=%d", name, size), func(b *testing.B) {
				translateRequest(b, door, agentBody(name, size<<10))
			})
		}
		b.Run(fmt.Sprintf("door=%s/event", name), func(b *testing.B) {
			translateEvents(b, door, agentBody(name, 1<<10))
		})
	}
}

func translateRequest(b *testing.B, door doors.Door, body []byte) {
	var chat []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		out, err := door.Chat(chat[:0], body, 64)
		if err != nil {
			b.Fatal(err)
		}
		chat = out.Body
	}
}

// eventsOfStream is how many events of text a stream of the benchmark has.
const eventsOfStream = 256

// translateEvents translates streams of text, whole.
func translateEvents(b *testing.B, door doors.Door, body []byte) {
	event := []byte(`data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1760000000,` +
		`"model":"debug","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}` +
		"\n\n")
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%eventsOfStream == 0 {
			b.StopTimer()
			_, answer, err := doorstest.Translate(door, string(body))
			if err != nil {
				b.Fatal(err)
			}
			benchAnswer = answer
			b.StartTimer()
		}
		if _, err := benchAnswer.Events(event); err != nil {
			b.Fatal(err)
		}
	}
}

var benchAnswer doors.Answer
