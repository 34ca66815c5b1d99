package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// question is one request and what is right for an answer to it.
type question struct {
	id         string
	specialist specialist
	path       string
	body       map[string]any
	header     map[string]string
	stream     bool
	tokens     int // of each choice
	choices    int
	leave      int // tokens after which the client leaves; 0 is never
	deadline   bool
	resumable  bool // an engine's death does not end it
}

// ask draws a question. The id is in each token of its answer.
func ask(id string, draw *rand.Rand) question {
	q := question{id: id, tokens: 5 + draw.IntN(150), choices: 1, specialist: specialists[draw.IntN(len(specialists))]}
	q.stream = draw.IntN(3) > 0
	q.resumable = q.specialist.resumable
	q.header = map[string]string{"X-Request-Id": id, "X-Priority": fmt.Sprint(draw.IntN(3) - 1)}
	if t := tenants[draw.IntN(len(tenants))]; t.key != "" {
		q.header["Authorization"] = "Bearer " + t.key
	}
	if draw.IntN(4) == 0 {
		q.header["X-Session-Id"] = fmt.Sprint("session-", draw.IntN(40))
	}
	model := q.specialist.name
	if a := q.specialist.adapters; len(a) > 0 && draw.IntN(2) == 0 {
		model += ":" + a[draw.IntN(len(a))]
	}
	q.body = map[string]any{"model": model, "max_tokens": q.tokens, "temperature": 0, "stream": q.stream}
	q.prompt(draw)
	switch draw.IntN(10) {
	case 0:
		q.leave = 1 + draw.IntN(q.tokens)
	case 1: // about as long as an answer takes
		q.deadline = true
		q.header["X-Deadline-Ms"] = fmt.Sprint(q.tokens*10 + draw.IntN(400))
	case 2:
		q.deadline = true
		q.header["X-TTFT-Deadline-Ms"] = fmt.Sprint(20 + draw.IntN(400))
	}
	return q
}

// prompt draws what is asked: a chat, a text, a list of texts, token ids, or several choices.
func (q *question) prompt(draw *rand.Rand) {
	text := fmt.Sprintf("case %d: %s%s", draw.IntN(60),
		strings.Repeat("the iterator outlives its container. ", 5+draw.IntN(60)), q.id)
	q.path = "/v1/completions"
	switch draw.IntN(8) {
	case 0:
		q.body["prompt"] = text
	case 1:
		list := make([]string, 2+draw.IntN(3))
		for i := range list {
			list[i] = fmt.Sprint(text, " prompt ", i)
		}
		q.choices, q.body["prompt"], q.resumable = len(list), list, false
	case 2:
		q.body["prompt"], q.resumable = tokenIDs(draw), false
	case 3:
		q.choices, q.body["prompt"], q.resumable = 2, [][]int{tokenIDs(draw), tokenIDs(draw)}, false
	case 4:
		q.choices, q.resumable = 2+draw.IntN(3), false
		q.body["n"] = q.choices
		q.chat(text)
	default:
		q.chat(text)
	}
}

func (q *question) chat(text string) {
	q.path = "/v1/chat/completions"
	q.body["messages"] = []map[string]string{{"role": "system", "content": "You find bugs."},
		{"role": "user", "content": text}}
}

func tokenIDs(draw *rand.Rand) []int {
	ids := make([]int, 50+draw.IntN(400))
	first := draw.IntN(20)
	for i := range ids {
		ids[i] = 1000 + first*500 + i
	}
	return ids
}

func (q *question) json() string {
	b, err := json.Marshal(q.body)
	if err != nil {
		panic(err) // made of strings and numbers
	}
	return string(b)
}

// says is the n-th token of every choice of the answer.
func (q *question) says(n int) string { return fmt.Sprintf("⟦%s:%d⟧", q.id, n) }
