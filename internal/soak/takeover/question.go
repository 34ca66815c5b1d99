package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// question is one request, to be answered in whole or as a stream.
type question struct {
	surface
	body map[string]any
}

// answer is what came of one.
type answer struct {
	text               string
	prompt, completion int // of the usage; -1 without
	done               bool
	wrong              string // how it ended otherwise
	continued          int
}

// counter calls then once so many bytes of text have come.
type counter struct {
	sum  atomic.Int64
	due  int
	then func()
}

func (c *counter) add(n int) {
	if c.sum.Add(int64(n)) >= int64(c.due) {
		c.then()
	}
}

// subjects are what prompts end with: texts that go on from different words differ.
var subjects = strings.Fields(`
	vector map queue lane lock heap stack graph tree list buffer cache index token block page thread fiber mutex
	atomic socket stream parser lexer macro template class struct union enum pointer reference iterator range view
	span tuple pair set bitset string char byte word line file path`)

// questions are as many prompts as streams, no two alike.
func (o options) questions() []question {
	all := make([]question, o.streams)
	for i := range all {
		text := fmt.Sprintf("%d. %s\nWrite about the %s", i,
			strings.Repeat("An iterator outlives its container. ", 2+i%5), subjects[i%len(subjects)])
		all[i] = question{surfaces[o.kind], map[string]any{"model": o.model, "temperature": o.temperature}}
		all[i].ask(all[i].body, text, o.tokens)
	}
	return all
}

// client has no bound of its own below a minute an answer.
var client = &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

func (q question) post(url string, stream bool) (*http.Response, error) {
	body := map[string]any{}
	for k, v := range q.body {
		body[k] = v
	}
	if stream {
		body["stream"] = true
		if strings.HasSuffix(q.path, "completions") {
			body["stream_options"] = map[string]bool{"include_usage": true}
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // made of strings and numbers
	}
	return client.Post(url+q.path, "application/json", bytes.NewReader(raw))
}

// chunk is an answer or a part of one.
type chunk struct {
	Choices []struct {
		Text           string
		Message, Delta struct{ Content string }
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Error json.RawMessage
}

func (a *answer) take(c chunk) (said int) {
	for _, ch := range c.Choices {
		text := ch.Text + ch.Message.Content + ch.Delta.Content
		a.text += text
		said += len(text)
	}
	if c.Usage != nil {
		a.prompt, a.completion = c.Usage.Prompt, c.Usage.Completion
	}
	if len(c.Error) > 0 {
		a.wrong = string(c.Error)
	}
	return said
}

// whole asks an engine itself.
func (q question) whole(url string) (a answer, err error) {
	resp, err := q.post(url, false)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("undisturbed: status %d, %w: %s", resp.StatusCode, err, raw)
	}
	_, err = q.read(&a, raw)
	a.done = true
	return a, err
}

// stream asks the gateway and reads to the end.
func (q question) stream(url string, heard *counter) answer {
	a := answer{prompt: -1, completion: -1}
	resp, err := q.post(url, true)
	if err != nil {
		a.wrong = err.Error()
		return a
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // what came of it has to do
		a.wrong = fmt.Sprintf("status %d: %s", resp.StatusCode, raw)
		return a
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			a.done = true
			continue
		}
		said, err := q.read(&a, []byte(data))
		if err != nil {
			a.wrong = fmt.Sprintf("%v in %s", err, data)
		}
		heard.add(said)
	}
	if err := lines.Err(); err != nil && a.wrong == "" {
		a.wrong = err.Error()
	}
	a.continued = continued(url, resp.Header.Get("X-Receipt-Id"))
	return a
}

// continued is how often the answer went on at another engine, as its receipt says.
func continued(url, receipt string) int {
	var r struct{ Result struct{ Continued int } }
	for range 50 { // it is put away after the answer's last byte
		resp, err := client.Get(url + "/v1/receipts/" + receipt)
		if err != nil {
			return 0
		}
		err = json.NewDecoder(resp.Body).Decode(&r)
		resp.Body.Close()
		if err == nil && resp.StatusCode == http.StatusOK {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return r.Result.Continued
}
