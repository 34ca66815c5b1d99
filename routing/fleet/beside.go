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
func (o *occupancy) Beside(b Beside) {
	if b == (Beside{}) {
		o.beside.Store(nil)
	} else {
		o.beside.Store(&b)
	}
	o.prefills.beside(b.Left)
	o.besides.Add(1)
	o.ledger.change(oneEvent)
}

// OthersChanged returns how often what other gateways have there has changed: as long as that is the same, and there is
// nothing, they have not asked it for anything.
func (o *occupancy) OthersChanged() uint64 { return o.besides.Load() }

// Others returns what other gateways have there.
func (o *occupancy) Others() Beside {
	if b := o.beside.Load(); b != nil {
		return *b
	}
	return Beside{}
}

// Own returns this gateway's own part of Load: its requests in flight and waiting there, and their tokens.
func (o *occupancy) Own() Beside {
	counts := o.ledger.now()
	return Beside{Running: counts.inFlight(), Waiting: counts.waiting(), Backlog: int(o.ledger.backlog.Load()),
		Tokens: int(o.ledger.tokens.Load())}
}
