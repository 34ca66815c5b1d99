package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// question is one request and what an answer to it may say.
type question struct {
	id       string
	tokens   int
	stream   bool
	deadline time.Duration // zero means no deadline
	model    string
}

func (q *question) raw() string {
	body := fmt.Sprintf(`{"model":%q,"stream":%t,"max_tokens":%d,"messages":[{"role":"user","content":"%s asks"}]}`,
		q.model, q.stream, q.tokens, q.id)
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: octet\r\nContent-Type: application/json\r\nX-Request-Id: " +
		q.id + "\r\n"
	if q.deadline > 0 {
		head += fmt.Sprintf("X-Deadline-Ms: %d\r\n", max(1, q.deadline.Milliseconds()))
	}
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

// want is the whole answer.
func (q *question) want() string {
	var b strings.Builder
	for i := range q.tokens {
		fmt.Fprintf(&b, "⟦%s:%d⟧", q.id, i)
	}
	return b.String()
}

// bystand asks one question after the other on a connection of its own: each is answered whole.
func (w *world) bystand(ctx context.Context, n int) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	var line *line
	for i := 0; ctx.Err() == nil; i++ {
		if line == nil {
			if line = w.dial(ctx); line == nil {
				return
			}
		}
		q := question{id: fmt.Sprintf("calm-%d-%d", n, i), tokens: 4 + rng.IntN(12), stream: rng.IntN(2) == 0,
			model: models[rng.IntN(len(models))]}
		a, err := line.ask(&q)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil || a.status != 200 || a.text != q.want():
			w.violation("bystander %s: %v, status %d, said %q %s", q.id, err, a.status, a.text, a.rest)
			line.conn.Close()
			line = nil
		default:
			w.calm.Add(1)
		}
	}
}

// pipelined is how many requests a client with deadlines may send at once.
const pipelined = 4

// beLate asks with deadlines about when the answers come, some at a time on one connection.
func (w *world) beLate(ctx context.Context, n int) {
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	for i := 0; ctx.Err() == nil; {
		line := w.dial(ctx)
		if line == nil {
			return
		}
		for whole := true; whole && ctx.Err() == nil; {
			var asked []question
			for range 1 + rng.IntN(pipelined) {
				usual := float64(min(max(w.usual.Load(), int64(time.Millisecond)), int64(time.Second)))
				i++
				asked = append(asked, question{
					id: fmt.Sprintf("late-%d-%d", n, i), tokens: 1 + rng.IntN(3), stream: rng.IntN(8) == 0,
					model:    models[rng.IntN(len(models))],
					deadline: time.Duration(usual * (0.7 + 0.6*rng.Float64())),
				})
			}
			whole = w.askLate(ctx, line, asked)
		}
		line.conn.Close()
	}
}

// askLate reports whether the connection goes on. Each answer that came in time shortens the deadlines, each that did
// not makes them longer: they stay where one in two is met.
func (w *world) askLate(ctx context.Context, line *line, asked []question) bool {
	var all strings.Builder
	for i := range asked {
		all.WriteString(asked[i].raw())
	}
	if _, err := io.WriteString(line.conn, all.String()); err != nil {
		return false
	}
	for i := range asked {
		q := &asked[i]
		a, err := line.read()
		if ctx.Err() != nil {
			return false
		}
		w.judgeLate(q, a, err)
		if err != nil {
			return false
		}
	}
	return true
}

// judgeLate counts an answer to a question with a deadline, and says what must not be.
func (w *world) judgeLate(q *question, a answer, err error) {
	want := q.want()
	switch {
	case err == nil && a.status == 200 && a.text == want && !a.failed:
		w.whole.Add(1)
		w.usual.Add(-w.usual.Load() / 100)
	case a.text != "" && !strings.HasPrefix(want, a.text), a.id != "" && a.id != q.id:
		w.violation("%s: another's answer: id %q, %q", q.id, a.id, a.text)
	case a.status == 500 || strings.Contains(a.rest, "internal_error"):
		w.violation("%s: status %d: %s", q.id, a.status, a.rest)
	case err != nil:
		w.cut.Add(1)
	default:
		w.typed.Add(1)
		w.usual.Add(w.usual.Load()/100 + 1)
	}
}

// hangUp leaves in every phase: within the head, within the body, before the answer, within it.
func (w *world) hangUp(ctx context.Context, n int) {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := 0; ctx.Err() == nil; i++ {
		line := w.dial(ctx)
		if line == nil {
			return
		}
		q := question{id: fmt.Sprintf("off-%d-%d", n, i), tokens: 40, stream: rng.IntN(2) == 0,
			model: models[rng.IntN(len(models))]}
		raw := q.raw()
		if cut := rng.IntN(2 * len(raw)); cut < len(raw) {
			raw = raw[:cut]
		}
		_, _ = io.WriteString(line.conn, raw) // no answer is awaited
		pause := time.Duration(rng.Int64N(int64(30 * time.Millisecond)))
		_ = line.conn.SetReadDeadline(time.Now().Add(pause))
		_, _ = io.Copy(io.Discard, line.answers)
		if tcp, ok := line.conn.(*net.TCPConn); ok && rng.IntN(2) == 0 {
			_ = tcp.SetLinger(0) // a reset
		}
		line.conn.Close()
		w.hung.Add(1)
	}
}

// dial connects, and tries again until ctx ends: nil.
func (w *world) dial(ctx context.Context) *line {
	for ctx.Err() == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", w.data)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
			return &line{conn, bufio.NewReader(conn)}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// line is one connection.
type line struct {
	conn    net.Conn
	answers *bufio.Reader
}

func (l *line) ask(q *question) (answer, error) {
	if _, err := io.WriteString(l.conn, q.raw()); err != nil {
		return answer{}, err
	}
	return l.read()
}

// read reads one answer.
func (l *line) read() (answer, error) {
	resp, err := http.ReadResponse(l.answers, &http.Request{Method: http.MethodPost})
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	a := parse(body)
	a.status, a.id = resp.StatusCode, resp.Header.Get("X-Request-Id")
	return a, err
}
