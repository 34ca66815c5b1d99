package doorstest

import "slices"

// messagesEvent is what the events of Messages hold.
type messagesEvent struct {
	Type    string
	Index   *int
	Message *struct {
		ID, Type, Role, Model string
		Content               []any
		StopReason            *string        `json:"stop_reason"`
		Usage                 *messagesUsage `json:"usage"`
	}
	Block *struct {
		Type, ID, Name string
		Text, Thinking *string
		Input          map[string]any
	} `json:"content_block"`
	Delta *struct {
		Type, Text, Thinking, Signature string
		JSON                            string  `json:"partial_json"`
		Reason                          *string `json:"stop_reason"`
		Stop                            *string `json:"stop_sequence"`
	}
	Usage     *messagesUsage
	Error     *struct{ Type, Code, Message string }
	RequestID string `json:"request_id"`
}

type messagesUsage struct {
	Input  int `json:"input_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Output int `json:"output_tokens"`
}

// messagesStream is a stream of Messages so far.
type messagesStream struct {
	said   Said
	begun  bool
	ending bool // message_delta has come
	blocks []messagesBlock
}

type messagesBlock struct {
	kind string
	open bool
	call int // its place in Calls
}

// deltasOf are the deltas that a block of each kind may have.
var deltasOf = map[string][]string{
	"text":     {"text_delta", "citations_delta"},
	"thinking": {"thinking_delta", "signature_delta"},
	"tool_use": {"input_json_delta"},
}

// Messages reads a stream of Messages. The error is an *Order, or ErrCut.
func Messages(stream string) (*Said, error) {
	var s messagesStream
	if err := frames(stream, s.event); err != nil {
		return &s.said, err
	}
	return s.said.ended()
}

func (s *messagesStream) event(f *frame) error {
	if err := s.said.tally(f); err != nil {
		return err
	}
	var e messagesEvent
	if err := f.read(&e); err != nil {
		return err
	}
	switch {
	case e.Type != f.name:
		return f.wrong("an event of another name")
	case e.Type == "ping":
		return nil
	case e.Type == "error":
		if e.Error == nil || e.Error.Type == "" {
			return f.wrong("an error without its type")
		}
		return s.said.fail(f, e.Error.Code, e.Error.Message, e.RequestID)
	case e.Type == "message_start":
		return s.start(f, &e)
	case !s.begun:
		return f.wrong("an event before message_start")
	}
	switch e.Type {
	case "content_block_start":
		return s.open(f, &e)
	case "content_block_delta", "content_block_stop":
		return s.within(f, &e)
	case "message_delta":
		return s.end(f, &e)
	case "message_stop":
		if !s.ending {
			return f.wrong("message_stop before message_delta")
		}
		s.said.Done = true
		return nil
	}
	return f.wrong("an event of no known type")
}

func (s *messagesStream) start(f *frame, e *messagesEvent) error {
	m := e.Message
	switch {
	case s.begun:
		return f.wrong("message_start comes twice")
	case m == nil || m.ID == "" || m.Type != "message" || m.Role != "assistant" || m.Content == nil ||
		len(m.Content) > 0 || m.StopReason != nil || m.Usage == nil:
		return f.wrong("the message does not begin empty")
	}
	s.begun = true
	return nil
}

func (s *messagesStream) open(f *frame, e *messagesEvent) error {
	switch b := e.Block; {
	case s.ending:
		return f.wrong("a block behind message_delta")
	case e.Index == nil || *e.Index != len(s.blocks):
		return f.wrong("a block out of its turn, which is %d", len(s.blocks))
	case b == nil || deltasOf[b.Type] == nil:
		return f.wrong("a block of no known type")
	case b.Type == "text" && b.Text == nil, b.Type == "thinking" && b.Thinking == nil,
		b.Type == "tool_use" && (b.ID == "" || b.Name == "" || b.Input == nil || len(b.Input) > 0):
		return f.wrong("a block without what it begins with")
	default:
		s.blocks = append(s.blocks, messagesBlock{kind: b.Type, open: true, call: len(s.said.Calls)})
		if b.Type == "tool_use" {
			s.said.Calls = append(s.said.Calls, Call{ID: b.ID, Name: b.Name})
		}
		return nil
	}
}

// within is an event of a block that is open.
func (s *messagesStream) within(f *frame, e *messagesEvent) error {
	if e.Index == nil || *e.Index < 0 || *e.Index >= len(s.blocks) || !s.blocks[*e.Index].open {
		return f.wrong("a block that is not open")
	}
	b := &s.blocks[*e.Index]
	if e.Type == "content_block_stop" {
		b.open = false
		return nil
	}
	if e.Delta == nil || !slices.Contains(deltasOf[b.kind], e.Delta.Type) {
		return f.wrong("a delta that a block of %s has not", b.kind)
	}
	s.said.Text += e.Delta.Text
	s.said.Reasoning += e.Delta.Thinking
	if b.kind == "tool_use" {
		s.said.Calls[b.call].Arguments += e.Delta.JSON
	}
	return nil
}

func (s *messagesStream) end(f *frame, e *messagesEvent) error {
	if e.Delta == nil || e.Delta.Reason == nil || e.Usage == nil {
		return f.wrong("message_delta without stop_reason or usage")
	}
	for _, b := range s.blocks {
		switch {
		case b.open:
			return f.wrong("message_delta within a block")
		case b.kind == "tool_use" && *e.Delta.Reason != "max_tokens" && !isObject(s.said.Calls[b.call].Arguments):
			return f.wrong("the input of a call is no object, and nothing has cut it")
		}
	}
	s.ending = true
	s.said.Finish = *e.Delta.Reason
	s.said.use(e.Usage)
	return nil
}

func (s *Said) use(u *messagesUsage) {
	s.Prompt, s.Cached, s.Completion = u.Input+u.Read, u.Read, u.Output
}
