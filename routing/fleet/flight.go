package fleet

import "time"

// Demand is what one request asks of a replica.
type Demand struct {
	Prompt   int  // tokens
	Uncached int  // tokens of Prompt that the replica is believed to have to compute
	Whole    bool // the answer comes at once: its first token is not seen
}

// Flight is one request's entry in the ledger of a replica: what it weighs from the moment it is sent there to its end.
// One goroutine owns it. The zero Flight weighs nothing. Start is Route and Begin for a request that need not wait in
// between.
//
//	Route ──▶ Begin ──▶ FirstToken ──▶ Grow … ──▶ Land
//	backlog +uncached ───▶ −uncached
//	tokens  +prompt ──────────────────▶ +answer ──▶ −all
//	waiting +1 ─▶ −1
//
// Land may come at any point, and gives back exactly what is still there.
type Flight struct {
	replica  *Replica
	prefill  uint64 // its name there; 0 after Land
	demand   Demand
	begun    bool
	answered bool // it has its first token
	tokens   int  // of the answer
	ahead    int  // tokens to compute before its first token, its own included, as Begin found them
	beside   int  // requests in flight at its first token, itself included

	began, first, last time.Time
}

// Route enters w into the ledger before the replica has admitted it: other requests see at once what is on its way.
func (r *Replica) Route(w Demand) Flight {
	w = w.sane()
	r.ledger.change(oneWaiting)
	r.ledger.backlog.Add(int64(w.Uncached))
	r.ledger.tokens.Add(int64(w.Prompt))
	return Flight{replica: r, demand: w, prefill: r.prefills.route(w)}
}

// Start enters w into the ledger as a request that the replica has taken. It overwrites f.
func (r *Replica) Start(f *Flight, w Demand, now time.Time) {
	w = w.sane()
	r.ledger.change(oneEvent + oneInFlight)
	r.ledger.tokens.Add(int64(w.Prompt))
	f.replica, f.demand, f.begun, f.answered, f.tokens = r, w, true, false, 0
	r.ledger.backlog.Add(int64(w.Uncached))
	f.ahead = r.Backlog()
	f.began, f.first, f.last = now, time.Time{}, time.Time{}
	f.prefill = r.prefills.start(w, now)
}

// sane is w with numbers that can be.
func (w Demand) sane() Demand {
	w.Prompt = max(w.Prompt, 0)
	w.Uncached = min(max(w.Uncached, 0), w.Prompt)
	return w
}

// Begin notes that the replica has taken the request.
func (f *Flight) Begin(now time.Time) {
	if f.replica == nil || f.begun {
		return
	}
	f.begun, f.began = true, now
	f.ahead = f.replica.Backlog()
	f.replica.ledger.change(oneEvent + oneInFlight - oneWaiting)
	f.replica.prefills.begin(f.prefill, now)
}

// FirstToken notes that the prompt has been computed.
func (f *Flight) FirstToken(now time.Time) {
	if f.replica == nil || f.answered {
		return
	}
	f.answered, f.first, f.last = true, now, now
	f.beside = f.replica.InFlight()
	f.replica.ledger.backlog.Add(-int64(f.demand.Uncached))
	f.replica.prefills.done(f.prefill, now)
	if f.begun {
		f.replica.pace.firstToken(f.ahead, now.Sub(f.began))
		f.replica.deaths.lives(f.began)
	}
}

// Grow notes how many tokens the answer has now.
func (f *Flight) Grow(tokens int, now time.Time) {
	if f.replica == nil || tokens <= f.tokens {
		return
	}
	f.replica.ledger.tokens.Add(int64(tokens - f.tokens))
	f.replica.ledger.change(oneEvent)
	f.tokens, f.last = tokens, now
}

// Land removes the request from the ledger. Landing again does nothing.
func (f *Flight) Land() {
	r := f.replica
	if r == nil {
		return
	}
	if !f.answered {
		r.ledger.backlog.Add(-int64(f.demand.Uncached))
		r.prefills.drop(f.prefill)
	}
	r.ledger.tokens.Add(-int64(f.demand.Prompt + f.tokens))
	if f.begun {
		f.paced()
		r.End()
	} else {
		r.ledger.change(^(oneWaiting - 1)) // one less
	}
	f.replica = nil
}

// paced measures an answer as it lands: its own request is in flight still.
func (f *Flight) paced() {
	if f.tokens == 0 {
		return
	}
	p := &f.replica.pace
	p.answer(f.tokens, f.held())
	if f.answered && f.tokens > 1 {
		inFlight := float64(f.beside+f.replica.InFlight()) / 2
		p.between(f.last.Sub(f.first)/time.Duration(f.tokens-1), inFlight)
	}
}

// held returns for how long the request held blocks: its tokens' time, and as much before as its own prompt takes.
// Where its first token was not seen, what the prompts before it take is left out.
func (f *Flight) held() time.Duration {
	took, p := f.last.Sub(f.began), f.replica.Pace()
	switch {
	case !p.Known():
		return took
	case !f.answered:
		return max(0, took-seconds(p.TTFT(f.ahead)-p.TTFT(f.demand.Uncached)))
	}
	return min(took, f.last.Sub(f.first)+seconds(p.TTFT(f.demand.Uncached)))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
