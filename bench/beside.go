package main

import (
	"fmt"

	"octet/bench/load"
	"octet/bench/origin"
)

// beside.go has the figures that are one load's beside another's: both by turns in one measurement, so that what
// disturbs the machine disturbs both.

// turns is how often each of two loads has its turn within a measurement.
const turns = 4

// costOf is microseconds of processor time for a request, or for an event of a stream.
type costOf func(b *bench, p *peer, r load.Requests) (float64, error)

// compared is what combine makes of the costs of one load and of another.
func compared(cost costOf, one, other load.Requests, combine func(one, other float64) float64,
) func(*bench, *peer) (float64, error) {
	return func(b *bench, p *peer) (float64, error) {
		short := *b
		short.span /= turns
		var sums [2]float64
		for range turns {
			for i, r := range [...]load.Requests{one, other} {
				r.Addr, r.Status = p.addr, 200
				v, err := cost(&short, p, r)
				if err != nil {
					return 0, err
				}
				sums[i] += v / turns
			}
		}
		return combine(sums[0], sums[1]), nil
	}
}

func ratioTo(one, other float64) float64  { return one / other }
func moreThan(one, other float64) float64 { return one - other }

// requestCost is a request's that is not streamed.
func requestCost(b *bench, p *peer, r load.Requests) (float64, error) {
	if err := b.warm(r); err != nil {
		return 0, err
	}
	return cpuOf(p, func() (int, error) {
		got, err := r.Closed(b.conns, b.span)
		return got.Requests, err
	})
}

// eventCost is an event's of streams that come as fast as they are taken, their beginnings and ends included.
func eventCost(b *bench, p *peer, r load.Requests) (float64, error) {
	b.engine.Play(origin.Script{Events: burstEvents, Usage: true})
	if _, err := r.Closed(8, b.span/5); err != nil {
		return 0, err
	}
	return cpuOf(p, func() (int, error) {
		got, err := r.Closed(8, b.span)
		if err == nil && got.Events < got.Requests*burstEvents {
			return 0, fmt.Errorf("%d streams had %d events", got.Requests, got.Events)
		}
		return got.Requests * burstEvents, err
	})
}

// doorRows are what doors cost beside chats of the same size, and for an agent's loop beside the same as a chat; native
// has engines that serve them.
func doorRows(own, native []kind) []row {
	const size, added, share = 16 << 10, "µs CPU more than a chat", "× a chat"
	request, event := load.Chat("template", size, false), load.Chat("template", 1<<10, true)
	of := func(bodies [][]byte, door string) load.Requests { return load.Requests{Bodies: bodies, Door: door} }
	all := []row{}
	for _, d := range []struct {
		name   string
		bodies func(model string, size int, stream bool) [][]byte
	}{{"messages", load.Messages}, {"responses", load.Responses}} {
		all = append(all,
			row{name: d.name + "-16k", unit: added, only: own, measure: compared(requestCost,
				of(d.bodies("template", size, false), "translated"), of(request, ""), moreThan)},
			row{name: d.name + "-sse", unit: share, only: own, measure: compared(eventCost,
				of(d.bodies("template", 1<<10, true), "translated"), of(event, ""), ratioTo)})
	}
	return append(all,
		row{name: "messages-loop", unit: added, only: own, measure: compared(requestCost,
			of(load.MessagesLoops("template"), "translated"), of(load.Loops("template"), ""), moreThan)},
		row{name: "responses-loop", unit: added, only: own, measure: compared(requestCost,
			of(load.ResponsesLoops("template"), "translated"), of(load.Loops("template"), ""), moreThan)},
		row{name: "messages-native-loop", unit: share, only: native, measure: compared(requestCost,
			of(load.MessagesLoops("template"), "native"), of(load.Loops("template"), ""), ratioTo)},
		row{name: "messages-native-16k", unit: share, only: native, measure: compared(requestCost,
			of(load.Messages("template", size, false), "native"), of(request, ""), ratioTo)},
		row{name: "messages-native-sse", unit: share, only: native, measure: compared(eventCost,
			of(load.Messages("template", 1<<10, true), "native"), of(event, ""), ratioTo)})
}

// agentRows are what tools cost beside text of as many bytes, and what it costs to ask for usage where the client did
// not, beside the same where it did.
func agentRows(own, vllm []kind) []row {
	const text, asked = "× the same bytes of text", "× a stream that asks itself"
	of := func(bodies [][]byte) load.Requests { return load.Requests{Bodies: bodies} }
	words := of(load.ToolText("template"))
	return []row{
		{name: "tools-20k", unit: text, only: own, measure: compared(requestCost, of(load.Tools("template", false)),
			words, ratioTo)},
		{name: "tools-spaced-20k", unit: text, only: own, measure: compared(requestCost,
			of(load.Tools("template", true)), words, ratioTo)},
		{name: "usage-sse", unit: asked, only: own, measure: compared(eventCost, of(load.Usage("template", "")),
			of(load.Usage("template", `{"include_usage":true}`)), ratioTo)},
		{name: "usage-each-sse", unit: asked, only: vllm, measure: compared(eventCost, of(load.Usage("template", "")),
			of(load.Usage("template", `{"include_usage":true,"continuous_usage_stats":true}`)), ratioTo)},
	}
}
