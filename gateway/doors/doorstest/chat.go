package doorstest

// chatPiece is a chat completion, or one event of its stream.
type chatPiece struct {
	Choices []struct {
		Message, Delta *chatSaid
		Finish         *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error     *struct{ Message, Type, Code string }
	RequestID string `json:"request_id"`
}

type chatSaid struct {
	Content   *string
	Reasoning string `json:"reasoning_content"`
	Calls     []struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// Chat reads a stream of chat completions of one choice. The error is an *Order, or ErrCut.
func Chat(stream string) (*Said, error) {
	var s Said
	err := frames(stream, func(f *frame) error {
		if err := s.tally(f); err != nil {
			return err
		}
		if f.data == "[DONE]" {
			s.Done = true
			return nil
		}
		var p chatPiece
		if err := f.read(&p); err != nil {
			return err
		}
		if p.Error != nil {
			return s.fail(f, p.Error.Code, p.Error.Message, p.RequestID)
		}
		return s.piece(f, &p)
	})
	if err != nil {
		return &s, err
	}
	return s.ended()
}

func (s *Said) piece(f *frame, p *chatPiece) error {
	for _, c := range p.Choices {
		if s.Finish != "" {
			return f.wrong("a choice behind its finish_reason")
		}
		if c.Finish != nil {
			s.Finish = *c.Finish
		}
		said := c.Delta
		if said == nil {
			said = c.Message
		}
		if said == nil {
			return f.wrong("a choice without a delta")
		}
		if said.Content != nil {
			s.Text += *said.Content
		}
		s.Reasoning += said.Reasoning
		for i, call := range said.Calls {
			if c.Message != nil {
				call.Index = i
			}
			switch n := len(s.Calls); {
			case call.Index == n && call.Function.Name != "":
				s.Calls = append(s.Calls, Call{ID: call.ID, Name: call.Function.Name})
			case call.Index >= n || call.Index < 0:
				return f.wrong("a piece of a call that has not begun")
			}
			s.Calls[call.Index].Arguments += call.Function.Arguments
		}
	}
	if u := p.Usage; u != nil {
		s.Prompt, s.Completion = u.Prompt, u.Completion
		if u.Details != nil {
			s.Cached = u.Details.Cached
		}
	}
	return nil
}
