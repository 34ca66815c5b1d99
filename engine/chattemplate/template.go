package chattemplate

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Sentinels.
var (
	ErrTemplate = errors.New("chattemplate: invalid template")
	ErrRefused  = errors.New("chattemplate: the template does not render this chat")
	ErrTooLarge = errors.New("chattemplate: rendering goes beyond its bounds")
)

// Template is one model's chat template. Safe for concurrent use.
type Template struct {
	body    []statement
	globals *scope // what is the same for all chats
	parts   bool   // it goes through the parts of a content: text is given to it as a list of one part
}

// Chat is what a template renders. Messages, Tools and Extra are JSON as it came, and stay as they are while it is
// rendered.
type Chat struct {
	Messages []byte
	Tools    []byte // nil when there are none
	Form     ToolForm
	Extra    []byte // an object of further variables, such as enable_thinking; nil when there are none
	Open     bool   // the assistant's turn is opened for the model to answer
	Now      time.Time
}

// New reads a template. globals are variables of all renderings, such as bos_token.
func New(source string, globals map[string]string) (*Template, error) {
	return read(source, globals, false)
}

// read reads a template. A plain one is rendered without any of the short cuts in quick.go.
func read(source string, tokens map[string]string, plain bool) (_ *Template, err error) {
	defer catch(&err)
	if len(source) > maxSource {
		return nil, fmt.Errorf("%w: %d bytes, of at most %d", ErrTemplate, len(source), maxSource)
	}
	segments, err := layout(source)
	if err != nil {
		return nil, err
	}
	r := &reader{segments: segments, plain: plain}
	body, _, _ := r.block()
	return &Template{body: body, globals: constants(tokens), parts: wantsParts(source)}, nil
}

// Render appends the prompt of a chat to dst. On an error, ErrRefused or ErrTooLarge, dst comes back as it was.
func (t *Template) Render(dst []byte, c Chat) ([]byte, error) {
	s := stores.Get().(*store)
	defer s.release()
	vars, err := t.variables(s, c)
	if err != nil {
		return dst, err
	}
	r := &run{out: dst, from: len(dst), until: time.Now().Add(maxTime), now: c.Now, filters: filters}
	if err := t.execute(&frame{r, &scope{parent: vars}}); err != nil {
		return dst, err
	}
	return r.out, nil
}

func (t *Template) execute(f *frame) (err error) {
	defer catch(&err)
	do(f, t.body)
	return nil
}

// variables is what a template sees.
func (t *Template) variables(s *store, c Chat) (*scope, error) {
	messages, err := t.messages(s, c.Messages)
	if err != nil {
		return nil, err
	}
	tools, err := s.tools(c)
	if err != nil {
		return nil, err
	}
	vars := &scope{
		names: []string{"messages", "tools", "documents", "add_generation_prompt"},
		vals:  []any{messages, tools, nil, c.Open}, parent: t.globals,
	}
	return vars, s.further(vars, c.Extra)
}

// constants are the variables of all chats: the tokens that templates know by name, and functions.
func constants(tokens map[string]string) *scope {
	s := &scope{}
	for name, v := range tokens {
		s.set(name, v)
	}
	for name, v := range globals {
		s.set(name, v)
	}
	return s
}

// further adds the variables that a request sets; those that are ours stay.
func (s *store) further(vars *scope, extra []byte) error {
	if extra == nil {
		return nil
	}
	v, err := s.decode(extra)
	m, ok := v.(*dict)
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("%w: variables that are no object", ErrRefused), err)
	}
	for i, key := range m.keys {
		if _, taken := vars.find(key); !taken {
			vars.set(key, m.vals[i])
		}
	}
	return nil
}

// globals are the functions of all templates.
var globals = map[string]function{
	"range": numbers,
	"raise_exception": func(_ *frame, a args) any {
		throw(ErrRefused, "the template says: %s", text(a.take(0, "message", "")))
		return nil
	},
	"strftime_now": func(f *frame, a args) any { return strftime(f.now, a.text(0, "format")) },
	"namespace": func(_ *frame, a args) any {
		d := &dict{space: true}
		if from, ok := a.take(0, "", nil).(*dict); ok {
			for i, key := range from.keys {
				d.put(key, from.vals[i])
			}
		}
		for i, name := range a.names {
			d.put(name, a.named[i])
		}
		return d
	},
	"dict": func(_ *frame, a args) any {
		d := &dict{}
		for i, name := range a.names {
			d.put(name, a.named[i])
		}
		return d
	},
}

// numbers is range, of bounded length.
func numbers(f *frame, a args) any {
	from, to, by := 0, a.count(0, "stop", 0), a.count(2, "step", 1)
	if len(a.plain) > 1 {
		from, to = to, a.count(1, "stop", 0)
	}
	if by == 0 {
		throw(ErrRefused, "a range in steps of zero")
	}
	l := &list{}
	for i := from; by > 0 && i < to || by < 0 && i > to; i += by {
		if l.items = append(l.items, i); len(l.items) > maxRange {
			throw(ErrTooLarge, "a range of more than %d numbers", maxRange)
		}
	}
	f.step(len(l.items))
	return l
}

// wantsParts reports whether a template goes through the parts of a message's content, as those of models that see do.
func wantsParts(source string) bool {
	for _, of := range []string{"message['content']", `message["content"]`, "message.content", "msg.content",
		"m.content", "content"} {
		if strings.Contains(source, " in "+of+" %}") || strings.Contains(source, " in "+of+" -%}") {
			return true
		}
	}
	return false
}
