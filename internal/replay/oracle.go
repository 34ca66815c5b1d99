package replay

import (
	"math"
	"slices"
	"time"
)

// oracle bounds what any policy can do with a trace: it plays nothing, it adds up what cannot be avoided. Memory has no
// end, every cache is everybody's, and nothing is computed that was computed before.
//
//	a first token     the steps that the prompt's new tokens take, alone. New is what no other prompt holds that may
//	                  have come before
//	all first tokens  by the last one the fleet has computed the new tokens of all, however they are spread
//	a further token   a step and its decoding; but the one after a sequence gave way comes from prefill
//	the end           the last answer's, each begun as early as its session can be; and no sooner than the fleet can
//	                  compute what is new, once, and the answers
//
// So no policy's mean, p50, p90 or p99 of the TTFT is below the oracle's, and no policy's tokens a second, share within
// the goal or capacity above it, whatever the pools, the events and the metrics are. It need not be reachable. Of the
// time between tokens it says nothing: that is 0.
type oracle struct {
	config *Config
	trace  *Trace
	forced []forced // by request
	closed bool     // some requests wait for others
}

// forced is what one request cannot avoid.
type forced struct {
	refused  bool
	earliest time.Duration // at which it can come
	novel    int           // tokens that it, or another one after it came, has to compute
	owned    int           // tokens that it is the first one to hold
	first    time.Duration // from its coming to its first token
}

// bound returns what no policy betters.
func bound(c Config, trace *Trace) Result {
	o := &oracle{config: &c, trace: trace, forced: make([]forced, len(trace.Requests))}
	o.come(func(int) time.Duration { return c.Timing.Step })
	o.compare()
	o.come(func(i int) time.Duration { return o.forced[i].first })
	return o.result()
}

// come sets when each request can come at the earliest, if first tokens take at least first.
func (o *oracle) come(first func(i int) time.Duration) {
	for i := range o.trace.Requests {
		r, f := &o.trace.Requests[i], &o.forced[i]
		f.refused = r.Output > o.config.Blocks*o.config.BlockSize-r.Input
		if r.After == 0 {
			f.earliest = time.Duration(float64(r.At) / o.config.Rate)
			continue
		}
		o.closed = true
		f.earliest = o.end(r.After-1, first(r.After-1)) + r.Gap
	}
}

// end returns when the answer to i can end at the earliest.
func (o *oracle) end(i int, first time.Duration) time.Duration {
	f := &o.forced[i]
	if f.refused {
		return f.earliest
	}
	return f.earliest + first + o.further(o.trace.Requests[i].Output)
}

// mostYields is how often a sequence gives way at most: invariant 10 of scheduler/core.
const mostYields = 4

// decoded returns how many tokens of an answer at least come from steps that decode it. The first token comes from
// prefill, and so does the next one of a sequence that gave way.
func decoded(answer int) int { return max(0, answer-1-mostYields) }

// further is the least time from an answer's first token to its last.
func (o *oracle) further(answer int) time.Duration {
	t := &o.config.Timing
	return time.Duration(decoded(answer))*t.Decode + time.Duration(answer-1)*t.Step
}

// holding is which requests hold a block.
type holding struct {
	first, second time.Duration // when the first two of them can come
	by            int           // the first one
	line          int           // the session of the first one, named by its first turn
	lines         bool          // another session holds it too
	counted       bool          // in its owner's tokens
}

// holdings returns which requests hold each block, and each request's session.
func (o *oracle) holdings() (held map[uint64]*holding, line []int) {
	held, line = map[uint64]*holding{}, make([]int, len(o.forced))
	for i := range o.trace.Requests {
		r := &o.trace.Requests[i]
		line[i] = i
		if r.After > 0 {
			line[i] = line[r.After-1]
		}
		if o.forced[i].refused {
			continue
		}
		for _, s := range r.Blocks {
			for k := range s.Count {
				h := held[s.First+uint64(k)]
				if h == nil {
					h = &holding{first: math.MaxInt64, second: math.MaxInt64, line: line[i]}
					held[s.First+uint64(k)] = h
				}
				h.add(i, line[i], o.forced[i].earliest)
			}
		}
	}
	return held, line
}

// add notes that request i of a session holds the block, too.
func (h *holding) add(i, line int, earliest time.Duration) {
	h.lines = h.lines || line != h.line
	switch {
	case h.first == math.MaxInt64 || i != h.by && earliest < h.first:
		h.first, h.second, h.by, h.line = earliest, h.first, i, line
	case i != h.by:
		h.second = min(h.second, earliest)
	}
}

// compare sets what is new in each prompt.
func (o *oracle) compare() {
	held, line := o.holdings()
	for i := range o.trace.Requests {
		r, f := &o.trace.Requests[i], &o.forced[i]
		if f.refused {
			continue
		}
		ids, old := r.ids(), 0
		for old < len(ids) && !o.isNew(held[ids[old]], i, line[i]) {
			old++
		}
		f.novel = r.Input - min(old*o.trace.Block, r.Input-1)/o.config.BlockSize*o.config.BlockSize
		f.first = o.alone(f.novel)
		f.owned = max(0, r.Input-len(ids)*o.trace.Block)
		for at, id := range ids {
			if h := held[id]; h.by == i && !h.counted {
				h.counted = true
				f.owned += min(o.trace.Block, r.Input-at*o.trace.Block)
			}
		}
	}
}

// isNew returns true if no prompt that may have come before request i holds the block. A request that waits for another
// may come late, after all other sessions' requests.
func (o *oracle) isNew(h *holding, i, line int) bool {
	if o.trace.Requests[i].After > 0 {
		return h.by == i && h.line == line && !h.lines
	}
	other := h.first
	if h.by == i {
		other = h.second
	}
	return other > o.forced[i].earliest
}

// alone is the least time in which an engine computes so many tokens of one prompt.
func (o *oracle) alone(tokens int) time.Duration {
	steps := time.Duration((tokens + o.config.Budget - 1) / o.config.Budget)
	compute := time.Duration(float64(tokens) / o.config.Timing.Prefill * 1e9)
	return max(0, steps*o.config.Timing.Step+compute-steps) // a step's time is a whole number of nanoseconds
}

// work is the least engine time for so many prompt tokens and so many further ones, however they share steps.
func (o *oracle) work(prompt, further int) float64 {
	t := &o.config.Timing
	steps := float64(prompt+further) / float64(o.config.Budget)
	return float64(prompt)/t.Prefill + float64(further)*t.Decode.Seconds() + steps*(t.Step.Seconds()-1e-9)
}

func (o *oracle) result() Result {
	out := Result{Rate: o.config.Rate, Requests: len(o.forced), Imbalance: 1}
	var first, owned []float64
	var last, end time.Duration
	prompt, answer, decodes, held, input, good := 0, 0, 0, 0, 0, 0
	for i := range o.forced {
		r, f := &o.trace.Requests[i], &o.forced[i]
		end = max(end, o.end(i, f.first))
		if f.refused {
			out.Refused++
			continue
		}
		first, owned = append(first, f.first.Seconds()), append(owned, o.work(f.owned, 0))
		last = max(last, f.earliest)
		prompt, answer = prompt+f.owned, answer+r.Output
		held, input = held+r.Input-f.novel, input+r.Input
		decodes += decoded(r.Output)
		if f.first <= o.config.Goal.TTFT && o.further(r.Output) <= time.Duration(r.Output-1)*o.config.Goal.TPOT {
			good++
		}
	}
	replicas := float64(o.config.Replicas)
	out.Makespan = max(end.Seconds(), o.work(prompt, decodes)/replicas)
	out.Throughput = ratio(float64(answer), out.Makespan)
	out.HitRate, out.Goodput = ratio(float64(held), float64(input)), ratio(float64(good), float64(len(o.forced)))
	out.TTFT = spread(first)
	if out.Curve = curve(first); !o.closed {
		o.pool(&out, owned, last.Seconds())
	}
	return out
}

// pool raises the quantiles of the time to first token to what the fleet needs for so many of the requests, the least
// work first, if all have come at last.
func (o *oracle) pool(out *Result, owned []float64, last float64) {
	slices.Sort(owned)
	sums := make([]float64, len(owned))
	sum := 0.0
	for i, w := range owned {
		sum += w
		sums[i] = sum/float64(o.config.Replicas) - last
	}
	if len(sums) == 0 {
		return
	}
	t := &out.TTFT
	t.P50, t.P90 = max(t.P50, nearest(sums, 0.5)), max(t.P90, nearest(sums, 0.9))
	t.P99 = max(t.P99, nearest(sums, 0.99))
	for i := range out.Curve {
		out.Curve[i] = max(out.Curve[i], nearest(sums, float64(i)/100))
	}
}
