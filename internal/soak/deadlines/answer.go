package main

import (
	"bytes"
	"encoding/json"
)

// answer is what a client was told.
type answer struct {
	status int
	id     string
	text   string
	failed bool   // an error came
	rest   string // what is no text: an error, in words
}

// parse reads a unary answer, a stream, or an error.
func parse(body []byte) (a answer) {
	if len(body) > 0 && body[0] == '{' {
		a.take(body)
		return a
	}
	for line := range bytes.Lines(body) {
		if event, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && string(event) != "[DONE]" {
			a.take(event)
		}
	}
	return a
}

func (a *answer) take(object []byte) {
	var said struct {
		Error   json.RawMessage
		Choices []struct {
			Delta, Message struct{ Content string }
		}
	}
	if json.Unmarshal(object, &said) != nil || said.Error != nil {
		a.failed, a.rest = true, a.rest+string(object)
	}
	for _, c := range said.Choices {
		a.text += c.Delta.Content + c.Message.Content
	}
}
