package chattemplate

import (
	"fmt"
	"strings"
	"time"
)

// messages are the messages of a chat as engines hand them to a template: contents as text, or as parts where the
// template wants them, and the arguments of tool calls as values.
func (t *Template) messages(s *store, raw []byte) (*list, error) {
	v, err := s.decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: messages: %w", ErrRefused, err)
	}
	all, ok := v.(*list)
	if !ok {
		return nil, fmt.Errorf("%w: messages that are no list", ErrRefused)
	}
	for _, m := range all.items {
		message, ok := m.(*dict)
		if !ok {
			return nil, fmt.Errorf("%w: a message that is no object", ErrRefused)
		}
		if err := t.setContent(message); err != nil {
			return nil, err
		}
		if err := callArguments(s, message); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// setContent brings a message's content into the form that the template takes.
func (t *Template) setContent(message *dict) error {
	given, _ := message.get("content")
	if _, is := given.(string); is && !t.parts {
		return nil
	}
	content, err := t.content(given)
	if err == nil {
		message.put("content", content)
	}
	return err
}

// content returns a message's content in the form that the template takes. Parts of text are joined with line's ends.
func (t *Template) content(v any) (any, error) {
	var texts []string
	switch c := v.(type) {
	case nil:
	case string:
		texts = []string{c}
	case *list:
		for _, part := range c.items {
			p, ok := part.(*dict)
			if !ok {
				return nil, fmt.Errorf("%w: a part of a content that is no object", ErrRefused)
			}
			kind, _ := p.get("type")
			v, _ := p.get("text")
			text, ok := v.(string)
			if !ok || kind != "text" {
				return nil, fmt.Errorf("%w: a part of a content that is no text", ErrRefused)
			}
			texts = append(texts, text)
		}
	default:
		return nil, fmt.Errorf("%w: a content that is neither text nor parts", ErrRefused)
	}
	if !t.parts {
		return strings.Join(texts, "\n"), nil
	}
	parts := &list{}
	for _, text := range texts {
		parts.items = append(parts.items, &dict{keys: []string{"type", "text"}, vals: []any{"text", text}})
	}
	return parts, nil
}

// callArguments turns the arguments of tool calls, which are JSON in a string, into what they say.
func callArguments(s *store, message *dict) error {
	given, _ := message.get("tool_calls")
	calls, ok := given.(*list)
	if !ok {
		return nil
	}
	for _, c := range calls.items {
		call, ok := c.(*dict)
		if !ok {
			continue
		}
		given, _ := call.get("function")
		function, ok := given.(*dict)
		if !ok {
			continue
		}
		if err := parseArguments(s, function); err != nil {
			return err
		}
	}
	return nil
}

func parseArguments(s *store, function *dict) error {
	given, _ := function.get("arguments")
	raw, ok := given.(string)
	if !ok {
		return nil
	}
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	arguments, err := s.decode([]byte(raw))
	if err != nil {
		return fmt.Errorf("%w: the arguments of a tool call: %w", ErrRefused, err)
	}
	function.put("arguments", arguments)
	return nil
}

// strftime writes a time as C does in the C locale, of the directives that templates use.
func strftime(now time.Time, format string) string {
	layouts := map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'j': "002",
		'm': "01", 'M': "04",
		'p': "PM", 'S': "05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST", 'F': "2006-01-02", 'T': "15:04:05",
	}
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		switch layout, ok := layouts[format[i]]; {
		case ok:
			out.WriteString(now.Format(layout))
		case format[i] == '%':
			out.WriteByte('%')
		default:
			throw(ErrRefused, "strftime_now does not know %%%c", format[i])
		}
	}
	return out.String()
}
