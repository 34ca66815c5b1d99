package emulator

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/zeebo/xxh3"

	"octet/engine"
)

const maxBody = 64 << 20 // bytes

// body is what a completion or chat request may say. Fields that change nothing about emulated text and fields that
// are unknown are accepted and have no effect, as with vLLM. Tools are called, and formats kept to, by TextTools alone.
type body struct {
	Model    string         `json:"model"`
	Prompt   jsontext.Value `json:"prompt"`
	Messages []turn         `json:"messages"`

	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	N                   *int          `json:"n"`
	Stop                words         `json:"stop"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	Seed                *int64        `json:"seed"`
	Temperature         *float64      `json:"temperature"` // of text that is computed, as top_p
	TopP                *float64      `json:"top_p"`
	Priority            int           `json:"priority"` // as vLLM has it: lower is sooner
	CacheSalt           string        `json:"cache_salt"`

	AddGenerationPrompt  *bool `json:"add_generation_prompt"`
	ContinueFinalMessage bool  `json:"continue_final_message"`
	// ContinueFrom is ours: the last so many prompt tokens are an answer's beginning that was generated earlier, and
	// the answer goes on with its token number ContinueFrom.
	ContinueFrom int `json:"continue_from"`

	Tools         jsontext.Value `json:"tools"`
	ToolChoice    jsontext.Value `json:"tool_choice"`
	ParallelCalls *bool          `json:"parallel_tool_calls"`
	Format        jsontext.Value `json:"response_format"`
	Effort        string         `json:"reasoning_effort"`

	TemplateArgs jsontext.Value `json:"chat_template_kwargs"`

	ReturnTokenIDs bool `json:"return_token_ids"`
	StreamInterval int  `json:"stream_interval"` // the engine's own where that is larger

	Transfer *transfer `json:"kv_transfer_params"`
	meeting  `json:",inline"`

	Logprobs jsontext.Value `json:"logprobs"`
	Echo     bool           `json:"echo"`
	Suffix   string         `json:"suffix"`
}

type streamOptions struct {
	IncludeUsage    bool `json:"include_usage"`
	ContinuousUsage bool `json:"continuous_usage_stats"` // with IncludeUsage only
}

// turn is one message; its content is a string, null, or a list of parts.
type turn struct {
	Role      string   `json:"role"`
	Content   content  `json:"content"`
	Reasoning string   `json:"reasoning_content"` // shown of an answer that is continued, in TextTools
	Calls     []called `json:"tool_calls"`

	raw jsontext.Value // as it came
}

// UnmarshalJSON keeps the whole message for a template to see.
func (t *turn) UnmarshalJSON(raw []byte) error {
	type plain turn
	if err := json.Unmarshal(raw, (*plain)(t)); err != nil {
		return err
	}
	t.raw = jsontext.Value(raw).Clone()
	return nil
}

// content is a message's text, whatever form it came in.
type content string

// UnmarshalJSON takes a string, null, or parts, which are joined with newlines: texts, and images by what names them.
func (c *content) UnmarshalJSON(raw []byte) error {
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if v := jsontext.Value(raw); v.Kind() != '[' {
		return json.Unmarshal(raw, (*string)(c))
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for i, p := range parts {
		if p.Type == "image_url" && p.Image.URL != "" {
			p.Text = fmt.Sprintf("<image %x>", xxh3.HashString(p.Image.URL)) // which is all that is seen of it
		} else if p.Type != "text" {
			return badRequest("messages", "content part of type %q: this model takes text only", p.Type)
		}
		if i > 0 {
			text.WriteByte('\n') // as vLLM joins them
		}
		text.WriteString(p.Text)
	}
	*c = content(text.String())
	return nil
}

// begun returns what stands ahead of the text of an answer that is to be continued: its reasoning, which is at its end
// where there is text.
func (t *turn) begun() string {
	switch {
	case t.Reasoning == "":
		return ""
	case t.Content == "":
		return thinkOpen + t.Reasoning
	}
	return thinkOpen + t.Reasoning + thinkShut
}

// words is a string or a list of strings.
type words []string

// UnmarshalJSON takes a string, null, or a list of strings.
func (w *words) UnmarshalJSON(raw []byte) error {
	if jsontext.Value(raw).Kind() != '"' {
		return json.Unmarshal(raw, (*[]string)(w))
	}
	*w = []string{""}
	return json.Unmarshal(raw, &(*w)[0])
}

// readBody decodes one JSON object from r, strictly: no duplicate names, no trailing bytes, no invalid UTF-8.
func readBody(r *http.Request, into any) error {
	return decodeBody(http.MaxBytesReader(nil, r.Body, maxBody), into)
}

func decodeBody(body io.Reader, into any) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return badRequest("", "reading the body: %v", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return badRequest("", "invalid JSON: %v", err)
	}
	return nil
}

// chat returns the messages as the template takes them, and how their rendering ends.
func (b *body) chat() ([]engine.Message, engine.Ending) {
	messages := make([]engine.Message, len(b.Messages))
	for i, m := range b.Messages {
		messages[i] = engine.Message{Role: m.Role, Content: m.text()}
	}
	messages = showTools(messages, b.Tools)
	switch {
	case b.ContinueFinalMessage:
		last := &messages[len(messages)-1]
		last.Content = b.Messages[len(b.Messages)-1].begun() + last.Content
		return messages, engine.ContinueLast
	case b.AddGenerationPrompt != nil && !*b.AddGenerationPrompt:
		return messages, engine.Closed
	}
	return messages, engine.OpenAnswer
}
