package emulator

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responseBody is what a request of Responses may say; what it has besides changes nothing.
type responseBody struct {
	Model        string         `json:"model"`
	Input        itemList       `json:"input"`
	Instructions *string        `json:"instructions"`
	Most         *int           `json:"max_output_tokens"`
	Stream       bool           `json:"stream"`
	Store        *bool          `json:"store"`
	Temperature  *float64       `json:"temperature"`
	TopP         *float64       `json:"top_p"`
	Priority     int            `json:"priority"`
	Salt         string         `json:"cache_salt"`
	Tools        []responseTool `json:"tools"`
	Choice       jsontext.Value `json:"tool_choice"`
	Parallel     *bool          `json:"parallel_tool_calls"`
	Reasoning    struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Text struct {
		Format jsontext.Value `json:"format"`
	} `json:"text"`
}

type responseTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
}

// itemList is a string, which is what the user says, or items.
type itemList []responseItem

type responseItem struct {
	Type      string      `json:"type"`
	Role      string      `json:"role"`
	Content   contentList `json:"content"`
	CallID    string      `json:"call_id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
	Output    contentList `json:"output"`
}

// UnmarshalJSON takes a string, or a list of items.
func (l *itemList) UnmarshalJSON(raw []byte) error {
	if jsontext.Value(raw).Kind() != '"' {
		return json.Unmarshal(raw, (*[]responseItem)(l))
	}
	*l = []responseItem{{Role: "user"}}
	return json.Unmarshal(raw, &(*l)[0].Content.text)
}

// contentList is a string, or parts.
type contentList struct {
	text  string
	parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image string `json:"image_url"`
	}
}

// UnmarshalJSON takes a string, null, or a list of parts.
func (l *contentList) UnmarshalJSON(raw []byte) error {
	if jsontext.Value(raw).Kind() == '[' {
		return json.Unmarshal(raw, &l.parts)
	}
	return json.Unmarshal(raw, &l.text)
}

// content is a chat message's content.
func (l *contentList) content() any {
	if l.parts == nil {
		return l.text
	}
	parts := []any{}
	for _, p := range l.parts {
		if p.Type == "input_image" {
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": p.Image}})
			continue
		}
		parts = append(parts, map[string]string{"type": "text", "text": p.Text})
	}
	return parts
}

// plain is the text of all parts.
func (l *contentList) plain() string {
	text := l.text
	for _, p := range l.parts {
		text += p.Text
	}
	return text
}

// turnsOf returns the turns of a chat that items are. Reasoning, text and calls that follow each other are one.
func turnsOf(items []responseItem) (turns []any) {
	var answer map[string]any
	open := func() map[string]any {
		if answer == nil {
			answer = map[string]any{"role": "assistant"}
			turns = append(turns, answer)
		}
		return answer
	}
	for i := range items {
		switch it := &items[i]; {
		case it.Type == "reasoning":
			open()["reasoning_content"] = it.Content.plain()
		case it.Type == "function_call":
			calls, _ := open()["tool_calls"].([]any)
			answer["tool_calls"] = append(calls, doorCall{it.CallID, "function", doorFunction{it.Name, it.Arguments}})
		case it.Role == "assistant" && answer != nil && answer["content"] == nil:
			answer["content"] = it.Content.content()
		case it.Role == "assistant":
			answer = nil
			open()["content"] = it.Content.content()
		case it.Type == "function_call_output":
			answer = nil
			turns = append(turns, map[string]any{"role": "tool", "tool_call_id": it.CallID,
				"content": it.Output.content()})
		default:
			answer = nil
			turns = append(turns, map[string]any{"role": it.Role, "content": it.Content.content()})
		}
	}
	return turns
}

func (s *responsesSurface) chat(body []byte) (any, error) {
	var b responseBody
	if err := decodeBody(strings.NewReader(string(body)), &b); err != nil {
		return nil, err
	}
	if b.Store != nil && *b.Store {
		return nil, badRequest("store", "this engine keeps no responses: `store` must be false.")
	}
	s.asked = &b
	turns := []any{}
	if b.Instructions != nil {
		turns = append(turns, map[string]any{"role": "system", "content": *b.Instructions})
	}
	chat := map[string]any{"model": b.Model, "messages": append(turns, turnsOf(b.Input)...), "max_tokens": b.Most,
		"stream": b.Stream, "temperature": b.Temperature, "top_p": b.TopP, "priority": b.Priority,
		"cache_salt": b.Salt, "reasoning_effort": b.Reasoning.Effort}
	if b.Stream {
		chat["stream_options"] = map[string]bool{"include_usage": true}
	}
	if len(b.Tools) > 0 {
		var tools []messageTool
		for _, t := range b.Tools {
			tools = append(tools, messageTool{t.Name, t.Description, t.Parameters})
		}
		chat["tools"] = chatTools(tools)
	}
	if b.Choice != nil {
		chat["tool_choice"] = chatChoice(b.Choice)
	}
	if b.Parallel != nil {
		chat["parallel_tool_calls"] = *b.Parallel
	}
	if format := chatFormat(b.Text.Format); format != nil {
		chat["response_format"] = format
	}
	return chat, nil
}

// chatChoice returns which tool is to be called, as chats say it.
func chatChoice(choice jsontext.Value) any {
	var named struct {
		Name string `json:"name"`
	}
	if choice.Kind() == '{' && json.Unmarshal(choice, &named) == nil {
		return map[string]any{"type": "function", "function": map[string]string{"name": named.Name}}
	}
	return choice
}

// chatFormat returns what an answer must look like, as chats say it; nil for text.
func chatFormat(format jsontext.Value) any {
	var f struct {
		Type   string         `json:"type"`
		Name   string         `json:"name"`
		Schema jsontext.Value `json:"schema"`
	}
	if format == nil || json.Unmarshal(format, &f) != nil || f.Type == "text" || f.Type == "" {
		return nil
	}
	if f.Type != "json_schema" {
		return map[string]string{"type": f.Type}
	}
	return map[string]any{"type": f.Type, "json_schema": map[string]any{"name": f.Name, "schema": f.Schema}}
}
