package main

import "encoding/json"

// surface is how requests of a kind are made and what their answers are read as.
type surface struct {
	path string
	ask  func(body map[string]any, text string, tokens int)
	read func(a *answer, raw []byte) (said int, err error) // an answer in one piece, or the data of one event
}

// surfaces are the kinds that may be asked for.
var surfaces = map[string]surface{
	"completions": {"/v1/completions", func(body map[string]any, text string, tokens int) {
		body["prompt"], body["max_tokens"] = text, tokens
	}, readChunk},
	"chats": {"/v1/chat/completions", func(body map[string]any, text string, tokens int) {
		body["messages"], body["max_tokens"] = asked(text), tokens
	}, readChunk},
	"messages": {"/v1/messages", func(body map[string]any, text string, tokens int) {
		body["messages"], body["max_tokens"] = asked(text), tokens
	}, readMessage},
	"responses": {"/v1/responses", func(body map[string]any, text string, tokens int) {
		body["input"], body["max_output_tokens"] = asked(text), tokens
	}, readResponse},
}

func asked(text string) []map[string]string {
	return []map[string]string{{"role": "user", "content": text}}
}

func readChunk(a *answer, raw []byte) (int, error) {
	var c chunk
	err := json.Unmarshal(raw, &c)
	return a.take(c), err
}

// counts are a usage of Messages or Responses. Messages tell apart what the cache had, and what it has now.
type counts struct {
	Input   int `json:"input_tokens"`
	Cached  int `json:"cache_read_input_tokens"`
	Created int `json:"cache_creation_input_tokens"`
	Output  int `json:"output_tokens"`
}

func (a *answer) took(u *counts) {
	if u != nil {
		a.prompt, a.completion = max(a.prompt, u.Input+u.Cached+u.Created), u.Output
	}
}

func readMessage(a *answer, raw []byte) (int, error) {
	var m struct {
		Type    string
		Content []struct{ Text string }
		Delta   struct{ Text string }
		Usage   *counts
		Error   json.RawMessage
	}
	err := json.Unmarshal(raw, &m)
	said := m.Delta.Text
	for _, block := range m.Content {
		said += block.Text
	}
	a.text += said
	a.took(m.Usage)
	a.done = a.done || m.Type == "message_stop"
	if len(m.Error) > 0 {
		a.wrong = string(m.Error)
	}
	return len(said), err
}

func readResponse(a *answer, raw []byte) (int, error) {
	type response struct {
		Output []struct{ Content []struct{ Text string } }
		Usage  *counts
		Error  json.RawMessage
	}
	var r struct {
		Type     string
		Delta    string
		Response response
		response
	}
	err := json.Unmarshal(raw, &r)
	switch r.Type {
	case "": // in one piece
		for _, item := range r.Output {
			for _, part := range item.Content {
				a.text += part.Text
			}
		}
		a.took(r.Usage)
	case "response.output_text.delta":
		a.text += r.Delta
		return len(r.Delta), err
	case "response.completed", "response.incomplete":
		a.took(r.Response.Usage)
		a.done = true
	case "error", "response.failed":
		a.wrong = string(raw)
	}
	return 0, err
}
