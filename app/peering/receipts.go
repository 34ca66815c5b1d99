package peering

import (
	"context"
	"strings"

	"octet/routing/peers/peerspb"
)

// mostAsked bounds the questions that wait for an answer.
const mostAsked = 1024

// asked are the questions to other gateways that wait for an answer.
type asked struct {
	last uint64
	wait map[uint64]question
}

type question struct {
	to     string
	answer chan *peerspb.Answer // capacity 1
}

func newAsked() *asked { return &asked{wait: map[uint64]question{}} }

// Separator stands between the name of a gateway and the rest of an id that was made there.
const Separator = "."

// Receipt asks the gateway that made id for its receipt. ok is false if it is this one, if it does not count, or if it
// keeps none of that id; then ctx's end is as good as its word.
func (g *Group) Receipt(ctx context.Context, id string, forClient bool) (tenant string, text []byte, ok bool) {
	to, _, named := strings.Cut(id, Separator)
	if !named || to == g.cfg.Name {
		return "", nil, false
	}
	g.mu.Lock()
	if !g.roll.Knows(to) || len(g.asked.wait) >= mostAsked {
		g.mu.Unlock()
		return "", nil, false
	}
	g.asked.last++
	number, q := g.asked.last, question{to, make(chan *peerspb.Answer, 1)}
	g.asked.wait[number] = q
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.asked.wait, number)
		g.mu.Unlock()
	}()
	if !g.one(to, &peerspb.Message{Question: &peerspb.Question{Number: number, Receipt: id, ForClient: forClient}}) {
		return "", nil, false
	}
	select {
	case a := <-q.answer:
		return a.GetTenant(), a.GetReceipt(), len(a.GetReceipt()) > 0
	case <-ctx.Done():
		return "", nil, false
	}
}

// mostText bounds a receipt that is sent.
const mostText = 192 << 10

// answer answers a question of another gateway's.
func (g *Group) answer(to string, q *peerspb.Question) {
	a := &peerspb.Answer{Number: q.GetNumber()}
	if tenant, text, ok := g.cfg.Receipt(q.GetReceipt(), q.GetForClient()); ok && len(text) <= mostText {
		a.Tenant, a.Receipt = tenant, text
	}
	g.one(to, &peerspb.Message{Answer: a})
}

// answered hands an answer to what waits for it.
func (g *Group) answered(from string, a *peerspb.Answer) {
	g.mu.Lock()
	q, waits := g.asked.wait[a.GetNumber()]
	g.mu.Unlock()
	if waits && q.to == from {
		select {
		case q.answer <- a:
		default: // it was answered before
		}
	}
}
