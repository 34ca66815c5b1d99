package emulator

import (
	"github.com/go-json-experiment/json/jsontext"
)

// messageUsage is a usage of Messages, which counts apart what the cache had.
type messageUsage struct {
	Input  int `json:"input_tokens"`
	Cached int `json:"cache_read_input_tokens"`
	Output int `json:"output_tokens"`
}

func messageUsageOf(u *usage) messageUsage {
	if u == nil {
		return messageUsage{}
	}
	return messageUsage{u.PromptTokens - u.Details.CachedTokens, u.Details.CachedTokens, u.CompletionTokens}
}

// messageWhole is a whole answer, or the beginning of one.
type messageWhole struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Role    string       `json:"role"`
	Content []any        `json:"content"`
	Model   string       `json:"model"`
	Stop    *string      `json:"stop_reason"`
	StopAt  *string      `json:"stop_sequence"`
	Usage   messageUsage `json:"usage"`
}

// messageStops are the reasons for which an answer ends, by a chat's.
var messageStops = map[string]string{"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}

// What the blocks of an answer are, and their pieces.
type (
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingBlock struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature,omitzero"`
	}
	useBlock struct {
		Type  string         `json:"type"`
		ID    string         `json:"id"`
		Name  string         `json:"name"`
		Input jsontext.Value `json:"input"`
	}
	inputPiece struct {
		Type string `json:"type"`
		JSON string `json:"partial_json"`
	}
	messageEvent struct {
		Type  string `json:"type"`
		Delta any    `json:"delta,omitzero"`
		Block any    `json:"content_block,omitzero"`
		Index *int   `json:"index,omitzero"`
		Usage any    `json:"usage,omitzero"`
	}
)

func (s *messagesSurface) events(dst []byte, k *doorChunk, done bool) []byte {
	switch {
	case done:
		return appendEvent(dst, "message_stop", messageEvent{Type: "message_stop"})
	case k == nil: // the head tells nothing
		return dst
	case !s.begun:
		s.begun = true
		dst = appendEvent(dst, "message_start", map[string]any{"type": "message_start",
			"message": messageWhole{ID: k.ID, Type: "message", Role: "assistant", Content: []any{}, Model: k.Model,
				Usage: messageUsageOf(k.Usage)}})
	}
	if len(k.Choices) == 0 {
		dst = s.shut(dst)
		delta := map[string]any{"stop_reason": s.stop}
		if s.stop == "" { // aborted
			delta["stop_reason"] = nil
		}
		return appendEvent(dst, "message_delta", messageEvent{Type: "message_delta", Delta: delta,
			Usage: messageUsageOf(k.Usage)})
	}
	if finish := k.Choices[0].Finish; finish != "" {
		s.stop = messageStops[finish]
	}
	return s.pieces(dst, &k.Choices[0].Delta)
}

// pieces appends what a delta brought.
func (s *messagesSurface) pieces(dst []byte, m *doorMessage) []byte {
	if m.Reasoning != "" {
		dst = s.begin(dst, "thinking", thinkingBlock{Type: "thinking"})
		dst = s.piece(dst, thinkingBlock{Type: "thinking_delta", Thinking: m.Reasoning})
	}
	if m.Content != "" {
		dst = s.begin(dst, "text", textBlock{Type: "text"})
		dst = s.piece(dst, textBlock{"text_delta", m.Content})
	}
	for _, c := range m.Calls {
		if c.Function.Name != "" {
			dst = s.shut(dst)
			dst = s.begin(dst, "tool_use", useBlock{"tool_use", c.callID(s.calls), c.Function.Name,
				jsontext.Value("{}")})
			s.calls++
		}
		if c.Function.Arguments != "" {
			dst = s.piece(dst, inputPiece{"input_json_delta", c.Function.Arguments})
		}
	}
	return dst
}

// begin begins a block, unless one of its type is open.
func (s *messagesSurface) begin(dst []byte, of string, block any) []byte {
	if s.open == of {
		return dst
	}
	dst = s.shut(dst)
	s.open = of
	return appendEvent(dst, "content_block_start", messageEvent{Type: "content_block_start", Index: &s.index,
		Block: block})
}

func (s *messagesSurface) piece(dst []byte, delta any) []byte {
	return appendEvent(dst, "content_block_delta", messageEvent{Type: "content_block_delta", Delta: delta,
		Index: &s.index})
}

// shut ends the block that is open. Reasoning is signed, as vLLM does.
func (s *messagesSurface) shut(dst []byte) []byte {
	if s.open == "" {
		return dst
	}
	if s.open == "thinking" {
		dst = s.piece(dst, map[string]string{"type": "signature_delta", "signature": "5161"})
	}
	dst = appendEvent(dst, "content_block_stop", messageEvent{Type: "content_block_stop", Index: &s.index})
	s.open = ""
	s.index++
	return dst
}

func (s *messagesSurface) whole(k *doorChunk) []byte {
	m := &k.Choices[0].Message
	w := messageWhole{ID: k.ID, Type: "message", Role: "assistant", Content: []any{}, Model: k.Model,
		Usage: messageUsageOf(k.Usage)}
	if stop, ended := messageStops[k.Choices[0].Finish]; ended {
		w.Stop = &stop
	}
	if m.Reasoning != "" {
		w.Content = append(w.Content, thinkingBlock{"thinking", m.Reasoning, "5161"})
	}
	if m.Content != "" {
		w.Content = append(w.Content, textBlock{"text", m.Content})
	}
	for i, c := range m.Calls {
		input := jsontext.Value(c.Function.Arguments)
		if !input.IsValid() { // cut off
			input = jsontext.Value("{}")
		}
		w.Content = append(w.Content, useBlock{"tool_use", c.callID(i), c.Function.Name, input})
	}
	return mustJSON(w)
}

func (*messagesSurface) problem(dst []byte, p *problem, event bool) []byte {
	said := map[string]any{"type": "error", "error": map[string]string{"type": p.Type, "message": p.Message}}
	if event {
		return appendEvent(dst, "error", said)
	}
	return append(dst, mustJSON(said)...)
}
