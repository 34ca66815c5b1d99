package gateway

import (
	"errors"

	"octet/gateway/place"
	"octet/gateway/stream"
)

// part is a stretch of a stream. It ends with the stream, or, parks being true, where the stream can do without a
// goroutine.
type part func() (parks bool, err error)

// goOn carries a stream that has begun, once its handler has returned. It returns true if the stream is over, and false
// if it is parked.
func (x *exchange) goOn() (over bool) {
	x.slim()
	return x.carry(x.relay.Rest)
}

// carry runs a part of a stream and what follows on it, until the stream is over (true) or parked (false). A parked
// stream belongs to its engine's loop.
func (x *exchange) carry(p part) (over bool) {
	for x.guarded(p) {
		if x.relay.Park(x.unpark) {
			return false
		}
		p = x.relay.Unparked
	}
	x.conclude()
	return true
}

// unpark carries a stream whose loop has ended with why.
func (x *exchange) unpark(why error) (over bool) {
	return x.carry(func() (bool, error) { return x.relay.Resumed(why) })
}

// guarded runs a part and ends the answer where it ends. A panic is this request's alone.
func (x *exchange) guarded(p part) (parks bool) {
	defer x.recover()
	parks, err := x.follow(p)
	if !parks {
		x.finishWith(err)
	}
	return parks
}

// follow runs a part of a stream, and the rest, through every preemption and every death of an engine.
func (x *exchange) follow(p part) (parks bool, err error) {
	parks, err = p()
	for !parks {
		err = x.turn.place.Cause(x.meaning(err))
		switch {
		case errors.Is(err, place.ErrPreempted) && x.relay.Unfinished():
			err = x.resume(x.ctx)
			x.slim()
		case x.outlives(err):
			err = x.moveOn(err)
		default:
			x.countLost(err)
			x.settle(err)
			return false, err
		}
		if err == nil {
			parks, err = x.relay.Rest()
		}
	}
	return true, nil
}

// source is the engine whose turn it is.
func (x *exchange) source() stream.Source {
	t := &x.turn
	s := stream.Source{
		Engine: &t.rep.Kind, Request: &x.request.Parsed, Response: t.resp, Place: &t.place, Shape: &t.rep.Answers,
		Rewriter: x.protocol, Context: x.sp.MaxContext(), Board: x.sp.Board, Handed: t.handed,
		FirstTokenBy: t.hurriedBy,
	}
	if x.beside != nil || len(x.held) > 0 {
		s.Held = func() bool { return x.beside != nil || len(x.held) > 0 }
	}
	return s
}

// meaning is err in the words of who could have caused it: see refusedBy.
func (x *exchange) meaning(err error) error {
	var no *stream.Unusable
	if errors.As(err, &no) {
		return x.unusable(no)
	}
	return err
}
