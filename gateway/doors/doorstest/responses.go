package doorstest

import (
	"fmt"
	"slices"
)

// responsesEvent is what the events of Responses hold.
type responsesEvent struct {
	Type      string
	Sequence  *int `json:"sequence_number"`
	Response  *responsesObject
	Output    *int   `json:"output_index"`
	Content   *int   `json:"content_index"`
	ItemID    string `json:"item_id"`
	Item      *responsesItem
	Part      *responsesPart
	Delta     *string
	Text      *string
	Arguments *string
	Code      string
	Message   string
	RequestID string `json:"request_id"`
}

type responsesObject struct {
	ID, Object, Status string
	Output             []responsesItem
	Usage              *responsesUsage
	Incomplete         *struct{ Reason string } `json:"incomplete_details"`
}

type responsesUsage struct {
	Input   int `json:"input_tokens"`
	Output  int `json:"output_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

type responsesItem struct {
	ID, Type, Status string
	CallID           string `json:"call_id"`
	Name             string
	Arguments        *string
	Content          []responsesPart
}

type responsesPart struct{ Type, Text string }

// responsesStream is a stream of Responses so far.
type responsesStream struct {
	said  Said
	id    string // of the response
	next  int    // the least that the next sequence_number may be
	items []openItem
}

// openItem is an item, and how far it has come.
type openItem struct {
	id, kind string
	part     string // the type of the part that is open, or of the call; "" if none is
	parts    int
	said     string // of that part
	told     bool   // its whole was told
	done     bool
	text     string // of all parts
}

// partsOf are the parts that an item of each kind has; a call has none.
var partsOf = map[string]string{"message": "output_text", "reasoning": "reasoning_text", "function_call": ""}

// Responses reads a stream of Responses. The error is an *Order, or ErrCut.
func Responses(stream string) (*Said, error) {
	var s responsesStream
	if err := frames(stream, s.event); err != nil {
		return &s.said, err
	}
	return s.said.ended()
}

func (s *responsesStream) event(f *frame) error {
	if err := s.said.tally(f); err != nil {
		return err
	}
	var e responsesEvent
	if err := f.read(&e); err != nil {
		return err
	}
	switch {
	case e.Type != f.name:
		return f.wrong("an event of another name")
	case e.Sequence == nil || *e.Sequence < s.next:
		return f.wrong("a sequence_number below %d", s.next)
	case e.Type == "error":
		return s.said.fail(f, e.Code, e.Message, e.RequestID)
	}
	s.next = *e.Sequence + 1
	if e.Response != nil {
		return s.whole(f, &e)
	}
	if s.id == "" {
		return f.wrong("an event before response.created")
	}
	if e.Type == "response.output_item.added" {
		return s.open(f, &e)
	}
	if e.Output == nil || *e.Output < 0 || *e.Output >= len(s.items) || s.items[*e.Output].done {
		return f.wrong("an item that is not open")
	}
	return s.items[*e.Output].event(f, &e, s)
}

// whole is an event that has the response.
func (s *responsesStream) whole(f *frame, e *responsesEvent) error {
	r := e.Response
	if r.ID == "" || r.Object != "response" || s.id != "" && r.ID != s.id {
		return f.wrong("another response")
	}
	empty := len(s.items)+len(r.Output) == 0 && r.Status == "in_progress"
	switch {
	case e.Type == "response.created" && s.id == "" && empty:
		s.id = r.ID
		return nil
	case s.id == "" || e.Type == "response.created":
		return f.wrong("response.created is not the first, comes twice, or is not empty")
	case e.Type == "response.in_progress" && empty:
		return nil
	case e.Type != "response."+r.Status || !slices.Contains(ends, r.Status):
		return f.wrong("an end of another status, out of order, or of no known type")
	}
	return s.end(f, r)
}

// ends are the statuses of a response that is over.
var ends = []string{"completed", "incomplete", "failed"}

func (s *responsesStream) end(f *frame, r *responsesObject) error {
	if r.Status == "incomplete" && (r.Incomplete == nil || r.Incomplete.Reason == "") {
		return f.wrong("an incomplete response without its reason")
	}
	if r.Status != "failed" {
		if len(r.Output) != len(s.items) {
			return f.wrong("%d items, and %d in the response", len(s.items), len(r.Output))
		}
		for i := range s.items {
			if !s.items[i].done || !s.items[i].is(&r.Output[i]) {
				return f.wrong("item %d of the response is another, or not done", i)
			}
		}
	}
	s.said.Done = true
	s.said.take(r)
	return nil
}

func (s *responsesStream) open(f *frame, e *responsesEvent) error {
	it := e.Item
	if it == nil || e.Output == nil || *e.Output != len(s.items) || it.ID == "" || it.Status != "in_progress" {
		return f.wrong("an item out of its turn, which is %d", len(s.items))
	}
	if _, known := partsOf[it.Type]; !known || it.Type == "function_call" && (it.CallID == "" || it.Name == "") {
		return f.wrong("an item of no known type, or a call without a name")
	}
	s.items = append(s.items, openItem{id: it.ID, kind: it.Type})
	if it.Type == "function_call" {
		s.items[len(s.items)-1].part = it.Type
	}
	return nil
}

// event is an event of an item that is open.
func (it *openItem) event(f *frame, e *responsesEvent, s *responsesStream) error {
	if e.Type == "response.output_item.done" {
		return it.close(f, e.Item)
	}
	if e.ItemID != it.id {
		return f.wrong("an item of another id")
	}
	if it.kind != "function_call" {
		if e.Content == nil || *e.Content != it.parts {
			return f.wrong("a part out of its turn, which is %d", it.parts)
		}
		if e.Type == "response.content_part.added" {
			if it.part != "" || e.Part == nil || e.Part.Type != partsOf[it.kind] || e.Part.Text != "" {
				return f.wrong("a part within another, of another type, or not empty")
			}
			it.part, it.said, it.told = e.Part.Type, "", false
			return nil
		}
	}
	return it.piece(f, e, s)
}

// piece is an event of a part that is open, or of a call.
func (it *openItem) piece(f *frame, e *responsesEvent, s *responsesStream) error {
	prefix := "response." + it.part
	if it.kind == "function_call" {
		prefix = "response.function_call_arguments"
	}
	ok := it.part != ""
	switch e.Type {
	case prefix + ".delta":
		if ok = ok && !it.told && e.Delta != nil; ok {
			it.said += *e.Delta
		}
		if ok && it.kind == "message" {
			s.said.Text += *e.Delta
		}
	case prefix + ".done":
		ok = ok && !it.told && it.tells(e)
		it.told = true
	case "response.content_part.done":
		ok = ok && it.told && it.shuts(e.Part)
		it.text += it.said
		it.part, it.parts = "", it.parts+1
	default:
		ok = false
	}
	if !ok {
		return f.wrong("a piece that %s does not have here, or that says another text", it.kind)
	}
	return nil
}

// shuts reports whether a part is the one that is open, with all that it has said.
func (it *openItem) shuts(part *responsesPart) bool {
	return it.kind != "function_call" && part != nil && *part == responsesPart{it.part, it.said}
}

// tells reports whether an event says again what its part, or its call, has said.
func (it *openItem) tells(e *responsesEvent) bool {
	again := e.Text
	if it.kind == "function_call" {
		again = e.Arguments
	}
	return again != nil && *again == it.said
}

func (it *openItem) close(f *frame, whole *responsesItem) error {
	open := it.part != "" && it.kind != "function_call" || it.kind == "function_call" && !it.told
	if it.kind == "function_call" {
		it.text = it.said
	}
	if open || whole == nil || whole.Status != "completed" && whole.Status != "incomplete" || !it.is(whole) {
		return f.wrong("the item ends within a part, or as another")
	}
	it.done = true
	return nil
}

// is reports whether an item is what its events have told.
func (it *openItem) is(whole *responsesItem) bool {
	text := ""
	for _, p := range whole.Content {
		text += p.Text
	}
	if whole.Arguments != nil {
		text = *whole.Arguments
	}
	return whole.ID == it.id && whole.Type == it.kind && text == it.text
}

// take takes down what a whole response says.
func (s *Said) take(r *responsesObject) {
	s.Text, s.Reasoning, s.Calls, s.Finish = "", "", nil, r.Status
	if r.Incomplete != nil {
		s.Finish = fmt.Sprint(r.Status, ": ", r.Incomplete.Reason)
	}
	for _, it := range r.Output {
		switch it.Type {
		case "function_call":
			s.Calls = append(s.Calls, Call{it.CallID, it.Name, *it.Arguments})
		case "reasoning":
			for _, p := range it.Content {
				s.Reasoning += p.Text
			}
		default:
			for _, p := range it.Content {
				s.Text += p.Text
			}
		}
	}
	if u := r.Usage; u != nil {
		s.Prompt, s.Completion, s.Cached = u.Input, u.Output, u.Details.Cached
	}
}
