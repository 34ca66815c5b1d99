package pairs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"octet/gateway/receipt"
)

// question is one request of a cell.
type question struct {
	id, tenant, key string
	model, intent   string
	lead, second    string
	sure            float64 // that it is the lead's
	stream          bool
	tokens          int
	headers         map[string]string
	members         map[string]any
	may             []string // codes in which it may end
	must            string   // the code in which it ends; "" is none in particular
	opening         string   // before all else that it says
	inLoop          bool     // what a tool returned stands behind what it says
	door            string   // "" is chat completions
	tools           bool     // it has one
	image, session  string   // the URL of an image; a key in the body
	hides           bool     // it does not ask for the usage of a stream
	leaves          int      // the tokens of a stream after which its client hangs up; 0 is never
	raw             string   // the body; "" is made of the above
}

// answer is what came of a question. Times are since it was asked.
type answer struct {
	*question
	at           time.Time
	first, ended time.Duration // first is zero before a token
	status       int
	head         http.Header
	text         string
	beside       string // of a second choice
	code         string // of the error, as the whole answer or as its last event
	done, clean  bool
	left         bool // its client hung up
	usage        usage
	receipt      *receipt.Receipt // nil before the audit, and if there is none
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Tokens int `json:"cached_tokens"` // which the engine had in its cache
	} `json:"prompt_tokens_details"`
}

// ask asks a question as the cell's features shape it, with changes.
func (c *cell) ask(tenant string, stream bool, changes ...func(*question)) *answer {
	c.t.Helper()
	q := c.question(tenant, stream)
	for _, change := range changes {
		change(q)
	}
	return c.send(q)
}

// question makes a question as the cell's features shape it.
func (c *cell) question(tenant string, stream bool) *question {
	c.mu.Lock()
	c.counter++
	q := &question{id: fmt.Sprint(tenant, "-", c.counter), tenant: tenant, key: tenant, model: "octet",
		intent: "review", lead: c.lead, second: "beta", sure: 0.9, stream: stream, tokens: 16,
		headers: map[string]string{}, members: map[string]any{}}
	c.mu.Unlock()
	for _, f := range c.features {
		if f.shape != nil {
			f.shape(c, q)
		}
		q.may = append(q.may, f.may...)
	}
	if !q.plain() { // which has no words for them
		delete(q.members, "cache_salt")
		delete(q.members, "n")
	}
	return q
}

// body is what a question sends.
func (q *question) body() string {
	if q.raw != "" {
		return q.raw
	}
	body := q.spell()
	for key, value := range q.members {
		body[key] = value
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// send asks a question and reads the answer to its end.
func (c *cell) send(q *question) *answer {
	c.t.Helper()
	a := &answer{question: q, at: time.Now()}
	headers := []string{"X-Request-Id", q.id, "X-Intent", q.intent}
	if q.key != "" {
		headers = append(headers, "Authorization", "Bearer "+q.key)
	}
	for name, value := range q.headers {
		headers = append(headers, name, value)
	}
	resp, err := c.Ask(context.Background(), http.MethodPost, "http://data"+paths[q.door], q.body(), headers...)
	if err != nil {
		c.t.Errorf("%s: %v", q.id, err)
		return a
	}
	defer resp.Body.Close()
	a.status, a.head = resp.StatusCode, resp.Header
	if q.stream && a.status == http.StatusOK {
		a.readStream(resp.Body)
	} else {
		a.readWhole(resp.Body)
	}
	a.ended = time.Since(a.at)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, a)
	return a
}

// piece is a whole answer, an event or an error.
type piece struct {
	Choices []struct {
		Index          int
		Message, Delta struct{ Content string }
		Text           string // of a completion
	}
	Usage *usage
	Error struct{ Code string }
}

func (a *answer) readWhole(body io.Reader) {
	text, err := io.ReadAll(body)
	a.clean = err == nil
	if g, is := grammars[a.door]; is {
		a.takeSaid(g.whole(text))
		return
	}
	a.take(text)
	a.done = a.status == http.StatusOK && a.clean && a.code == ""
}

func (a *answer) readStream(body io.Reader) {
	lines, all := bufio.NewReader(body), []byte(nil)
	for {
		line, err := lines.ReadBytes('\n')
		if g, is := grammars[a.door]; is {
			if all = append(all, line...); a.first == 0 && bytes.Contains(line, []byte("⟦")) {
				a.first = max(1, time.Since(a.at))
			}
			if n := bytes.Count(all, []byte("⟦")); a.leaves > 0 && n >= a.leaves {
				a.left = true
				return
			}
			if err != nil {
				a.clean = err == io.EOF
				a.takeSaid(g.stream(string(all)))
				return
			}
			continue
		}
		if payload, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && err == nil {
			if string(payload) == "[DONE]" {
				a.done = true
			} else {
				a.take(payload)
			}
			if n := strings.Count(a.text, "⟦"); a.leaves > 0 && n >= a.leaves {
				a.left = true
				return
			}
		}
		if err != nil {
			a.clean = err == io.EOF
			return
		}
	}
}

func (a *answer) take(payload []byte) {
	var p piece
	if err := json.Unmarshal(payload, &p); err != nil {
		a.code = "not JSON: " + string(payload)
		return
	}
	for _, choice := range p.Choices {
		said := choice.Message.Content + choice.Delta.Content + choice.Text
		if choice.Index == 0 {
			a.text += said
		} else {
			a.beside += said
		}
	}
	if a.first == 0 && a.text+a.beside != "" {
		a.first = max(1, time.Since(a.at))
	}
	if p.Usage != nil {
		a.usage = *p.Usage
	}
	if p.Error.Code != "" {
		a.code = p.Error.Code
	}
}

// whole is what an engine says in answer to a question.
func (q *question) whole() string {
	var b strings.Builder
	for i := range q.tokens {
		fmt.Fprintf(&b, "⟦%s:%d⟧", q.id, i)
	}
	return b.String()
}

// plain returns true if the question is a chat or a completion.
func (q *question) plain() bool { return q.door == "" || q.door == "completions" }

// choices is how many answers the question asks for: 1 or 2.
func (q *question) choices() int {
	n, _ := q.members["n"].(int)
	return max(n, 1)
}

// specialist is the one that answered, "" if none was chosen.
func (a *answer) specialist() string { return a.head.Get("X-Specialist") }

// foretold is how many tokens the answer's head says to be in the cache.
func (a *answer) foretold() int {
	n, _ := strconv.Atoi(a.head.Get("X-Cached-Tokens"))
	return n
}

// number reads a header as a number; 0 without it.
func (q *question) number(header string) int {
	n, _ := strconv.Atoi(q.headers[header])
	return n
}

// read returns the answer of a GET as a tenant.
func (c *cell) read(tenant, path string, into any) int {
	c.t.Helper()
	resp, err := c.Ask(context.Background(), http.MethodGet, "http://data"+path, "", "Authorization", "Bearer "+tenant)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if into != nil && resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			c.t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// profile is the one by which the last replica was chosen.
func (a *answer) profile() string {
	if a.receipt == nil || len(a.receipt.Routing) == 0 {
		return ""
	}
	return a.receipt.Routing[len(a.receipt.Routing)-1].Profile
}
