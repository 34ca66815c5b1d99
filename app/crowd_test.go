package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"octet/slo"
)

// crowd are the clients of an overload, and what became of them.
type crowd struct {
	b         *bubble
	perSecond float64 // tokens that debug's engines can say
	begun     time.Time
	worked    time.Duration
	step      slo.EscalationState // at the storm's end
	asking    sync.WaitGroup
	count     int

	mu      sync.Mutex // guards all below
	answers []answered
	refused map[string]int // by priority and code
	retried map[string]int // by priority
	urgent  int
	misses  []string
	wrong   []string
}

// customer is one client with one question.
type customer struct {
	id       string
	priority int
	deadline time.Duration // 0 is none
	first    time.Duration // of the first token; 0 is none
	stream   bool
	obeys    bool // comes back when it was told to; one that does not comes back at once
	model    string
	text     string
	words    int
	tokens   int
}

// answered is an answer that came whole. Times are since the beginning.
type answered struct {
	customer
	specialist, routedBy string
	shadow               string // the specialist that was sent a copy
	receipt              string
	asked, ended         time.Duration
	prompt, said         int // tokens as the engine says; of the prompt without what was cached
	heard                string
	failed               string // the code of the error, or what else was wrong
}

// share is a part of the answers.
type share struct {
	tokens int // of those in time
	took   []time.Duration
}

func (s *share) add(a answered) {
	took := a.ended - a.asked
	s.took = append(s.took, took)
	if a.deadline == 0 || took <= a.deadline {
		s.tokens += a.said
	}
}

func (s share) p99() time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	slices.Sort(s.took)
	return s.took[(len(s.took)*99-1)/100].Round(time.Millisecond)
}

// The questions, and how the builtin classifier takes them with only these two specialists.
const (
	sureOfDebug = "My mutex deadlocks, how do I find out why with gdb"
	// 0.54, then systems 0.42
	unsureOfDebug = "gdb stops when the socket is closed"
	// 0.67, then debug 0.30
	unsureOfSystems = "the backtrace ends in recvmsg when the peer is gone"
)

// kinds is after how many customers their priorities, deadlines and models come again.
const kinds = 60

// next is the n-th customer: of ten six are of priority -10, three of 0 and one of 10. Which are streams, how long they
// are and which obey is drawn, in the same order in every run.
func next(n int, draw *rand.Rand) customer {
	c := customer{
		id: fmt.Sprint("c", n), priority: -10, model: "debug", text: sureOfDebug,
		stream: draw.IntN(3) > 0, obeys: draw.IntN(4) > 0, words: 20 + draw.IntN(120), tokens: 16 + draw.IntN(49),
	}
	switch n % 10 {
	case 0:
		c.priority, c.deadline = 10, 6*time.Second
	case 1, 4, 7:
		c.priority = 0
	}
	if c.priority < 0 && n%3 == 0 {
		c.first = 8 * time.Second
	}
	if n%20 == 5 {
		c.model, c.text = "octet", unsureOfDebug
	}
	return c
}

//nolint:lll // raw text that cannot be broken
func (c customer) body() string {
	var filler strings.Builder
	filler.WriteString(c.id)
	for range c.words {
		filler.WriteString(" log")
	}
	return fmt.Sprintf(
		`{"model":%q,"max_tokens":%d,"stream":%t,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":%q},{"role":"user","content":%q}]}`,
		c.model, c.tokens, c.stream, filler.String(), c.text)
}

func (c customer) headers() []string {
	h := []string{"X-Request-Id", c.id, "X-Priority", strconv.Itoa(c.priority)}
	if c.model == "octet" {
		h = append(h, "X-Intent", "review")
	}
	if c.deadline > 0 {
		h = append(h, "X-Deadline-Ms", strconv.FormatInt(c.deadline.Milliseconds(), 10))
	}
	if c.first > 0 {
		h = append(h, "X-TTFT-Deadline-Ms", strconv.FormatInt(c.first.Milliseconds(), 10))
	}
	return h
}

// measure is how many tokens a second debug's engines say when all their places are always taken, and none waits for
// them.
func (c *crowd) measure(d time.Duration) float64 {
	var said, mu = 0, sync.Mutex{}
	var all sync.WaitGroup
	until := time.Now().Add(d)
	for i := range 2 * overloadRunning {
		draw := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for n := 0; time.Now().Before(until); n++ {
				q := next(n, draw)
				q.id, q.model = fmt.Sprintf("m%d-%d", i, n), "debug"
				resp, err := c.b.Ask(context.Background(), http.MethodPost,
					fmt.Sprintf("http://debug-%d/v1/chat/completions", i%2), q.body())
				if err != nil {
					c.b.T.Error(err)
					return
				}
				a := q.read(resp)
				mu.Lock()
				if time.Now().Before(until) {
					said += a.said
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return float64(said) / d.Seconds()
}

// arrive has customers come for a while, at a multiple of what debug can do.
func (c *crowd) arrive(load float64, d time.Duration) {
	const mean = 40 // tokens
	gap := time.Duration(float64(time.Second) * mean / (load * c.perSecond))
	draw := rand.New(rand.NewPCG(2, 3))
	for range int(d / gap) {
		q := next(c.count, draw)
		c.count++
		c.asking.Go(func() { c.insist(q) })
		time.Sleep(gap) // in a bubble
	}
}

// besides asks systems now and then, unsurely, so that debug is to be sent copies, until a time since the beginning.
func (c *crowd) besides(until time.Duration) {
	c.asking.Go(func() {
		for n := 0; time.Since(c.begun) < until; n++ {
			q := customer{id: fmt.Sprint("s", n), model: "octet", text: unsureOfSystems, words: 30, tokens: 20,
				stream: n%2 == 0}
			c.asking.Go(func() { c.once(q) })
			time.Sleep(500 * time.Millisecond) // in a bubble
		}
	})
}

// insist asks until there is an answer, or the customer has had enough.
func (c *crowd) insist(q customer) {
	if q.priority == 10 {
		c.note(func() { c.urgent++ })
	}
	id := q.id
	tries := 2
	if !q.obeys {
		tries = 4
	}
	for try := range tries {
		q.id = fmt.Sprintf("%s.%d", id, try)
		again := c.once(q)
		if again < 0 || q.priority == 10 || try == tries-1 {
			return
		}
		c.note(func() { c.retried[strconv.Itoa(q.priority)]++ })
		time.Sleep(again) // in a bubble
	}
}

// once asks once, and returns when it asks again; below 0 is never.
func (c *crowd) once(q customer) time.Duration {
	asked := time.Now()
	resp, err := c.b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body(),
		q.headers()...)
	if err != nil {
		c.note(func() { c.wrong = append(c.wrong, err.Error()) })
		return -1
	}
	a := q.read(resp)
	a.asked, a.ended = asked.Sub(c.begun), time.Since(c.begun)
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.failed == "" {
		c.answers = append(c.answers, a)
		if q.deadline > 0 && a.ended-a.asked > q.deadline {
			c.misses = append(c.misses, fmt.Sprintf("%s came %v late", q.id, a.ended-a.asked-q.deadline))
		}
		if want := indexText(q.id, q.tokens); a.heard != want {
			c.wrong = append(c.wrong, fmt.Sprintf("%s said %.80q", q.id, a.heard))
		}
		return -1
	}
	c.refused[fmt.Sprint(q.priority, " ", a.failed)]++
	if q.priority == 10 {
		c.misses = append(c.misses, fmt.Sprintf("%s at %v: %s", q.id, a.asked, a.failed))
	}
	after, told := strconv.Atoi(resp.Header.Get("Retry-After"))
	switch {
	case !q.obeys:
		return 200 * time.Millisecond
	case told != nil:
		return -1
	}
	return time.Duration(after) * time.Second
}

func (c *crowd) note(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// read takes an answer to its end.
func (c customer) read(resp *http.Response) answered {
	defer resp.Body.Close()
	a := answered{customer: c, specialist: resp.Header.Get("X-Specialist"), routedBy: resp.Header.Get("X-Routed-By"),
		shadow: resp.Header.Get("X-Shadow"), receipt: resp.Header.Get("X-Receipt-Id")}
	if c.stream && resp.StatusCode == http.StatusOK {
		a.readStream(resp.Body)
		return a
	}
	body, err := io.ReadAll(resp.Body)
	var whole chunk
	switch {
	case err != nil || json.Unmarshal(body, &whole) != nil:
		a.failed = "unreadable"
	case resp.StatusCode != http.StatusOK:
		a.failed = whole.Error.Code
	default:
		a.take(whole)
	}
	return a
}

// chunk is a stream's event, a whole answer, or an error.
type chunk struct {
	Choices []struct {
		Delta, Message struct{ Content string }
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error struct{ Code string }
}

func (a *answered) readStream(body io.Reader) {
	lines := bufio.NewReader(body)
	done := false
	for {
		line, err := lines.ReadBytes('\n')
		payload, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		var part chunk
		switch {
		case err != nil:
			if !done && a.failed == "" {
				a.failed = "cut off"
			}
			return
		case !ok:
		case string(payload) == "[DONE]":
			done = true
		case json.Unmarshal(payload, &part) != nil:
			a.failed = "unreadable"
		case part.Error.Code != "":
			if a.failed = part.Error.Code; a.heard != "" {
				a.failed += " in the middle"
			}
		default:
			a.take(part)
		}
	}
}

func (a *answered) take(part chunk) {
	for _, choice := range part.Choices {
		a.heard += choice.Delta.Content + choice.Message.Content
	}
	if u := part.Usage; u.Completion > 0 {
		a.prompt, a.said = u.Prompt-u.Details.Cached, u.Completion
	}
}
