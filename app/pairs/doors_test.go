package pairs

import (
	"fmt"
	"net/http"
	"strings"

	"octet/engine/emulator"
	"octet/gateway/doors/doorstest"
)

// doorFeatures are the doors, and what conversations of agents have through any of them.
var doorFeatures = []*feature{
	{
		name: "messages", shape: func(_ *cell, q *question) { q.door = "messages" },
		audit: auditDoor, seen: func(a *answer) bool { return a.done && a.door == "messages" },
	},
	{
		name: "responses", shape: func(_ *cell, q *question) { q.door = "responses" },
		audit: auditDoor, seen: func(a *answer) bool { return a.done && a.door == "responses" },
	},
	{ // engines serve the door: an answer that has begun there does not go on elsewhere
		name: "native", doors: []string{emulator.DoorMessages, emulator.DoorResponses},
		shape: func(_ *cell, q *question) { q.door = "responses" }, may: []string{"upstream_reset"},
		seen: func(a *answer) bool { return a.done && a.head.Get("X-Door") == "native" },
	},
	{
		name: "tools", shape: func(_ *cell, q *question) { q.tools, q.inLoop = true, true },
		audit: func(c *cell, a *answer) {
			for _, h := range c.heardOf(a) {
				if h.tools != 1 || h.results != 1 {
					c.t.Errorf("%s reaches %s with %d tools and %d results", a.id, h.engine, h.tools, h.results)
				}
				c.showed("tools")
			}
		},
	},
	{
		name: "images", sets: seeing,
		shape: func(_ *cell, q *question) { q.image = "https://example.com/" + q.tenant },
		audit: func(c *cell, a *answer) {
			for _, h := range c.heardOf(a) {
				if h.image != "https://example.com/"+a.tenant {
					c.t.Errorf("%s reaches %s with the image %q", a.id, h.engine, h.image)
				}
				c.showed("images")
			}
			if r := a.receipt; r != nil && r.Prompt.Tokens > 0 && r.Prompt.Exact {
				c.t.Errorf("%s: its image has %d tokens exactly", a.id, r.Prompt.Tokens)
			}
		},
	},
	{ // the key of a conversation is in the body
		name: "session key", sets: []string{"auth.tenants[0].specialists[2]=beta", "router.stickiness.margin=1"},
		shape: func(_ *cell, q *question) {
			q.session = "talk"
			q.headers["X-Claude-Code-Session-Id"] = "another " + q.id // of less weight than the body's
		},
		before: talkToBeta, audit: auditStay,
		seen: func(a *answer) bool {
			return a.receipt != nil && strings.HasPrefix(a.receipt.Decision.Rule, "the conversation stays")
		},
	},
	{
		name: "forwarded", sets: []string{"limits.forward_headers[0]=X-Team", "limits.forward_headers[1]=X-Hop"},
		shape: func(_ *cell, q *question) {
			q.headers["X-Team"], q.headers["X-Other"], q.headers["X-Hop"] = q.tenant, "x", "x"
			q.headers["Connection"] = "X-Hop"
			q.headers["Traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		},
		audit: func(c *cell, a *answer) {
			for _, h := range c.heardOf(a) {
				team := h.head.Get("X-Team")
				if team != a.headers["X-Team"] || h.head.Get("Traceparent") != a.headers["Traceparent"] ||
					h.head.Get("X-Other")+h.head.Get("X-Hop") != "" {
					c.t.Errorf("%s reaches %s as of %q: %v", a.id, h.engine, team, h.head)
				}
				c.showed("forwarded")
			}
		},
	},
	{ // two answers to one prompt: a stream of them does not go on elsewhere
		name: "several", may: []string{"upstream_reset"},
		shape: func(_ *cell, q *question) { q.members["n"] = 2 },
		audit: func(c *cell, a *answer) {
			if sp := a.head.Get("X-Shadow"); a.choices() > 1 && sp != "" {
				c.t.Errorf("%s: a copy of two answers at %s", a.id, sp)
			}
		},
		seen: func(a *answer) bool { return a.done && a.beside != "" },
	},
	{ // the client does not ask for the usage of a stream: it sees none, and is charged by it
		name: "usage hidden", shape: func(_ *cell, q *question) { q.hides = true },
		seen: func(a *answer) bool {
			return a.done && a.stream && a.usage == usage{} && a.receipt != nil && a.receipt.Result.PromptTokens > 0
		},
	},
	{ // a classifier out of process takes its time, and none beyond the deadlines
		name: "outside",
		seen: func(a *answer) bool { return a.head.Get("X-Classifier") == "http" },
	},
}

// completionFeatures come behind all that say what a question holds.
var completionFeatures = []*feature{
	{ // a completion has no words for what agents say
		name: "completions",
		shape: func(_ *cell, q *question) {
			if q.door == "" && !q.tools && !q.inLoop && q.image == "" {
				q.door = "completions"
			}
		},
		seen: func(a *answer) bool { return a.done && a.door == "completions" },
	},
}

// seeing has all specialists take images.
var seeing = func() (sets []string) {
	for i := range names {
		at := fmt.Sprint("specialists[", i, "].")
		sets = append(sets, at+"modalities[0]=text", at+"modalities[1]=image", at+"image_tokens=20")
	}
	return sets
}()

// heardOf returns what engines were sent of a request.
func (c *cell) heardOf(a *answer) (all []heard) {
	for _, h := range c.heard {
		if h.id == a.id {
			all = append(all, h)
		}
	}
	return all
}

// auditDoor holds an answer to say by which way it came.
func auditDoor(c *cell, a *answer) {
	if got := a.head.Get("X-Door"); a.status == http.StatusOK && got != "translated" && !c.has("native") {
		c.t.Errorf("%s: X-Door is %q", a.id, got)
	}
}

// paths are where the doors are.
var paths = map[string]string{"": "/v1/chat/completions", "completions": "/v1/completions", "messages": "/v1/messages",
	"responses": "/v1/responses"}

type object = map[string]any

// spell makes the body of a question in the words of its door.
func (q *question) spell() object {
	words := strings.Repeat("why does it crash ", 16)
	text := fmt.Sprintf("%s[%s %.2f %s] %s %s", q.opening, q.lead, q.sure, q.second, words, q.id)
	result := "done " + q.id
	switch q.door {
	case "messages":
		return q.asMessages(text, result)
	case "responses":
		return q.asResponses(text, result)
	case "completions":
		return q.sent(object{"prompt": text})
	}
	user := object{"role": "user", "content": text}
	if q.image != "" {
		user["content"] = []object{{"type": "text", "text": text},
			{"type": "image_url", "image_url": object{"url": q.image}}}
	}
	messages := []object{user}
	if q.inLoop {
		call := object{"id": "c", "type": "function", "function": object{"name": "f", "arguments": "{}"}}
		messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": []any{call}},
			object{"role": "tool", "tool_call_id": "c", "content": result})
	}
	body := q.sent(object{"messages": messages})
	if q.tools {
		body["tools"] = []object{{"type": "function", "function": object{"name": "f", "parameters": object{}}}}
	}
	return body
}

// sent adds to the body of a chat or a completion what both say alike.
func (q *question) sent(body object) object {
	body["model"], body["stream"], body["max_tokens"] = q.model, q.stream, q.tokens
	if q.stream && !q.hides {
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	if q.session != "" {
		body["prompt_cache_key"] = q.session
	}
	return body
}

func (q *question) asMessages(text, result string) object {
	user := object{"role": "user", "content": text}
	if q.image != "" {
		user["content"] = []object{{"type": "text", "text": text},
			{"type": "image", "source": object{"type": "url", "url": q.image}}}
	}
	messages := []object{user}
	if q.inLoop {
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": "c", "name": "f",
				"input": object{}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "c",
				"content": result}}})
	}
	body := object{"model": q.model, "stream": q.stream, "max_tokens": q.tokens, "messages": messages}
	if q.tools {
		body["tools"] = []object{{"name": "f", "input_schema": object{}}}
	}
	if q.session != "" {
		body["metadata"] = object{"user_id": q.session}
	}
	return body
}

func (q *question) asResponses(text, result string) object {
	user := object{"role": "user", "content": text}
	if q.image != "" {
		user["content"] = []object{{"type": "input_text", "text": text}, {"type": "input_image", "image_url": q.image}}
	}
	items := []object{user}
	if q.inLoop {
		items = append(items, object{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
			object{"type": "function_call_output", "call_id": "c", "output": result})
	}
	body := object{"model": q.model, "stream": q.stream, "max_output_tokens": q.tokens, "input": items}
	if q.tools {
		body["tools"] = []object{{"type": "function", "name": "f", "parameters": object{}}}
	}
	if q.session != "" {
		body["prompt_cache_key"] = q.session
	}
	return body
}

// grammars read the answers of the doors.
var grammars = map[string]struct {
	stream func(string) (*doorstest.Said, error)
	whole  func([]byte) (*doorstest.Said, error)
}{
	"messages":  {doorstest.Messages, doorstest.WholeMessages},
	"responses": {doorstest.Responses, doorstest.WholeResponse},
}

// takeSaid takes down what an answer of a door says.
func (a *answer) takeSaid(said *doorstest.Said, err error) {
	a.text, a.code, a.usage = said.Text, said.Code, usage{Prompt: said.Prompt, Completion: said.Completion}
	a.done = said.Done && a.status == http.StatusOK
	switch {
	case err != nil:
		a.code = err.Error()
	case a.code != "" && said.RequestID != a.id:
		a.code += " of the request " + said.RequestID
	}
}
