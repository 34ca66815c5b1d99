package messages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
)

type object = map[string]any

func FuzzChat(f *testing.F) {
	doorstest.FuzzChat(f, Door{},
		`{"max_tokens":1,`+hi+`,"system":[{"type":"text","text":"a"}],"tools":[{"name":"a","input_schema":{}}]}`,
		`{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`,
		`{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"","name":"",`+
			`"input":{}}]}]}`)
}

func FuzzThereAndBack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(thereAndBack)) }

func TestThereAndBack(t *testing.T) { rapid.Check(t, thereAndBack) }

func thereAndBack(t *rapid.T) { doorstest.ThereAndBack(t, Door{}, drawBody(t), back) }

var words = rapid.StringMatching(`[a-z "\\é\n]{0,12}`)

func drawText(t *rapid.T) object { return object{"type": "text", "text": words.Draw(t, "text")} }

func drawBody(t *rapid.T) object {
	in := object{"max_tokens": 7.0, "model": words.Draw(t, "model")}
	if rapid.Bool().Draw(t, "system") {
		in["system"] = []any{drawText(t)}
	}
	var turns []any
	for i := range 2*rapid.IntRange(0, 3).Draw(t, "turns") + 1 {
		turns = append(turns, drawTurn(t, i%2 == 1))
	}
	in["messages"] = turns
	for name, value := range map[string]any{"temperature": 0.5, "top_p": 0.25, "top_k": 3.0, "stream": true,
		"stop_sequences": []any{"a"}, "tool_choice": object{"type": "any"},
		"tools": []any{object{"name": "ls", "description": "d", "input_schema": object{"type": "object"}}},
	} {
		if rapid.Bool().Draw(t, name) {
			in[name] = value
		}
	}
	return in
}

func drawTurn(t *rapid.T, assistant bool) object {
	var blocks []any
	if assistant {
		if rapid.Bool().Draw(t, "thinks") {
			blocks = append(blocks, object{"type": "thinking", "thinking": words.Draw(t, "thought"), "signature": ""})
		}
		for range rapid.IntRange(1, 2).Draw(t, "texts") {
			blocks = append(blocks, drawText(t))
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "calls") {
			blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprint("t", i), "name": "ls",
				"input": object{"a": words.Draw(t, "argument")}})
		}
		return object{"role": "assistant", "content": blocks}
	}
	for range rapid.IntRange(0, 2).Draw(t, "results") {
		blocks = append(blocks, object{"type": "tool_result", "tool_use_id": "t", "content": words.Draw(t, "result")})
	}
	blocks = append(blocks, drawText(t))
	if rapid.Bool().Draw(t, "image") {
		blocks = append(blocks, object{"type": "image",
			"source": object{"type": "base64", "media_type": "image/png", "data": "AA=="}})
	}
	return object{"role": "user", "content": blocks}
}

// back makes a chat completion of the subset the Messages body that says the same. It is the slow, obvious reverse.
func back(chat object) object {
	out := object{"max_tokens": chat["max_tokens"], "model": chat["model"]}
	var turns []any
	for _, m := range chat["messages"].([]any) {
		m := m.(object)
		if m["role"] == "system" {
			out["system"] = blocksOf(m["content"])
			continue
		}
		role, blocks := m["role"], []any{}
		switch role {
		case "tool":
			role = "user"
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": m["tool_call_id"],
				"content": m["content"]})
		case "assistant":
			if thought, ok := m["reasoning_content"]; ok {
				blocks = append(blocks, object{"type": "thinking", "thinking": thought, "signature": ""})
			}
			fallthrough
		default:
			blocks = append(blocks, blocksOf(m["content"])...)
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			f := c.(object)["function"].(object)
			var input any
			_ = json.Unmarshal([]byte(f["arguments"].(string)), &input)
			blocks = append(blocks, object{"type": "tool_use", "id": c.(object)["id"], "name": f["name"],
				"input": input})
		}
		if n := len(turns); n > 0 && turns[n-1].(object)["role"] == role {
			turns[n-1].(object)["content"] = append(turns[n-1].(object)["content"].([]any), blocks...)
			continue
		}
		turns = append(turns, object{"role": role, "content": blocks})
	}
	out["messages"] = turns
	for name, as := range map[string]string{"temperature": "temperature", "top_p": "top_p", "top_k": "top_k",
		"stop": "stop_sequences", "stream": "stream"} {
		if v, ok := chat[name]; ok {
			out[as] = v
		}
	}
	if chat["tool_choice"] == "required" {
		out["tool_choice"] = object{"type": "any"}
	}
	if tools, ok := chat["tools"].([]any); ok {
		f := tools[0].(object)["function"].(object)
		out["tools"] = []any{object{"name": f["name"], "description": f["description"],
			"input_schema": f["parameters"]}}
	}
	return out
}

func blocksOf(content any) (blocks []any) {
	if text, ok := content.(string); ok {
		return []any{object{"type": "text", "text": text}}
	}
	for _, p := range content.([]any) {
		p := p.(object)
		if url, ok := p["image_url"]; ok {
			media, data, _ := strings.Cut(strings.TrimPrefix(url.(object)["url"].(string), "data:"), ";base64,")
			p = object{"type": "image", "source": object{"type": "base64", "media_type": media, "data": data}}
		}
		blocks = append(blocks, p)
	}
	return blocks
}

func FuzzEvents(f *testing.F) {
	doorstest.FuzzEvents(f, func() doors.Answer { return new(Answer) },
		func(stream string) error { return grammar([]byte(stream), nil) },
		chunks(delta2(`"content":"a"`), delta2(`"tool_calls":[{"index":0,"function":{"name":"a"}}]`), finish("stop"),
			usage),
		chunks(delta2(`"reasoning":"a","content":"b","tool_calls":[{"function":{"name":"a","arguments":"{}"}},`+
			`{"index":1,"function":{"name":"a"}}]`)))
}
