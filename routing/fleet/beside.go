package fleet

// Beside is what other gateways have at a replica, or waiting for it there.
type Beside struct {
	Running int // requests in its batch
	Waiting int // requests
	Backlog int // tokens to compute before the first tokens of all of these
	Left    int // of Backlog, as the others told it last
	Tokens  int // of the prompts and answers of all of these
}

// Beside notes what other gateways have there now. It counts as this gateway's own does, in Load, Queue, InFlight,
// Backlog, Tokens and Work.
func (r *Replica) Beside(b Beside) {
	if b == (Beside{}) {
		r.beside.Store(nil)
	} else {
		r.beside.Store(&b)
	}
	r.prefills.beside(b.Left)
	r.besides.Add(1)
	r.ledger.change(oneEvent)
}

// OthersChanged returns how often what other gateways have there has changed: as long as that is the same, and there is
// nothing, they have not asked it for anything.
func (r *Replica) OthersChanged() uint64 { return r.besides.Load() }

// Others returns what other gateways have there.
func (r *Replica) Others() Beside {
	if b := r.beside.Load(); b != nil {
		return *b
	}
	return Beside{}
}

// Own returns this gateway's own part of Load: its requests in flight and waiting there, and their tokens.
func (r *Replica) Own() Beside {
	counts := r.ledger.now()
	return Beside{Running: counts.inFlight(), Waiting: counts.waiting(), Backlog: int(r.ledger.backlog.Load()),
		Tokens: int(r.ledger.tokens.Load())}
}
