package emulator

import (
	"context"
	"slices"
	"time"

	"octet/engine"
	"octet/scheduler"
)

// model is the step engine under the scheduler: its tokens come from the sequences' voices, its time from arithmetic.
// Everything that decides what is in a step (batching, reuse, preemption, pressure) is the scheduler's and real.
// All fields are owned by Step, which runs in one goroutine at a time.
type model struct {
	cfg       Config
	sequences *sequences
	adapter   string // of the step before

	results []scheduler.Result // of the latest step; the loop has read them when it takes the next
	sampled []uint32           // what results point into
	text    []byte             // of the token at hand
}

// Step takes as long as the timing model says and samples one token for each item that yields one. It fails only with ctx.
func (m *model) Step(ctx context.Context, b scheduler.Batch) ([]scheduler.Result, error) {
	m.results, m.sampled = m.results[:0], slices.Grow(m.sampled[:0], len(b.Items)) // grown at once: results point into it
	var load stepLoad
	for _, it := range b.Items {
		q := m.sequences.find(it.ID)
		load.add(it, q, m.cfg.BlockSize)
		r := scheduler.Result{ID: it.ID}
		if it.Samples {
			var token uint32
			token, r.Stop = m.sample(it, q)
			m.sampled = append(m.sampled, token)
			r.Tokens = m.sampled[len(m.sampled)-1:]
		}
		m.results = append(m.results, r)
	}
	load.swap = b.Adapter != m.adapter
	m.adapter = b.Adapter
	return m.results, pause(ctx, load.duration(m.cfg))
}

// sample returns the next token of an item, and whether the answer ends with it. A sequence whose client has left says
// nothing any more.
func (m *model) sample(it scheduler.Item, q *sequence) (token uint32, stop bool) {
	if q == nil {
		return 0, true
	}
	q.running.Store(true)
	if q.kept {
		q.keep(it.Table)
	}
	m.text = q.voice.Text(m.text[:0], it.Batched)
	end := q.voice.Len()
	return engine.TokenID(m.text), end > 0 && it.Batched >= end-1
}

// stepLoad is what the timing model looks at.
type stepLoad struct {
	prefill int  // prompt tokens to compute
	fetch   int  // blocks to fetch from another engine
	decodes int  // sequences that get one more token
	swap    bool // the adapter is another one than in the step before
}

func (l *stepLoad) add(it scheduler.Item, q *sequence, blockSize int) {
	switch {
	case it.Mode != scheduler.Prefill:
		l.decodes++
	case q != nil && q.fetched && it.Batched == 0:
		l.fetch += (len(it.Tokens) + blockSize - 1) / blockSize
	default:
		l.prefill += len(it.Tokens)
	}
}

// duration is prefill / PrefillTPS, and for decodes Step + StepPerSeq a further sequence, and what else is to be done.
func (l stepLoad) duration(c Config) time.Duration {
	d := time.Duration(float64(l.prefill) / c.PrefillTPS * float64(time.Second))
	d += time.Duration(l.fetch) * c.KVTransferPerBlock
	if l.decodes > 0 {
		d += c.Step + time.Duration(l.decodes-1)*c.StepPerSeq
	}
	if l.swap {
		d += c.AdapterSwap
	}
	return d
}

// pause waits for d or until ctx ends, whose error it returns then.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
