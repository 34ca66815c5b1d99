package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// latency scores headroom: what the request asks for less what is foretold. Without a deadline the quicker replica has
// more.
type latency struct {
	named
	ttft, itl float64 // weights; their sum is 1
	least     bool
}

// newLatency: ttft_weight (default 0.8) and itl_weight (default 0.2) weigh the headroom of the first token against that
// between tokens; strategy (default most) is most, where more headroom is better, or least, where among those in time
// less is better, so that the quickest replicas stay free for requests that need them.
func newLatency(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		l := latency{
			named: named{"latency-headroom", reads(Forecasts)},
			ttft:  p.Float("ttft_weight", 0.8, 0, 1e6), itl: p.Float("itl_weight", 0.2, 0, 1e6),
			least: p.Text("strategy", "most", "most", "least") == "least",
		}
		sum := l.ttft + l.itl
		if sum == 0 {
			p.Refuse("ttft_weight and itl_weight are both 0")
			sum = 1
		}
		l.ttft, l.itl = l.ttft/sum, l.itl/sum
		return l
	}
}

// Score implements routing.Scorer. A candidate that is foretold nothing scores like the mean of the others.
func (l latency) Score(v routing.View, hosts []index.HostID, out []float64) {
	want, forecasts := wishOf(v.Facts()), Forecasts.Get(v)
	if forecasts == nil {
		fill(out, 1)
		return
	}
	var ttft, itl span
	for _, h := range hosts {
		if f := forecasts[h]; f.Known {
			room := want.headroom(f)
			ttft.add(room.ttft)
			itl.add(room.itl)
		}
	}
	known, sum := 0, 0.0
	for i, h := range hosts {
		if f := forecasts[h]; f.Known {
			out[i] = l.rate(want, f, &ttft, &itl)
			sum += out[i]
			known++
		}
	}
	if known == len(hosts) {
		return
	}
	mean := 1.0
	if known > 0 {
		mean = sum / float64(known)
	}
	for i, h := range hosts {
		if !forecasts[h].Known {
			out[i] = mean
		}
	}
}

// rate is the candidate's place between the least headroom (0) and the most (1). With least, those in time are turned
// round and lifted over those that are late.
func (l latency) rate(want wish, f Forecast, ttft, itl *span) float64 {
	room := want.headroom(f)
	place := l.ttft*ttft.place(room.ttft) + l.itl*itl.place(room.itl)
	switch {
	case !l.least || want.none():
		return place
	case want.met(f):
		return 1 - place/2
	}
	return place / 2
}

// span is the range of some numbers.
type span struct {
	low, high float64
	some      bool
}

func (s *span) add(x float64) {
	if !s.some {
		s.low, s.high, s.some = x, x, true
	}
	s.low, s.high = min(s.low, x), max(s.high, x)
}

// place is 0 at the low end and 1 at the high one; 1 where there is no range.
func (s *span) place(x float64) float64 {
	if s.high <= s.low {
		return 1
	}
	return (x - s.low) / (s.high - s.low)
}

func fill(out []float64, x float64) {
	for i := range out {
		out[i] = x
	}
}
