package shadow

import (
	"octet/gateway/trace"
	"octet/gateway/wire"
)

// This file notes in a shadow's trace what becomes of it. Without a trace it looks at no clock.

// routed notes the end of the pipeline.
func (sh *Shadow) routed(err error) {
	if sh.trace != nil {
		sh.trace.Routed(0, sh.timer.Since(), err)
	}
}

// queued notes what the replica's Gate has said, which was asked for a place at once.
func (sh *Shadow) queued(err error) {
	if sh.trace != nil {
		now := sh.timer.Since()
		sh.trace.Turn(now)
		sh.trace.Queued(now, now, err)
	}
}

// traced ends the trace.
func (sh *Shadow) traced(err error) {
	if sh.trace == nil {
		return
	}
	total := sh.timer.Since()
	sh.trace.TurnEnded(total)
	c := trace.Copied{Receipt: sh.example.Receipt, Specialist: sh.sp.Name, Adapter: sh.adapter,
		Completion: sh.request.Kind == wire.Completion, Arrival: sh.request.Arrival, Total: total}
	if rep := sh.chosen; rep != nil {
		c.Replica, c.Engine = rep.Name, rep.Traced()
	}
	if err != nil {
		c.Outcome = outcome(err)
	}
	sh.trace.EndShadow(&c)
}
