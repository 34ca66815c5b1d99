package replay

import "time"

// Work is what a trace has engines compute if nothing is computed twice: each prompt's tokens behind what an earlier
// prompt of the trace holds, and the answers.
type Work struct {
	Prompt int // tokens
	Answer int // tokens
	Chunks int // of prompts, as Default cuts them
}

// Work returns the work of a trace.
func (t *Trace) Work() (w Work) {
	seen := map[uint64]bool{}
	chunk := Default().Chunk
	for i := range t.Requests {
		r := &t.Requests[i]
		held, leading := 0, true
		for _, s := range r.Blocks {
			for k := range s.Count {
				id := s.First + uint64(k)
				if leading = leading && seen[id]; leading {
					held++
				}
				seen[id] = true
			}
		}
		own := max(1, r.Input-held*t.Block)
		w.Prompt, w.Answer, w.Chunks = w.Prompt+own, w.Answer+r.Output, w.Chunks+(own+chunk-1)/chunk
	}
	return w
}

// Seconds returns how long one engine works on it: prefill, each answer's share of the steps that decode it, and the
// fixed part of the steps that prefill.
func (w Work) Seconds(t *Timing) float64 {
	return float64(w.Prompt)/t.Prefill + float64(w.Answer)*t.Decode.Seconds() + float64(w.Chunks)*t.Step.Seconds()
}

// Sessions returns how many requests wait for no other, how long such requests keep coming, and how long the mean
// session goes on from its first request to its last, as it was recorded.
func (t *Trace) Sessions() (count int, span, life time.Duration) {
	ends := make([]time.Duration, len(t.Requests)) // by first request: when its session's last one came
	root := make([]int, len(t.Requests))
	for i := range t.Requests {
		r := &t.Requests[i]
		root[i] = i
		if r.After > 0 {
			root[i] = root[r.After-1]
		} else {
			count, span = count+1, max(span, r.At)
		}
		ends[root[i]] = r.At
	}
	sum := 0.0
	for i := range t.Requests {
		if root[i] == i {
			sum += (ends[i] - t.Requests[i].At).Seconds()
		}
	}
	return count, span, time.Duration(sum / float64(max(1, count)) * 1e9)
}

// Until returns the requests that come by end, if sessions begin at a rate, in the trace's own, and go on as they were
// recorded.
func (t *Trace) Until(rate float64, end time.Duration) Trace {
	out, place := Trace{Block: t.Block}, make([]int, len(t.Requests)) // plus 1; 0 is left out
	moved := make([]time.Duration, len(t.Requests))
	for i, r := range t.Requests {
		if r.After > 0 {
			moved[i] = moved[r.After-1]
		} else {
			moved[i] = time.Duration(float64(r.At)/rate) - r.At
		}
		if r.At+moved[i] > end || r.After > 0 && place[r.After-1] == 0 {
			continue
		}
		if r.After > 0 {
			r.After = place[r.After-1]
		}
		out.Requests = append(out.Requests, r)
		place[i] = len(out.Requests)
	}
	return out
}
