package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// outcome is how one question ended.
type outcome struct {
	end   string // complete, left, or the code of the error
	begun bool   // a token had come before the error
	wrong string // what must not be; empty where all is right
}

// choice is one of an answer's texts, read token by token.
type choice struct {
	tokens int    // whole ones
	rest   string // of a token that has not come whole
}

// reply is what has come of an answer.
type reply struct {
	q       *question
	choices map[int]*choice
	done    bool
	code    string // of an error
	usage   int    // completion tokens as the usage says; -1 without
}

// put asks q and reads the answer to its end, or until the client leaves.
func put(client *http.Client, url string, q *question) outcome {
	req, err := http.NewRequest(http.MethodPost, url+q.path, strings.NewReader(q.json()))
	if err != nil {
		panic(err) // of a path that is a constant
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range q.header {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return outcome{end: "transport", wrong: fmt.Sprintf("no answer: %v", err)}
	}
	defer resp.Body.Close()
	r := &reply{q: q, choices: map[int]*choice{}, usage: -1}
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(resp.Body)
		r.code = codeOf(body)
		if r.code == "" || err != nil {
			return outcome{end: "untyped", wrong: fmt.Sprintf("status %d, %v: %.200s", resp.StatusCode, err, body)}
		}
		return outcome{end: r.code}
	}
	if q.stream {
		return r.stream(resp.Body)
	}
	return r.whole(resp.Body)
}

func codeOf(body []byte) string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal(body, &e) // what is no error has no code
	return e.Error.Code
}

// whole reads an answer that is not streamed.
func (r *reply) whole(body io.Reader) outcome {
	b, err := io.ReadAll(body)
	if err != nil {
		return outcome{end: "cut", wrong: fmt.Sprintf("a unary answer was cut: %v", err)}
	}
	if wrong := r.take(b); wrong != "" {
		return outcome{end: "wrong", wrong: wrong}
	}
	r.done = true
	return r.ended(nil)
}

// stream reads events until the stream's end, or leaves.
func (r *reply) stream(body io.Reader) outcome {
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		payload, is := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		switch {
		case err != nil:
			return r.ended(err)
		case !is:
		case string(payload) == "[DONE]":
			r.done = true
		default:
			if wrong := r.take(payload); wrong != "" {
				return outcome{end: "wrong", wrong: wrong}
			}
		}
		if r.q.leave > 0 && r.most() >= r.q.leave {
			return outcome{end: "left"}
		}
	}
}

// take reads one event, or a whole answer, and returns what is wrong with it.
func (r *reply) take(payload []byte) string {
	if r.done {
		return "something came after [DONE]"
	}
	if code := codeOf(payload); code != "" {
		r.code = code
		return ""
	}
	var chunk struct {
		Choices []struct {
			Index          int
			Delta, Message struct{ Content string }
			Text           string
		}
		Usage *struct {
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(payload, &chunk); err != nil {
		return fmt.Sprintf("not JSON: %v: %.200s", err, payload)
	}
	if chunk.Usage != nil {
		r.usage = chunk.Usage.Completion
	}
	for _, c := range chunk.Choices {
		if wrong := r.add(c.Index, c.Delta.Content+c.Message.Content+c.Text); wrong != "" {
			return wrong
		}
	}
	return ""
}

// add appends text to a choice and returns what is not the next token of it.
func (r *reply) add(index int, text string) string {
	c := r.choices[index]
	if c == nil {
		c = &choice{}
		r.choices[index] = c
	}
	for c.rest += text; ; c.tokens++ {
		next := r.q.says(c.tokens)
		if rest, ok := strings.CutPrefix(c.rest, next); ok {
			c.rest = rest
			continue
		}
		if !strings.HasPrefix(next, c.rest) {
			return fmt.Sprintf("choice %d: %.80q instead of %q", index, c.rest, next)
		}
		return ""
	}
}

func (r *reply) most() int {
	most := 0
	for _, c := range r.choices {
		most = max(most, c.tokens)
	}
	return most
}

// ended judges a stream that ended with err, or a unary answer (nil).
func (r *reply) ended(err error) outcome {
	switch {
	case r.code != "" && r.done:
		return outcome{end: r.code, wrong: "an error, and [DONE]"}
	case r.code != "":
		return outcome{end: r.code, begun: r.most() > 0}
	case !r.done:
		return outcome{end: "silent", wrong: fmt.Sprintf("neither [DONE] nor an error: %v", err)}
	case err != nil && !errors.Is(err, io.EOF):
		return outcome{end: "cut", wrong: fmt.Sprintf("after [DONE]: %v", err)}
	case len(r.choices) != r.q.choices:
		return outcome{end: "short", wrong: fmt.Sprintf("%d choices of %d", len(r.choices), r.q.choices)}
	}
	for i, c := range r.choices {
		if c.tokens != r.q.tokens || c.rest != "" {
			return outcome{end: "short",
				wrong: fmt.Sprintf("choice %d: %d tokens of %d, and %q", i, c.tokens, r.q.tokens, c.rest)}
		}
	}
	if want := r.q.tokens * r.q.choices; r.usage >= 0 && r.usage != want {
		return outcome{end: "usage", wrong: fmt.Sprintf("usage of %d tokens, not %d", r.usage, want)}
	}
	return outcome{end: "complete"}
}
