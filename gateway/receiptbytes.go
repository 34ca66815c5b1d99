package gateway

import (
	"bytes"
	"math"
	"time"

	"octet/classifier"
	"octet/gateway/wire"
)

// appendTo appends what readReceipt reads: what is of one size, then texts and lists. Verdicts on the answer are none of it, nor is what
// legs refer to.
func (r *Receipt) appendTo(b []byte) []byte {
	at := len(b)
	p := pen{append(b, sized[:]...)}
	r.putSized((*[len(sized)]byte)(p.b[at:]))
	has := p.texts(r.texts())
	le.PutUint32(p.b[at+offTexts:], has)
	p.guesses(&r.Decision)
	p.count(len(r.Attempts))
	for i := range r.Attempts {
		p.attempt(&r.Attempts[i], r.Decision.Specialist)
	}
	p.count(len(r.legs))
	return append(p.b, r.legs...)
}

// readReceipt returns the receipt that was written, still to be told. It shares no memory with b.
func readReceipt(b []byte, refs []legRefs) *Receipt {
	r, p := new(Receipt), pen{b}
	t := (*[len(sized)]byte)(p.take(len(sized)))
	r.readSized(t)
	r.setTexts(p.readTexts(le.Uint32(t[offTexts:])))
	if t[offFlags]&saysCached != 0 {
		r.Result.CachedTokens = &r.cached
	}
	if t[offFlags]&saysOwn != 0 {
		r.Result.Specialist = r.Decision.Specialist
	}
	p.readGuesses(&r.Decision)
	r.Attempts = make([]Attempt, p.readCount())
	for i := range r.Attempts {
		p.readAttempt(&r.Attempts[i], r.Decision.Specialist)
	}
	r.legs, r.refs = bytes.Clone(p.take(p.readCount())), refs
	return r
}

// sized is room for what is of one size.
var sized [120]byte

// Where some of it lies.
const (
	offFlags = 115
	offTexts = 116 // a bit for each text that is not empty
)

const (
	saysSession = 1 << iota
	saysStream
	saysExact
	saysViable
	saysDone
	saysCached
	saysOwn // who answered is who was chosen
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
		flag8(r.Decision.SecondViable, saysViable) | flag8(e.Done, saysDone) | flag8(e.CachedTokens != nil, saysCached) |
		flag8(e.Specialist == r.Decision.Specialist, saysOwn)
}

func (r *Receipt) readSized(t *[len(sized)]byte) {
	a, e := &r.Asked, &r.Result
	r.Time, r.Decision.confidence = time.Unix(0, int64(le.Uint64(t[0:]))), math.Float64frombits(le.Uint64(t[8:]))
	e.TTFTMs, e.TotalMs = math.Float64frombits(le.Uint64(t[16:])), math.Float64frombits(le.Uint64(t[24:]))
	e.RouteUs = math.Float64frombits(le.Uint64(t[32:]))
	e.PromptTokens, e.CompletionTokens, r.cached = int(le.Uint64(t[40:])), int(le.Uint64(t[48:])), int(le.Uint64(t[56:]))
	a.MaxTokens, r.Prompt.Tokens, r.Prompt.Blocks = int(le.Uint64(t[64:])), int(le.Uint64(t[72:])), int(le.Uint32(t[80:]))
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

// texts are what is often empty or short.
func (r *Receipt) texts() [someTexts]string {
	a, d, answered := &r.Asked, &r.Decision, r.Result.Specialist
	if answered == d.Specialist {
		answered = "" // a flag says so
	}
	return [...]string{
		r.ID, r.RequestID, a.Model, d.Specialist, d.Rule, d.intent, r.Result.Finish, r.Result.Code,
		a.Intent, a.Adapter, d.Adapter, d.Second, d.Shadow, d.Demoted, d.Probe, answered,
	}
}

func (r *Receipt) setTexts(t [someTexts]string) {
	a, d := &r.Asked, &r.Decision
	r.ID, r.RequestID, a.Model, d.Specialist, d.Rule, d.intent, r.Result.Finish, r.Result.Code = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
	a.Intent, a.Adapter, d.Adapter, d.Second, d.Shadow, d.Demoted, d.Probe = t[8], t[9], t[10], t[11], t[12], t[13], t[14]
	r.Result.Specialist = t[15]
}

const someTexts = 16

// texts writes those that are not empty, and returns a bit for each of them.
func (p *pen) texts(all [someTexts]string) (has uint32) {
	b := p.b
	for i, s := range all {
		if s == "" {
			continue
		}
		has |= 1 << i
		if len(s) < long {
			b = append(b, byte(len(s)))
		} else {
			b = le.AppendUint32(append(b, long), uint32(len(s)))
		}
		b = append(b, s...)
	}
	p.b = b
	return has
}

func (p *pen) readTexts(has uint32) (all [someTexts]string) {
	for i := range all {
		if has>>i&1 != 0 {
			all[i] = p.readText()
		}
	}
	return all
}

// What an attempt says.
const (
	saysDelivered = 1 << iota
	saysChosen    // it is the turn of who was chosen
	saysStep
	saysFallback
	saysOutcome // that is not ok
)

func (p *pen) attempt(a *Attempt, chosen string) {
	says := flag8(a.DeliveredTokens != nil, saysDelivered) | flag8(a.Specialist == chosen, saysChosen) | flag8(a.Step != "", saysStep) |
		flag8(a.Fallback != "", saysFallback) | flag8(a.Outcome != outcomeOK, saysOutcome)
	b := le.AppendUint64(append(p.b, says), math.Float64bits(a.QueueMs))
	b = le.AppendUint64(b, math.Float64bits(a.Ms))
	b = le.AppendUint64(b, uint64(a.PredictedTokens))
	p.b = le.AppendUint64(b, uint64(a.delivered))
	p.text(a.Replica)
	for _, s := range [...]struct {
		says bool
		text string
	}{{says&saysChosen == 0, a.Specialist}, {says&saysStep != 0, a.Step}, {says&saysFallback != 0, a.Fallback}, {says&saysOutcome != 0, a.Outcome}, {says&saysOutcome != 0, a.Detail}} {
		if s.says {
			p.text(s.text)
		}
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
	if says&saysFallback != 0 {
		a.Fallback = p.readText()
	}
	if says&saysOutcome != 0 {
		a.Outcome, a.Detail = p.readText(), p.readText()
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
