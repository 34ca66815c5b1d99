package emulator

import (
	"fmt"
	"maps"
)

// responsesSurface is the surface of Responses.
type responsesSurface struct {
	asked    *responseBody
	id       string
	sequence int
	open     string // the type of the item that is open; "" if none is
	said     string // in it
	call     doorCall
	items    []any // that are done
	finish   string
	usage    *usage
	model    string
}

// object is the response as it is now. Its members are the pydantic model's, as far as clients look at them.
func (s *responsesSurface) object(status string) map[string]any {
	var incomplete any
	if status == "incomplete" {
		incomplete = map[string]string{"reason": "max_output_tokens"}
	}
	items := append([]any{}, s.items...)
	o := map[string]any{"id": "resp_" + s.id, "object": "response", "created_at": 1, "status": status,
		"model": s.model, "output": items, "incomplete_details": incomplete, "error": nil,
		"instructions": s.asked.Instructions, "max_output_tokens": s.asked.Most, "parallel_tool_calls": true,
		"temperature": s.asked.Temperature, "top_p": s.asked.TopP, "tools": []any{}, "tool_choice": "auto",
		"metadata": map[string]any{}, "store": false}
	if u := s.usage; u != nil {
		o["usage"] = map[string]any{"input_tokens": u.PromptTokens, "output_tokens": u.CompletionTokens,
			"total_tokens":          u.TotalTokens,
			"input_tokens_details":  map[string]int{"cached_tokens": u.Details.CachedTokens},
			"output_tokens_details": map[string]int{"reasoning_tokens": 0}}
	}
	return o
}

// event appends an event. Its members are in the order of their names, as vLLM's are.
func (s *responsesSurface) event(dst []byte, name string, of map[string]any) []byte {
	all := maps.Clone(of)
	all["type"], all["sequence_number"] = name, s.sequence
	s.sequence++
	return appendEvent(dst, name, all)
}

func (s *responsesSurface) events(dst []byte, k *doorChunk, done bool) []byte {
	switch {
	case done:
		dst = s.shut(dst)
		status := s.status()
		return s.event(dst, "response."+status, map[string]any{"response": s.object(status)})
	case k == nil:
		s.id, s.model = fmt.Sprintf("%p", s), s.asked.Model // the engine has not taken it up yet
		for _, name := range []string{"response.created", "response.in_progress"} {
			dst = s.event(dst, name, map[string]any{"response": s.object("in_progress")})
		}
		return dst
	}
	if k.Usage != nil {
		s.usage = k.Usage
	}
	if len(k.Choices) == 0 {
		return dst
	}
	if f := k.Choices[0].Finish; f != "" {
		s.finish = f
	}
	return s.pieces(dst, &k.Choices[0].Delta)
}

func (s *responsesSurface) status() string {
	if s.finish == "length" {
		return "incomplete"
	}
	return "completed"
}

// pieces appends what a delta brought.
func (s *responsesSurface) pieces(dst []byte, m *doorMessage) []byte {
	if m.Reasoning != "" {
		dst = s.piece(s.begin(dst, "reasoning"), "response.reasoning_text", m.Reasoning)
	}
	if m.Content != "" {
		dst = s.piece(s.begin(dst, "message"), "response.output_text", m.Content)
	}
	for _, c := range m.Calls {
		if c.Function.Name != "" {
			dst = s.shut(dst)
			c.ID = c.callID(len(s.items))
			s.call = c
			dst = s.begin(dst, "function_call")
		}
		if c.Function.Arguments != "" {
			dst = s.piece(dst, "response.function_call_arguments", c.Function.Arguments)
		}
	}
	return dst
}

// item is the item that is open.
func (s *responsesSurface) item(status string) map[string]any {
	it := map[string]any{"id": s.itemID(), "type": s.open, "status": status}
	content := []any{}
	if status == "completed" && s.open != "function_call" {
		content = append(content, s.part())
	}
	switch s.open {
	case "function_call":
		it["call_id"], it["name"], it["arguments"] = s.call.ID, s.call.Function.Name, s.said
	case "message":
		it["role"], it["content"] = "assistant", content
	default:
		it["summary"], it["content"] = []any{}, content
	}
	return it
}

func (s *responsesSurface) itemID() string { return fmt.Sprintf("item_%s_%d", s.id, len(s.items)) }

// part is the part of the item that is open.
func (s *responsesSurface) part() map[string]any {
	if s.open == "reasoning" {
		return map[string]any{"type": "reasoning_text", "text": s.said}
	}
	return map[string]any{"type": "output_text", "text": s.said, "annotations": []any{}, "logprobs": []any{}}
}

// about is what events say of the item that is open.
func (s *responsesSurface) about() map[string]any {
	about := map[string]any{"item_id": s.itemID(), "output_index": len(s.items)}
	if s.open != "function_call" {
		about["content_index"] = 0
	}
	if s.open == "message" {
		about["logprobs"] = []any{}
	}
	return about
}

// begin begins an item, unless one of its type is open.
func (s *responsesSurface) begin(dst []byte, of string) []byte {
	if s.open == of {
		return dst
	}
	dst = s.shut(dst)
	s.open, s.said = of, ""
	dst = s.event(dst, "response.output_item.added", map[string]any{"output_index": len(s.items),
		"item": s.item("in_progress")})
	if of == "function_call" {
		return dst
	}
	about := s.about()
	delete(about, "logprobs")
	about["part"] = s.part()
	return s.event(dst, "response.content_part.added", about)
}

func (s *responsesSurface) piece(dst []byte, of, text string) []byte {
	s.said += text
	about := s.about()
	about["delta"] = text
	return s.event(dst, of+".delta", about)
}

// shut ends the item that is open.
func (s *responsesSurface) shut(dst []byte) []byte {
	if s.open == "" {
		return dst
	}
	about := s.about()
	switch s.open {
	case "function_call":
		about["arguments"], about["name"] = s.said, s.call.Function.Name
		dst = s.event(dst, "response.function_call_arguments.done", about)
	case "message":
		about["text"] = s.said
		dst = s.event(dst, "response.output_text.done", about)
	default:
		about["text"] = s.said
		dst = s.event(dst, "response.reasoning_text.done", about)
	}
	if s.open != "function_call" {
		about = s.about()
		delete(about, "logprobs")
		about["part"] = s.part()
		dst = s.event(dst, "response.content_part.done", about)
	}
	it := s.item("completed")
	dst = s.event(dst, "response.output_item.done", map[string]any{"output_index": len(s.items), "item": it})
	s.items, s.open = append(s.items, it), ""
	return dst
}

func (s *responsesSurface) whole(k *doorChunk) []byte {
	m := &k.Choices[0].Message
	s.id, s.model, s.usage, s.finish = k.ID, k.Model, k.Usage, k.Choices[0].Finish
	for i := range m.Calls {
		m.Calls[i].ID = m.Calls[i].callID(i)
	}
	s.pieces(nil, m)
	s.shut(nil)
	return mustJSON(s.object(s.status()))
}

func (s *responsesSurface) problem(dst []byte, p *problem, event bool) []byte {
	if event {
		return s.event(dst, "error", map[string]any{"code": p.Type, "message": p.Message, "param": nil})
	}
	return append(dst, p.body()...)
}
