package doorstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Said is what a stream, or an answer in one piece, has said.
type Said struct {
	Text, Reasoning    string
	Calls              []Call
	Finish             string // as the surface spells it
	Prompt, Completion int    // tokens, as its usage says
	Cached             int    // of Prompt
	Done               bool   // by its good end
	Code               string // of its bad end; "" if it has none
	RequestID          string // of its bad end
	Events             int
}

// Call is a tool call.
type Call struct{ ID, Name, Arguments string }

// ErrCut is a stream without an end.
var ErrCut = errors.New("doorstest: the stream has no end")

// Order is an event that must not come where it came.
type Order struct{ Event, Why string }

func (e *Order) Error() string { return fmt.Sprintf("doorstest: %s: %.300s", e.Why, e.Event) }

// frame is one event as it is framed.
type frame struct{ name, data, whole string }

func (f *frame) wrong(why string, args ...any) error {
	return &Order{f.whole, fmt.Sprintf(why, args...)}
}

// frames calls each with the events of a stream; comments are passed over. An event that is not whole is an error.
func frames(stream string, each func(f *frame) error) error {
	for stream != "" {
		whole, rest, ok := strings.Cut(stream, "\n\n")
		f := frame{whole: whole}
		if !ok {
			return f.wrong("an event without its end")
		}
		for line := range strings.SplitSeq(whole, "\n") {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "event":
				f.name = value
			case "data":
				f.data += value
			case "":
			default:
				return f.wrong("a line of no event")
			}
		}
		if f.name != "" || f.data != "" {
			if err := each(&f); err != nil {
				return err
			}
		}
		stream = rest
	}
	return nil
}

// read reads the data of an event.
func (f *frame) read(into any) error {
	if err := json.Unmarshal([]byte(f.data), into); err != nil {
		return f.wrong("%v", err)
	}
	return nil
}

// isObject reports whether text is a JSON object; nothing at all stands for the empty one.
func isObject(text string) bool {
	var object map[string]any
	return text == "" || json.Unmarshal([]byte(text), &object) == nil && object != nil
}

// tally counts an event of a stream that has not ended.
func (s *Said) tally(f *frame) error {
	if s.Done || s.Code != "" {
		return f.wrong("an event behind the end")
	}
	s.Events++
	return nil
}

// ended returns what a stream has said once it is over.
func (s *Said) ended() (*Said, error) {
	if !s.Done && s.Code == "" {
		return s, ErrCut
	}
	return s, nil
}

// fail is the bad end of a stream.
func (s *Said) fail(f *frame, code, message, requestID string) error {
	if code == "" || message == "" || requestID == "" {
		return f.wrong("an error without its code, its message or its request's id")
	}
	s.Code, s.RequestID = code, requestID
	return nil
}
