package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"octet/gateway/apierr"
	"octet/gateway/doors/doorstest"
)

// surface is a door as tests go through it: what a conversation is there, and what an answer says.
type surface struct {
	name, path string
	mode       string // what X-Door says; "" of chat completions
	spell      func(c *conversation) map[string]any
	stream     func(events string) (*doorstest.Said, error)
	whole      func(body []byte) (*doorstest.Said, error)
}

// surfaces are all doors, chat completions first.
var surfaces = []surface{
	{"chat", "/v1/chat/completions", "", asChat, doorstest.Chat, doorstest.WholeChat},
	{"messages", "/v1/messages", "translated", asMessages, doorstest.Messages, doorstest.WholeMessages},
	{"responses", "/v1/responses", "translated", asResponses, doorstest.Responses, doorstest.WholeResponse},
}

// natives are the doors of engines that serve them themselves.
func natives() []surface {
	list := slices.Clone(surfaces[1:])
	for i := range list {
		list[i].mode = "native"
	}
	return list
}

// conversation is what every surface can say.
type conversation struct {
	model, system string
	turns         []uttered
	tools         []string // names of functions
	stop          []string
	most          int // tokens
	stream        bool
	session       string
}

// uttered is one message: a user's, with an image or not, an assistant's, with calls or not, or what a tool returned.
type uttered struct {
	role, text, image, id string // id: of the call that a tool answers
	calls                 []doorstest.Call
}

// ask is a conversation of one question.
func ask(model, text string, most int, stream bool) *conversation {
	return &conversation{model: model, most: most, stream: stream, turns: []uttered{{role: "user", text: text}}}
}

// body is a conversation as the surface spells it, with further members.
func (s *surface) body(c *conversation, more ...string) string {
	body := s.spell(c)
	for i := 0; i < len(more); i += 2 {
		body[more[i]] = json.RawMessage(more[i+1])
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func schemaOf() object {
	return object{"type": "object", "properties": object{"path": object{"type": "string"}}}
}

func asChat(c *conversation) object {
	body := object{"model": c.model, "max_tokens": c.most, "stream": c.stream}
	var messages []object
	var tools []json.RawMessage
	if c.system != "" {
		messages = append(messages, object{"role": "system", "content": c.system})
	}
	for _, s := range c.turns {
		m := object{"role": s.role, "content": s.text}
		if s.image != "" {
			m["content"] = []object{{"type": "text", "text": s.text},
				{"type": "image_url", "image_url": object{"url": s.image}}}
		}
		if s.role == "tool" {
			m["tool_call_id"] = s.id
		}
		var calls []object
		for _, call := range s.calls {
			calls = append(calls, object{"id": call.ID, "type": "function",
				"function": object{"name": call.Name, "arguments": call.Arguments}})
		}
		if calls != nil {
			m["tool_calls"] = calls
		}
		messages = append(messages, m)
	}
	for _, name := range c.tools { // members in the order of the protocol, as templates may show them as they came
		schema, _ := json.Marshal(schemaOf())
		tools = append(tools, fmt.Appendf(nil, `{"type":"function","function":{"name":%q,"description":%q,`+
			`"parameters":%s}}`, name, "does "+name, schema))
	}
	setList(body, "tools", tools)
	setList(body, "stop", c.stop)
	body["messages"] = messages
	if c.stream {
		body["stream_options"] = object{"include_usage": true}
	}
	if c.session != "" {
		body["prompt_cache_key"] = c.session
	}
	return body
}

func asMessages(c *conversation) object {
	body := object{"model": c.model, "max_tokens": c.most, "stream": c.stream}
	var messages, tools []object
	for _, s := range c.turns {
		m, blocks := object{"role": s.role, "content": s.text}, []object(nil)
		switch {
		case s.role == "tool":
			m["role"], m["content"] = "user", []object{{"type": "tool_result", "tool_use_id": s.id, "content": s.text}}
		case s.image != "":
			m["content"] = []object{{"type": "text", "text": s.text},
				{"type": "image", "source": object{"type": "url", "url": s.image}}}
		case len(s.calls) > 0:
			blocks = append(blocks, object{"type": "text", "text": s.text})
			for _, call := range s.calls {
				blocks = append(blocks, object{"type": "tool_use", "id": call.ID, "name": call.Name,
					"input": json.RawMessage(call.Arguments)})
			}
			m["content"] = blocks
		}
		messages = append(messages, m)
	}
	for _, name := range c.tools {
		tools = append(tools, object{"name": name, "description": "does " + name, "input_schema": schemaOf()})
	}
	setList(body, "tools", tools)
	setList(body, "stop_sequences", c.stop)
	body["messages"] = messages
	if c.system != "" {
		body["system"] = c.system
	}
	if c.session != "" {
		body["metadata"] = object{"user_id": c.session}
	}
	return body
}

func asResponses(c *conversation) object {
	body := object{"model": c.model, "max_output_tokens": c.most, "stream": c.stream}
	var items, tools []object
	for _, s := range c.turns {
		m := object{"role": s.role, "content": s.text}
		switch {
		case s.role == "tool":
			m = object{"type": "function_call_output", "call_id": s.id, "output": s.text}
		case s.image != "":
			m["content"] = []object{{"type": "input_text", "text": s.text},
				{"type": "input_image", "image_url": s.image}}
		}
		items = append(items, m)
		for _, call := range s.calls {
			items = append(items, object{"type": "function_call", "call_id": call.ID, "name": call.Name,
				"arguments": call.Arguments})
		}
	}
	for _, name := range c.tools {
		tools = append(tools, object{"type": "function", "name": name, "description": "does " + name,
			"parameters": schemaOf()})
	}
	setList(body, "tools", tools)
	body["input"] = items
	if c.system != "" {
		body["instructions"] = c.system
	}
	if c.session != "" {
		body["prompt_cache_key"] = c.session
	}
	return body
}

// setList sets a list of a body unless it is empty.
func setList[T any](body object, name string, list []T) {
	if len(list) > 0 {
		body[name] = list
	}
}

// heardOf is an answer at a surface.
type heardOf struct {
	*doorstest.Said
	head  http.Header
	code  int   // of HTTP
	clean bool  // the connection ended properly
	err   error // against the surface's grammar
	raw   string
}

// askAt asks at a surface and reads the answer to its end.
func (w *world) askAt(s *surface, body string, stream bool, headers ...string) *heardOf {
	w.T.Helper()
	return s.hear(w.Ask(w.T.Context(), s.path, body, headers...), stream)
}

// hear reads an answer to its end.
func (s *surface) hear(resp *http.Response, stream bool) *heardOf {
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	h := &heardOf{head: resp.Header, code: resp.StatusCode, clean: err == nil, raw: string(answer)}
	if stream && resp.StatusCode == http.StatusOK {
		h.Said, h.err = s.stream(string(answer))
	} else {
		h.Said, h.err = s.whole(answer)
	}
	if door := resp.Header.Get("X-Door"); resp.StatusCode == http.StatusOK && door != s.mode {
		h.err = fmt.Errorf("X-Door is %q, want %q", door, s.mode)
	}
	return h
}

// failsWith holds an answer to be one typed error: the whole of it, or the last event of a stream that ends abnormally.
func (h *heardOf) failsWith(t testing.TB, code apierr.Code, param, id string) {
	t.Helper()
	status := (&apierr.Error{Code: code}).Status()
	begun := h.code == http.StatusOK
	switch {
	case h.err != nil:
		t.Errorf("%v: %d %s", h.err, h.code, h.raw)
	case h.Done || h.Code != string(code) || h.RequestID != id || h.clean == begun || !begun && h.code != status:
		t.Errorf("status %d, done %v, clean end %v, %s of %q, want %d, %s of %q: %s", h.code, h.Done, h.clean, h.Code,
			h.RequestID, status, code, id, h.raw)
	}
	if begun {
		return
	}
	var e struct{ Error struct{ Param *string } }
	_ = json.Unmarshal([]byte(h.raw), &e) // the surface has read it
	if got := e.Error.Param; got == nil && param != "" || got != nil && *got != param {
		t.Errorf("%s: param is not %q: %s", code, param, h.raw)
	}
}

// judged is a client whose streams are held to the grammars of their surfaces, whatever is made of them.
func judged(t testing.TB) *http.Client { return &http.Client{Transport: judge{t}} }

type judge struct{ t testing.TB }

// RoundTrip implements http.RoundTripper.
func (j judge) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, err
	}
	for i := range surfaces {
		if surfaces[i].path == r.URL.Path {
			resp.Body = &judgedBody{ReadCloser: resp.Body, judge: j, surface: &surfaces[i]}
		}
	}
	return resp, nil
}

// judgedBody keeps what is read of a stream, and judges it when it ends or is closed.
type judgedBody struct {
	io.ReadCloser
	judge   judge
	surface *surface
	read    bytes.Buffer
	over    sync.Once
}

func (b *judgedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	if err != nil {
		b.over.Do(func() {
			if _, bad := b.surface.stream(b.read.String()); bad != nil {
				b.judge.t.Errorf("%s: %v", b.surface.name, bad)
			}
		})
	}
	return n, err
}

func (b *judgedBody) Close() error {
	_, _ = io.Copy(io.Discard, b) // clients leave off behind an error; a broken connection is no fault of the grammar
	return b.ReadCloser.Close()
}
