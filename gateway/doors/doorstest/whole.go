package doorstest

import "encoding/json"

// WholeChat reads a chat completion in one piece, or an error in its place.
func WholeChat(body []byte) (*Said, error) {
	f, s, p := frame{data: string(body), whole: string(body)}, new(Said), chatPiece{}
	if err := f.read(&p); err != nil {
		return s, err
	}
	if p.Error != nil {
		return s, s.fail(&f, p.Error.Code, p.Error.Message, p.RequestID)
	}
	s.Done = true
	return s, s.piece(&f, &p)
}

// WholeMessages reads an answer of Messages in one piece, or an error in its place.
func WholeMessages(body []byte) (*Said, error) {
	var m struct {
		Type    string
		Content []struct {
			Type, ID, Name, Text, Thinking string
			Input                          json.RawMessage
		}
		Reason    *string `json:"stop_reason"`
		Usage     messagesUsage
		Error     *struct{ Type, Code, Message string }
		RequestID string `json:"request_id"`
	}
	f, s := frame{data: string(body), whole: string(body)}, new(Said)
	if err := f.read(&m); err != nil {
		return s, err
	}
	switch {
	case m.Type == "error" && m.Error != nil && m.Error.Type != "":
		return s, s.fail(&f, m.Error.Code, m.Error.Message, m.RequestID)
	case m.Type != "message" || m.Reason == nil:
		return s, f.wrong("neither a message nor an error")
	}
	s.Done, s.Finish = true, *m.Reason
	s.use(&m.Usage)
	for _, b := range m.Content {
		s.Text, s.Reasoning = s.Text+b.Text, s.Reasoning+b.Thinking
		if b.Type == "tool_use" {
			s.Calls = append(s.Calls, Call{b.ID, b.Name, string(b.Input)})
		}
	}
	return s, nil
}

// WholeResponse reads a response in one piece, or an error in its place.
func WholeResponse(body []byte) (*Said, error) {
	var r struct {
		responsesObject
		Error     *struct{ Message, Type, Code string }
		RequestID string `json:"request_id"`
	}
	f, s := frame{data: string(body), whole: string(body)}, new(Said)
	if err := f.read(&r); err != nil {
		return s, err
	}
	switch {
	case r.Error != nil && r.Object == "":
		return s, s.fail(&f, r.Error.Code, r.Error.Message, r.RequestID)
	case r.Object != "response" || r.ID == "" || r.Status != "completed" && r.Status != "incomplete":
		return s, f.wrong("neither a response nor an error")
	}
	s.Done = true
	s.take(&r.responsesObject)
	return s, nil
}
