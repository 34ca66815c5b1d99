package gateway

import (
	"bytes"
	"cmp"
	"math"
	"time"

	"octet/classifier"
	"octet/gateway/wire"
)

// appendTo appends what readReceipt reads: what is of one size, then texts and lists. Verdicts on the answer are none
// of it, nor is what legs refer to.
func (r *Receipt) appendTo(b []byte) []byte {
	at := len(b)
	p := pen{append(b, sized[:]...)}
	r.putSized((*[len(sized)]byte)(p.b[at:]))
	p.texts(r)
	if says := p.b[at+offFlags]; says&(saysRare|saysGuesses) != 0 {
		p.seldom(r, says)
	}
	p.count(len(r.Attempts))
	for i := range r.Attempts {
		p.attempt(&r.Attempts[i], r.Decision.Specialist)
	}
	p.count(len(r.legs))
	return append(p.b, r.legs...)
}

// seldom writes what most receipts have nothing of.
func (p *pen) seldom(r *Receipt, says byte) {
	if says&saysRare != 0 {
		for _, s := range r.rare() {
			p.text(*s)
		}
	}
	if says&saysGuesses != 0 {
		p.guesses(&r.Decision)
	}
}

// readReceipt returns the receipt that was written, still to be told. It shares no memory with b.
func readReceipt(b []byte, refs []legRefs) *Receipt {
	r, p := new(Receipt), pen{b}
	t := (*[len(sized)]byte)(p.take(len(sized)))
	r.readSized(t)
	p.readTexts(r)
	r.Result.Specialist = r.Decision.Specialist
	if t[offFlags]&saysRare != 0 {
		for _, s := range r.rare() {
			*s = p.readText()
		}
	}
	if t[offFlags]&saysGuesses != 0 {
		p.readGuesses(&r.Decision)
	}
	if t[offFlags]&saysCached != 0 {
		r.Result.CachedTokens = &r.cached
	}
	r.Attempts = make([]Attempt, p.readCount())
	for i := range r.Attempts {
		p.readAttempt(&r.Attempts[i], r.Decision.Specialist)
	}
	r.legs, r.refs = bytes.Clone(p.take(p.readCount())), refs
	return r
}

// sized is room for what is of one size.
var sized [116]byte

// offFlags is where among them it says what follows.
const offFlags = 115

const (
	saysSession = 1 << iota
	saysStream
	saysExact
	saysViable
	saysDone
	saysCached
	saysRare
	saysGuesses
)

func (r *Receipt) putSized(t *[len(sized)]byte) {
	a, e := &r.Asked, &r.Result
	le.PutUint64(t[0:], uint64(r.Time.UnixNano()))
	le.PutUint64(t[8:], math.Float64bits(r.Decision.confidence))
	le.PutUint64(t[16:], math.Float64bits(e.TTFTMs))
	le.PutUint64(t[24:], math.Float64bits(e.TotalMs))
	le.PutUint64(t[32:], math.Float64bits(e.RouteUs))
	le.PutUint64(t[40:], uint64(e.PromptTokens))
	le.PutUint64(t[48:], uint64(e.CompletionTokens))
	le.PutUint64(t[56:], uint64(r.cached))
	le.PutUint64(t[64:], uint64(a.MaxTokens))
	le.PutUint64(t[72:], uint64(r.Prompt.Tokens))
	le.PutUint32(t[80:], uint32(r.Prompt.Blocks))
	le.PutUint32(t[84:], uint32(e.Status))
	le.PutUint32(t[88:], uint32(e.Continued))
	le.PutUint32(t[92:], uint32(e.Preempted))
	le.PutUint32(t[96:], uint32(a.Priority))
	le.PutUint32(t[100:], uint32(a.PriorityInUse))
	le.PutUint32(t[104:], uint32(a.DeadlineMs))
	le.PutUint32(t[108:], uint32(a.TTFTDeadlineMs))
	t[112], t[113], t[114] = byte(r.kind), byte(a.policy), byte(r.Decision.routedBy)
	t[offFlags] = flag8(a.Session, saysSession) | flag8(a.Stream, saysStream) | flag8(r.Prompt.Exact, saysExact) |
		flag8(r.Decision.SecondViable, saysViable) | flag8(e.Done, saysDone) | flag8(e.CachedTokens != nil,
		saysCached) |
		flag8(r.hasRare(), saysRare) | flag8(len(r.Decision.Cues)+len(r.Decision.probabilities) > 0, saysGuesses)
}

func (r *Receipt) readSized(t *[len(sized)]byte) {
	a, e := &r.Asked, &r.Result
	r.Time, r.Decision.confidence = time.Unix(0, int64(le.Uint64(t[0:]))), math.Float64frombits(le.Uint64(t[8:]))
	e.TTFTMs, e.TotalMs = math.Float64frombits(le.Uint64(t[16:])), math.Float64frombits(le.Uint64(t[24:]))
	e.RouteUs = math.Float64frombits(le.Uint64(t[32:]))
	e.PromptTokens, e.CompletionTokens, r.cached = int(le.Uint64(t[40:])), int(le.Uint64(t[48:])),
		int(le.Uint64(t[56:]))
	a.MaxTokens, r.Prompt.Tokens, r.Prompt.Blocks = int(le.Uint64(t[64:])), int(le.Uint64(t[72:])),
		int(le.Uint32(t[80:]))
	e.Status, e.Continued, e.Preempted = int(le.Uint32(t[84:])), int(le.Uint32(t[88:])), int(le.Uint32(t[92:]))
	a.Priority, a.PriorityInUse = int(int32(le.Uint32(t[96:]))), int(int32(le.Uint32(t[100:])))
	a.DeadlineMs, a.TTFTDeadlineMs = int64(le.Uint32(t[104:])), int64(le.Uint32(t[108:]))
	r.kind, a.policy, r.Decision.routedBy = wire.Kind(t[112]), wire.Policy(t[113]), classifier.RoutedBy(t[114])
	says := t[offFlags]
	a.Session, a.Stream, r.Prompt.Exact = says&saysSession != 0, says&saysStream != 0, says&saysExact != 0
	r.Decision.SecondViable, e.Done = says&saysViable != 0, says&saysDone != 0
}

func flag8(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}

// texts writes those that are there mostly.
func (p *pen) texts(r *Receipt) {
	asked := r.RequestID
	if asked == r.ID {
		asked = "" // which no request is called
	}
	b := putText(putText(p.b, r.ID), asked)
	b = putText(putText(b, r.Asked.Model), r.Decision.Specialist)
	b = putText(putText(b, r.Decision.Rule), r.Decision.intent)
	p.b = putText(b, r.Result.Finish)
}

func (p *pen) readTexts(r *Receipt) {
	r.ID, r.RequestID, r.Asked.Model, r.Decision.Specialist = p.readText(), p.readText(), p.readText(), p.readText()
	r.RequestID = cmp.Or(r.RequestID, r.ID)
	r.Decision.Rule, r.Decision.intent, r.Result.Finish = p.readText(), p.readText(), p.readText()
}

// rare are the texts that are mostly empty.
func (r *Receipt) rare() []*string {
	a, d := &r.Asked, &r.Decision
	return []*string{&a.Intent, &a.Adapter, &d.Adapter, &d.Second, &d.Shadow, &d.Demoted, &d.Probe, &r.Result.Code,
		&r.Result.Specialist}
}

// hasRare says whether one of them is not: who answered counts where it is not who was chosen.
func (r *Receipt) hasRare() bool {
	a, d := &r.Asked, &r.Decision
	return len(a.Intent)|len(a.Adapter)|len(d.Adapter)|len(d.Second)|len(d.Shadow)|len(d.Demoted)|len(d.Probe)|len(
		r.Result.Code) != 0 ||
		r.Result.Specialist != d.Specialist
}

// What an attempt says.
const (
	saysDelivered = 1 << iota
	saysChosen    // it is the turn of who was chosen
	saysStep
	saysMore // than that it went well
)

func (p *pen) attempt(a *Attempt, chosen string) {
	says := flag8(a.DeliveredTokens != nil, saysDelivered) | flag8(a.Specialist == chosen,
		saysChosen) | flag8(a.Step != "", saysStep) |
		flag8(a.Fallback != "" || a.Detail != "" || a.Outcome != outcomeOK, saysMore)
	b := le.AppendUint64(append(p.b, says), math.Float64bits(a.QueueMs))
	b = le.AppendUint64(b, math.Float64bits(a.Ms))
	b = le.AppendUint64(b, uint64(a.PredictedTokens))
	p.b = le.AppendUint64(b, uint64(a.delivered))
	p.text(a.Replica)
	if says&saysChosen == 0 {
		p.text(a.Specialist)
	}
	if says&saysStep != 0 {
		p.text(a.Step)
	}
	if says&saysMore != 0 {
		p.words(a.Outcome, a.Detail, a.Fallback)
	}
}

func (p *pen) readAttempt(a *Attempt, chosen string) {
	says := p.take(1)[0]
	a.QueueMs, a.Ms = math.Float64frombits(p.readFigure()), math.Float64frombits(p.readFigure())
	a.PredictedTokens, a.delivered = int(p.readFigure()), int(p.readFigure())
	a.Replica, a.Specialist, a.Outcome = p.readText(), chosen, outcomeOK
	if says&saysDelivered != 0 {
		a.DeliveredTokens = &a.delivered
	}
	if says&saysChosen == 0 {
		a.Specialist = p.readText()
	}
	if says&saysStep != 0 {
		a.Step = p.readText()
	}
	if says&saysMore != 0 {
		a.Outcome, a.Detail, a.Fallback = p.readWords()
	}
}

// guesses writes what was seen in the text, and how probable each specialist was.
func (p *pen) guesses(d *Decision) {
	p.count(len(d.Cues))
	for _, s := range d.Cues {
		p.text(s)
	}
	p.count(len(d.probabilities))
	for i, f := range d.probabilities {
		p.text(d.among[i].Name)
		p.figure(math.Float64bits(f))
	}
}

func (p *pen) readGuesses(d *Decision) {
	for n := p.readCount(); n > 0; n-- {
		d.Cues = append(d.Cues, p.readText())
	}
	n := p.readCount()
	if n > 0 {
		d.Probabilities = make(map[string]float64, n)
	}
	for ; n > 0; n-- {
		name := p.readText()
		d.Probabilities[name] = math.Float64frombits(p.readFigure())
	}
}
