package emulator

import (
	"context"
	"time"

	"octet/scheduler/core"
)

// stepper is the step engine under the scheduler: its tokens come from its model, its time from arithmetic. Everything
// that decides what is in a step (batching, reuse, preemption, pressure) is the scheduler's and real. All fields are
// owned by Step, which runs in one goroutine at a time.
type stepper struct {
	cfg       Config
	sequences *sequences
	model     model
	adapter   string // of the step before
}

func newStepper(c Config, s *sequences) *stepper {
	return &stepper{cfg: c, sequences: s, model: newModel(c, s)}
}

// Step returns the model's tokens, and takes as long as the timing arithmetic says, or longer if the model does. It
// fails only with ctx.
func (m *stepper) Step(ctx context.Context, b core.Batch) ([]core.Result, error) {
	began := time.Now()
	load := stepLoad{swap: b.Adapter != m.adapter}
	m.adapter = b.Adapter
	for _, it := range b.Items {
		q := m.sequences.find(it.ID)
		load.add(it, q, m.cfg.BlockSize)
		if q != nil && it.Samples {
			q.stepped(it.Table)
		}
	}
	results, err := m.model.Say(ctx, b)
	if err != nil {
		return nil, err
	}
	return results, pause(ctx, load.duration(m.cfg)-time.Since(began))
}

// stepLoad is what the timing model looks at.
type stepLoad struct {
	prefill int  // prompt tokens to compute
	fetch   int  // blocks to fetch from another engine
	decodes int  // sequences that get one more token
	swap    bool // the adapter is another one than in the step before
}

func (l *stepLoad) add(it core.Item, q *sequence, blockSize int) {
	switch {
	case it.Mode != core.Prefill:
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
