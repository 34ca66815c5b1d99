package emulator

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// messageBody is what a request of Messages may say; what it has besides changes nothing, as with vLLM.
type messageBody struct {
	Model       string         `json:"model"`
	MaxTokens   *int           `json:"max_tokens"`
	System      blockList      `json:"system"`
	Messages    []messageTurn  `json:"messages"`
	Stop        []string       `json:"stop_sequences"`
	Stream      bool           `json:"stream"`
	Temperature *float64       `json:"temperature"`
	TopP        *float64       `json:"top_p"`
	Tools       []messageTool  `json:"tools"`
	Choice      *messageChoice `json:"tool_choice"`
	Output      struct {
		Effort string `json:"effort"`
		Format *struct {
			Schema jsontext.Value `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type messageTurn struct {
	Role    string    `json:"role"`
	Content blockList `json:"content"`
}

type messageTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"input_schema"`
}

type messageChoice struct {
	Type   string `json:"type"`
	Name   string `json:"name"`
	Single bool   `json:"disable_parallel_tool_use"`
}

// blockList is a string, or blocks.
type blockList struct {
	text   string
	blocks []messageBlock // nil if it was a string
}

type messageBlock struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Thinking string         `json:"thinking"`
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`
	Result   string         `json:"tool_use_id"`
	Content  blockList      `json:"content"`
	Failed   bool           `json:"is_error"`
	Source   struct {
		Type string `json:"type"`
		URL  string `json:"url"`
		Of   string `json:"media_type"`
		Data string `json:"data"`
	} `json:"source"`
}

// UnmarshalJSON takes a string, or a list of blocks.
func (l *blockList) UnmarshalJSON(raw []byte) error {
	if jsontext.Value(raw).Kind() == '"' {
		return json.Unmarshal(raw, &l.text)
	}
	return json.Unmarshal(raw, &l.blocks)
}

// part is a part of a chat message's content.
func (b *messageBlock) part() map[string]any {
	if b.Type != "image" {
		return map[string]any{"type": "text", "text": b.Text}
	}
	url := b.Source.URL
	if b.Source.Type == "base64" {
		url = "data:" + b.Source.Of + ";base64," + b.Source.Data
	}
	return map[string]any{"type": "image_url", "image_url": map[string]string{"url": url}}
}

// content is a chat message's content.
func (l *blockList) content() any {
	if l.blocks == nil {
		return l.text
	}
	parts := []any{}
	for i := range l.blocks {
		parts = append(parts, l.blocks[i].part())
	}
	return parts
}

// system returns what a message of the system's says, as vLLM's door has it: blocks without a gap, but for what an
// agent tells its provider.
func (l *blockList) system() string {
	said := l.text
	for i := range l.blocks {
		if text := l.blocks[i].Text; !strings.HasPrefix(text, "x-anthropic-billing-header") {
			said += text
		}
	}
	return said
}

// chatOf returns the turns of a chat that a turn is: each of a tool's results is one of its own.
func (t *messageTurn) chatOf() (turns []any) {
	if t.Role == "system" {
		return []any{map[string]any{"role": t.Role, "content": t.Content.system()}}
	}
	if t.Content.blocks == nil {
		return []any{map[string]any{"role": t.Role, "content": t.Content.text}}
	}
	if t.Role == "assistant" {
		return []any{answered(t.Content.blocks)}
	}
	var parts []any
	flush := func() {
		if len(parts) > 0 {
			turns = append(turns, map[string]any{"role": t.Role, "content": parts})
		}
		parts = nil
	}
	for i := range t.Content.blocks {
		b := &t.Content.blocks[i]
		if b.Type != "tool_result" {
			parts = append(parts, b.part())
			continue
		}
		flush()
		content := b.Content.content()
		if text, ok := content.(string); ok && b.Failed {
			content = "Error: " + text
		}
		turns = append(turns, map[string]any{"role": "tool", "tool_call_id": b.Result, "content": content})
	}
	flush()
	return turns
}

// answered is the turn of a chat that the blocks of an answer are.
func answered(blocks []messageBlock) any {
	turn := map[string]any{"role": "assistant"}
	var parts, calls []any
	var thoughts strings.Builder
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case "thinking":
			thoughts.WriteString(b.Thinking)
		case "tool_use":
			calls = append(calls, doorCall{b.ID, "function", doorFunction{b.Name, string(b.Input)}})
		default:
			parts = append(parts, b.part())
		}
	}
	if thoughts.Len() > 0 {
		turn["reasoning_content"] = thoughts.String()
	}
	if len(calls) > 0 {
		turn["tool_calls"] = calls
	}
	switch {
	case len(parts) == 1 && blocks[0].Type == "text":
		turn["content"] = blocks[0].Text
	case len(parts) > 0:
		turn["content"] = parts
	case len(calls) == 0:
		turn["content"] = ""
	}
	return turn
}

// messagesSurface is the surface of Messages.
type messagesSurface struct {
	open  string // the type of the block that is open; "" if none is
	index int
	begun bool
	stop  string
	calls int
}

func (*messagesSurface) chat(body []byte) (any, error) {
	var b messageBody
	if err := decodeBody(strings.NewReader(string(body)), &b); err != nil {
		return nil, err
	}
	turns := []any{}
	if said := b.System.system(); said != "" {
		turns = append(turns, map[string]any{"role": "system", "content": said})
	}
	for i := range b.Messages {
		turns = append(turns, b.Messages[i].chatOf()...)
	}
	chat := map[string]any{"model": b.Model, "messages": turns, "max_tokens": b.MaxTokens, "stream": b.Stream,
		"temperature": b.Temperature, "top_p": b.TopP}
	if b.Stream {
		chat["stream_options"] = map[string]bool{"include_usage": true, "continuous_usage_stats": true}
	}
	if len(b.Stop) > 0 {
		chat["stop"] = b.Stop
	}
	if len(b.Tools) > 0 {
		chat["tools"] = chatTools(b.Tools)
	}
	if b.Choice != nil {
		chat["tool_choice"] = b.Choice.chat()
		chat["parallel_tool_calls"] = !b.Choice.Single
	}
	if b.Output.Effort != "" {
		chat["reasoning_effort"] = b.Output.Effort
	}
	if f := b.Output.Format; f != nil {
		chat["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "output", "schema": f.Schema}}
	}
	return chat, nil
}

func (c *messageChoice) chat() any {
	switch c.Type {
	case "any":
		return "required"
	case "tool":
		return map[string]any{"type": "function", "function": map[string]string{"name": c.Name}}
	}
	return c.Type
}

// chatTools returns tools as chats have them, member by member in the order in which templates show them.
func chatTools(tools []messageTool) (all []any) {
	type function struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		Parameters  jsontext.Value `json:"parameters,omitzero"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	for _, t := range tools {
		all = append(all, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	return all
}
