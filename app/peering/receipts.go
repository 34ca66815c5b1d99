package peering

import (
	"context"
	"strings"

	"octet/gateway/receipt"
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
	a := g.askMaker(ctx, id, &peerspb.Question{ForClient: forClient})
	return a.GetTenant(), a.GetReceipt(), len(a.GetReceipt()) > 0
}

// Judge has the gateway that made j's receipt count j. found is false where Receipt's ok is, and for a receipt that j's
// tenant may not judge. refused says in words why j cannot count; "" if it can, or counted before.
func (g *Group) Judge(ctx context.Context, j receipt.Judgement) (counted, found bool, refused string) {
	a := g.askMaker(ctx, j.Receipt, &peerspb.Question{Judgement: &peerspb.Judgement{Tenant: j.Tenant, OfAny: j.OfAny,
		Kind: j.Kind, Pass: j.Pass, Specialist: j.Specialist}})
	return a.GetJudged().GetCounted(), a.GetJudged() != nil, a.GetJudged().GetRefused()
}

// askMaker puts a question about a receipt to the gateway that made its id. It returns nil if that is this one, and
// where ask does.
func (g *Group) askMaker(ctx context.Context, id string, about *peerspb.Question) *peerspb.Answer {
	to, _, named := strings.Cut(id, Separator)
	if !named || to == g.cfg.Name {
		return nil
	}
	about.Receipt = id
	return g.ask(ctx, to, about)
}

// ask puts a question to a gateway. It returns nil if that one does not count, if too many questions wait, and if it
// does not answer until ctx ends.
func (g *Group) ask(ctx context.Context, to string, about *peerspb.Question) *peerspb.Answer {
	g.mu.Lock()
	if !g.roll.Knows(to) || len(g.asked.wait) >= mostAsked {
		g.mu.Unlock()
		return nil
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
	about.Number = number
	if !g.one(to, &peerspb.Message{Question: about}) {
		return nil
	}
	select {
	case a := <-q.answer:
		return a
	case <-ctx.Done():
		return nil
	}
}

// mostText bounds a receipt that is sent.
const mostText = 192 << 10

// answer answers a question of another gateway's.
func (g *Group) answer(to string, q *peerspb.Question) {
	a := &peerspb.Answer{Number: q.GetNumber()}
	if k := q.GetKey(); k != nil {
		a.Standing = &peerspb.Standing{Open: g.cfg.KeyOpen(k.GetTenant(), k.GetKey())}
		g.one(to, &peerspb.Message{Answer: a})
		return
	}
	if j := q.GetJudgement(); j != nil {
		counted, found, refused := g.cfg.Judge(receipt.Judgement{Receipt: q.GetReceipt(), Tenant: j.GetTenant(),
			OfAny: j.GetOfAny(), Kind: j.GetKind(), Pass: j.GetPass(), Specialist: j.GetSpecialist()})
		if found {
			a.Judged = &peerspb.Judged{Counted: counted, Refused: refused}
		}
		g.one(to, &peerspb.Message{Answer: a})
		return
	}
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
