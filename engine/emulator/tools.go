package emulator

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
	"octet/engine/chattemplate"
)

// called is one call of a tool in an assistant's message, as the template shows it.
type called engine.Call

// UnmarshalJSON takes a function's call, whose arguments are a string of JSON or a value, and any other value as it is.
func (c *called) UnmarshalJSON(raw []byte) error {
	var given struct {
		Function struct {
			Name      jsontext.Value `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		} `json:"function"`
	}
	f := &given.Function
	if err := json.Unmarshal(raw, &given); err != nil || f.Name.Kind() != '"' {
		c.Arguments = compact(raw)
		return nil //nolint:nilerr // it is shown as it came
	}
	c.Name = compact(f.Name)
	if f.Arguments.Kind() != '"' {
		c.Arguments = compact(f.Arguments)
		return nil
	}
	return json.Unmarshal(f.Arguments, &c.Arguments)
}

// compact is a value without white space, its strings with as few escapes as there can be.
func compact(raw jsontext.Value) string {
	v := raw.Clone()
	if len(v) == 0 {
		return ""
	}
	if err := v.Format(jsontext.PreserveRawStrings(false), jsontext.Multiline(false), jsontext.SpaceAfterColon(false),
		jsontext.SpaceAfterComma(false)); err != nil {
		return string(raw)
	}
	return string(v)
}

// text is what the template shows of a message: its content, and its calls.
func (t *turn) text() string {
	text := []byte(t.Content)
	for _, c := range t.Calls {
		text = engine.AppendCall(text, engine.Call(c))
	}
	return string(text)
}

// showTools adds tools to the system's message, or a message of the system's with nothing else, whatever the
// tool_choice, as vLLM does.
func showTools(messages []engine.Message, tools jsontext.Value) []engine.Message {
	list := compact(tools)
	if len(list) < len("[{}]") || list[0] != '[' {
		return messages
	}
	if len(messages) == 0 || messages[0].Role != "system" && messages[0].Role != "developer" {
		messages = append([]engine.Message{{Role: "system"}}, messages...)
	}
	messages[0].Content = string(engine.AppendTools([]byte(messages[0].Content), []byte(list)))
	return messages
}

// asVLLM is the form in which vLLM's templates get tools.
func asVLLM() chattemplate.ToolForm {
	kind, _ := engine.AllKinds().Named(engine.Default)
	return chattemplate.ToolForm{Function: kind.Rendering.Function, Others: kind.Rendering.Others}
}
