package gate

import (
	"time"

	"octet/scheduler"
)

// prefills is how long requests took from their admission to their first token, in ns over uncached tokens.
type prefills struct {
	ttft  ttftModel // its second cause is the tokens of prefills that were under way at the admission
	wrong mean      // part by which estimates were wrong, either way

	holds  scheduler.Time // until when the measurements are held against a request
	firsts firsts         // for other gateways
}

// found is how a request found the engine when it was admitted.
type found struct {
	others int            // tokens of other prompts that were to be prefilled
	late   scheduler.Time // by how much the first token that is awaited longest was overdue
	trial  bool           // what was measured before is not held against it, see evidence
}

// evidence is for how long after the last first token measured times are held against a request that finds the engine
// empty. Times that refuse every request would never be measured again; so then one is a trial: it starts as if nothing
// were known.
const evidence = 10 * time.Second

// refuted is how many times shorter than its estimate a trial's first token must be for what was measured before it to
// give way.
const refuted = 2

// forgotten is the weight of observations that no longer count.
const forgotten = 1.0 / 64

// firstToken estimates the time from admission to the first token for a request that finds the engine so; 0 is unknown.
func (p *prefills) firstToken(uncached int, f found) time.Duration {
	return p.ttft.at(float64(uncached), float64(f.others))
}

// laterFirstToken is firstToken for a request that starts later, with as many others as usual.
func (p *prefills) laterFirstToken(uncached int) time.Duration {
	return p.ttft.at(float64(uncached), p.ttft.usual())
}

// prefillTime estimates the time from l's admission to its first token; 0 is unknown.
func (p *prefills) prefillTime(l *Lease) time.Duration { return p.firstToken(l.uncached, l.found) }

// promised returns the time for the first token of a prompt with so many tokens to compute that starts after wait, with
// what past estimates were wrong by; about 0 is unknown. f is how it finds the engine if it does not wait. By as much
// as what is computed before it is overdue, it is late.
func (p *prefills) promised(uncached int, f found, wait time.Duration) time.Duration {
	estimate := time.Duration(0)
	switch {
	case f.trial:
	case wait > 0:
		estimate = p.laterFirstToken(uncached)
	default:
		estimate = p.firstToken(uncached, f)
	}
	if estimate > 0 {
		estimate += f.late
	}
	return safely(estimate, &p.wrong)
}

// begin notes that l starts now.
func (p *prefills) begin(l *Lease, now scheduler.Time) {
	if l.trial {
		p.holds = now + evidence
	}
	l.expected = p.prefillTime(l)
}

// outdated reports whether the measurements are too old to be held against a request.
func (p *prefills) outdated(now scheduler.Time) bool { return now >= p.holds }

// observe measures the prefill of l, whose first token comes now.
func (p *prefills) observe(l *Lease, now scheduler.Time) {
	f := First{Uncached: l.uncached, Others: l.others, Took: now - l.admitted, Expected: l.expected, Trial: l.trial}
	p.learn(&f, now)
	p.firsts = firsts{f, true}
}

// learn takes a first token in that came now. An estimate is judged as it was made: those made since know more. What a
// trial refutes loses weight until the estimate for it is right.
func (p *prefills) learn(f *First, now scheduler.Time) {
	x, a, took := float64(f.Uncached), float64(f.Others), float64(f.Took)
	before, refutes := p.ttft, f.Trial && took*refuted < float64(p.ttft.at(x, a))
	if refutes {
		p.wrong = mean{}
	} else {
		judge(&p.wrong, float64(f.Expected), took)
	}
	p.ttft.observe(x, a, took)
	for refutes && before.n > forgotten && float64(p.ttft.at(x, a)) > took*refuted {
		before.fade()
		p.ttft = before
		p.ttft.observe(x, a, took)
	}
	p.holds = now + evidence
}
