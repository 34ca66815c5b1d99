package metrics

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Specialist counts what one specialist's requests come to. What is known when a request ends is counted together,
// under one lock; a scrape makes series of it. Safe for concurrent use.
type Specialist struct {
	name              string
	since             time.Time
	offered, admitted [len(bands)]atomic.Uint64 // by bandOf
	pass, fail        atomic.Uint64
	met, missed       [len(bands)]atomic.Uint64 // deadlines, by bandOf
	lost, computed    atomic.Uint64             // tokens, see Regret
	Predicted         Accuracy
	Ratio             TokenRatio

	mu     sync.Mutex
	ending endings // guarded by mu
}

// endings sums up what requests came to when they ended, and streams at their first token.
type endings struct {
	ok                         uint64 // status 200
	faults                     uint64 // see Ending
	prompt, completion, cached uint64 // tokens
	ttft, total                histogram
}

// latency are the bounds of the distributions of durations, in seconds.
var latency = [...]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// histogram counts durations by the smallest bound of latency that is not below them.
type histogram struct {
	counts [len(latency) + 1]uint64
	sum    float64 // seconds
}

func (h *histogram) add(d time.Duration) {
	seconds, at := d.Seconds(), 0
	for at < len(latency) && seconds > latency[at] {
		at++
	}
	h.counts[at]++
	h.sum += seconds
}

// upTo returns the number of all durations, and of those up to each bound.
func (h *histogram) upTo() (all uint64, upTo map[float64]uint64) {
	upTo = make(map[float64]uint64, len(latency))
	for i, bound := range latency {
		all += h.counts[i]
		upTo[bound] = all
	}
	return all + h.counts[len(latency)], upTo
}

// Offer counts a request of that priority that the specialist was to answer, and that ended without a place.
func (m *Specialist) Offer(priority int) { m.offered[bandOf(priority)].Add(1) }

// Admit counts a request of that priority by the first place that it gets.
func (m *Specialist) Admit(priority int) {
	m.offered[bandOf(priority)].Add(1) // first: what is admitted is never more than what is offered
	m.admitted[bandOf(priority)].Add(1)
}

// Verdict counts a verdict on an answer of the specialist.
func (m *Specialist) Verdict(pass bool) {
	if pass {
		m.pass.Add(1)
	} else {
		m.fail.Add(1)
	}
}

// Deadline counts a request of that priority that had declared a deadline, and whether it was missed.
func (m *Specialist) Deadline(priority int, missed bool) {
	if missed {
		m.missed[bandOf(priority)].Add(1)
	} else {
		m.met[bandOf(priority)].Add(1)
	}
}

// Regret counts a pick: the tokens of the prompt that it has to compute, as far as is known, and those of them that
// another eligible replica held.
func (m *Specialist) Regret(computed, lost int) {
	m.computed.Add(uint64(max(computed, 0)))
	m.lost.Add(uint64(max(lost, 0)))
}

// ended counts a request that ended.
func (m *Specialist) ended(r *Ending) {
	m.mu.Lock()
	e := &m.ending
	if r.Status == http.StatusOK {
		e.ok++
	}
	if r.Faulty {
		e.faults++
	}
	e.total.add(r.Total)
	e.prompt += uint64(max(r.PromptTokens, 0))
	e.completion += uint64(max(r.CompletionTokens, 0))
	e.cached += uint64(max(r.CachedTokens, 0))
	m.mu.Unlock()
}

// FirstToken counts a stream's first token, so long after the request's arrival.
func (m *Specialist) FirstToken(ttft time.Duration) {
	m.mu.Lock()
	m.ending.ttft.add(ttft)
	m.mu.Unlock()
}

// Totals are the sums of what requests came to, since the gateway's start.
type Totals struct {
	Answers    uint64 `json:"answers"` // with status 200
	Requests   uint64 `json:"requests"`
	Prompt     uint64 `json:"prompt_tokens"`
	Cached     uint64 `json:"cached_tokens"` // of Prompt, as engines tell
	Completion uint64 `json:"completion_tokens"`
}

// Totals returns the sums so far; none of a nil Specialist.
func (m *Specialist) Totals() Totals {
	if m == nil {
		return Totals{}
	}
	e := m.endings()
	all, _ := e.total.upTo()
	return Totals{Answers: e.ok, Requests: all, Prompt: e.prompt, Cached: e.cached, Completion: e.completion}
}

func (m *Specialist) endings() endings {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ending
}
