package stream

import (
	"time"

	"octet/gateway/place"
)

// pass forwards whole events to the client and accounts for the tokens in them.
func (r *Relay) pass(out [2][]byte) error {
	if len(out[0])+len(out[1]) == 0 {
		return nil
	}
	since := r.readAt()
	if (!r.begun || r.Cont != nil) && !r.secure() {
		return place.ErrPreempted
	}
	if !r.begun {
		r.Begin(r.origin.At(since), -1)
	}
	if !r.heard {
		r.Response.SetIdle(r.Idle)
	}
	r.count(since)
	r.ArmWrite(since)
	for _, part := range out {
		if len(part) == 0 {
			continue
		}
		if err := r.out.Own(r.client); err != nil { // the second part is rewritten where the first was
			return r.clientGone(err)
		}
		if err := r.put(part); err != nil {
			return err
		}
	}
	return nil
}

// put gives the client whole events, in the words of its door.
func (r *Relay) put(events []byte) (err error) {
	if r.Native == nil {
		events = r.Rewriter.Events(r.norm.Events(r.Cont.Events(events)))
	}
	var wordless error // what came before it is told: the error follows it
	if r.Door != nil && r.Native == nil {
		if events, err = r.Door.Events(events); err != nil {
			wordless = &Unusable{Begun: r.heard, Err: err}
		}
		if len(events) == 0 {
			return wordless
		}
	}
	if err := r.out.Put(r.client, events); err != nil {
		return r.clientGone(err)
	}
	return wordless
}

// Begin sends the head of the answer.
func (r *Relay) Begin(now time.Time, length int) {
	r.observer.Head(now, length)
	r.begun = true
}

// readAt is how long after the arrival the events at hand came: one look at one clock for all that came together.
func (r *Relay) readAt() time.Duration {
	if r.came == 0 {
		r.came = r.origin.Since()
	}
	return r.came
}

// count tells the place of growth, and the board of the time between tokens.
func (r *Relay) count(since time.Duration) {
	base, before := r.Cont.Base(), r.delivered
	tokens := base + r.scanner.Tokens()
	if tokens == before {
		return
	}
	r.delivered = tokens
	if r.Place.Grows(tokens) && r.Place.Grow(tokens, base, r.origin.At(since)) {
		r.observer.Answered()
	}
	gap := since - r.wrote
	switch n := tokens - before; {
	case before == 0:
		r.observer.FirstToken(r.origin.At(since))
	case n == 1:
		r.gaps.Add(gap)
	default:
		r.gaps.Add(gap / time.Duration(n))
	}
	r.wrote = since
}

// ArmWrite gives the client write_timeout to take what is written next; set anew at most every quarter of it.
func (r *Relay) ArmWrite(since time.Duration) {
	if r.Write > 0 && since >= r.writeArmed {
		r.writeArmed = since + r.Write/4
		_ = r.client.SetWriteDeadline(r.origin.At(since + r.Write))
	}
}
