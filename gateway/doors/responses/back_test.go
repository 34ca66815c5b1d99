package responses

import (
	"testing"

	"pgregory.net/rapid"

	"octet/gateway/doors/doorstest"
)

type object = map[string]any

func FuzzThereAndBack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(thereAndBack)) }

func TestThereAndBack(t *testing.T) { rapid.Check(t, thereAndBack) }

func thereAndBack(t *rapid.T) { doorstest.ThereAndBack(t, Door{}, drawBody(t), back) }

var words = rapid.StringMatching(`[a-z "\\é\n]{1,12}`)

func drawBody(t *rapid.T) object {
	in := object{"model": words.Draw(t, "model")}
	if rapid.Bool().Draw(t, "instructed") {
		in["instructions"] = words.Draw(t, "instructions")
	}
	items := []any{object{"role": "user", "content": words.Draw(t, "text")}}
	for range rapid.IntRange(0, 3).Draw(t, "turns") {
		if rapid.Bool().Draw(t, "thinks") {
			items = append(items, object{"type": "reasoning", "summary": []any{},
				"content": []any{object{"type": "reasoning_text", "text": words.Draw(t, "thought")}}})
		}
		items = append(items, object{"role": "assistant",
			"content": []any{object{"type": "output_text", "text": words.Draw(t, "answer")}}})
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			items = append(items, object{"type": "function_call", "call_id": words.Draw(t, "id"), "name": "ls",
				"arguments": words.Draw(t, "arguments")})
		}
		items = append(items, object{"type": "function_call_output", "call_id": words.Draw(t, "id"),
			"output": words.Draw(t, "result")})
	}
	in["input"] = append(items, object{"role": "user",
		"content": []any{object{"type": "input_text", "text": words.Draw(t, "last")}}})
	for name, value := range map[string]any{"temperature": 0.5, "max_output_tokens": 9.0, "stream": true, "user": "u",
		"tools": []any{object{"type": "function", "name": "ls", "parameters": object{"type": "object"}}},
	} {
		if rapid.Bool().Draw(t, name) {
			in[name] = value
		}
	}
	return in
}

// back makes a chat completion of the subset the Responses body that says the same. It is the slow, obvious reverse.
func back(chat object) object {
	out, items := object{"model": chat["model"]}, []any{}
	for _, m := range chat["messages"].([]any) {
		m := m.(object)
		role := m["role"]
		switch role {
		case "system":
			out["instructions"] = m["content"]
			continue
		case "tool":
			items = append(items, object{"type": "function_call_output", "call_id": m["tool_call_id"],
				"output": m["content"]})
			continue
		}
		if thought, ok := m["reasoning_content"]; ok {
			items = append(items, object{"type": "reasoning", "summary": []any{},
				"content": []any{object{"type": "reasoning_text", "text": thought}}})
		}
		if parts, ok := m["content"].([]any); ok {
			for _, p := range parts {
				p.(object)["type"] = map[any]string{"user": "input_text", "assistant": "output_text"}[role]
			}
		}
		items = append(items, object{"role": role, "content": m["content"]})
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			f := c.(object)["function"].(object)
			items = append(items, object{"type": "function_call", "call_id": c.(object)["id"], "name": f["name"],
				"arguments": f["arguments"]})
		}
	}
	out["input"] = items
	for name, as := range map[string]string{"temperature": "temperature", "max_tokens": "max_output_tokens",
		"stream": "stream", "user": "user"} {
		if v, ok := chat[name]; ok {
			out[as] = v
		}
	}
	if tools, ok := chat["tools"].([]any); ok {
		f := tools[0].(object)["function"].(object)
		out["tools"] = []any{object{"type": "function", "name": f["name"], "parameters": f["parameters"]}}
	}
	return out
}
