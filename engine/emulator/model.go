package emulator

import (
	"context"
	"hash/fnv"
	"io"
	"slices"

	"octet/engine/emulator/tiny"
	"octet/scheduler/core"
)

// model chooses the tokens of a batch. Results stand in the order of the batch and are valid until the next Say, which
// fails only with ctx.
type model interface {
	Say(ctx context.Context, b core.Batch) ([]core.Result, error)
}

// newModel returns the model that c asks for.
func newModel(c Config, s *sequences) model {
	if c.Text != TextTiny {
		return &scriptedModel{sequences: s}
	}
	m := tinyWeights(c)
	return &tinyModel{sequences: s, engine: tiny.NewEngine(m, c.Blocks, c.BlockSize),
		host: make(map[uint64]*tiny.Snapshot)}
}

// tinyWeights draws the weights from the model's name, so that all replicas of a model go on with each other's answers.
func tinyWeights(c Config) *tiny.Model {
	h := fnv.New64a()
	_, _ = io.WriteString(h, c.Model)
	return tiny.NewModel(h.Sum64(), lexicon().ids, c.Hybrid)
}

// scriptedModel takes the tokens from the sequences' scripts. Owned by Step.
type scriptedModel struct {
	sequences *sequences
	results   []core.Result
	sampled   []uint32 // what results point into
}

// Say samples one token for each item that yields one.
func (m *scriptedModel) Say(ctx context.Context, b core.Batch) ([]core.Result, error) {
	// grown at once: results point into it
	m.results, m.sampled = m.results[:0], slices.Grow(m.sampled[:0], len(b.Items))
	for _, it := range b.Items {
		r := core.Result{ID: it.ID}
		if it.Samples {
			var token uint32
			token, r.Stop = m.sample(it)
			m.sampled = append(m.sampled, token)
			r.Tokens = m.sampled[len(m.sampled)-1:]
		}
		m.results = append(m.results, r)
	}
	return m.results, ctx.Err()
}

// sample returns the next token of an item, and whether the answer ends with it. A sequence whose client has left
// ends.
func (m *scriptedModel) sample(it core.Item) (token uint32, stop bool) {
	q := m.sequences.find(it.ID)
	if q == nil {
		return 0, true
	}
	end := q.script.Len()
	return q.script.Token(it.Batched), end > 0 && it.Batched >= end-1
}

// tinyModel computes. What it answers follows from the batch alone: a sequence whose client has left is computed like
// any other, for its blocks may be shared once the step is settled. Owned by Step.
type tinyModel struct {
	engine    *tiny.Engine
	sequences *sequences
	host      map[uint64]*tiny.Snapshot // of hybrids that gave way
	results   []core.Result
	said      []uint32 // what results point into
}

// Say computes the items one after the other, which is as well as at once: no item reads what another writes.
func (m *tinyModel) Say(ctx context.Context, b core.Batch) ([]core.Result, error) {
	m.copyOut(b)
	m.results, m.said = m.results[:0], slices.Grow(m.said[:0], yields(b)) // grown at once: results point into it
	for _, it := range b.Items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if it.Restore {
			m.engine.Restore(it.Table, m.host[it.ID])
		}
		r, from := core.Result{ID: it.ID}, len(m.said)
		m.said, r.Stop = m.engine.Compute(m.said, m.span(it))
		m.export(it)
		r.Tokens = m.said[from:len(m.said):len(m.said)]
		m.results = append(m.results, r)
	}
	m.forget(b)
	return m.results, nil
}

// span returns what is to be computed of an item: all of it, or, of a prompt that another engine has computed, nothing
// but the token that the answer's first one is sampled from. The rest is put in its place here.
func (m *tinyModel) span(it core.Item) tiny.Span {
	s := tiny.Span{Adapter: it.Adapter, Table: it.Table, Start: it.Start, Tokens: it.Tokens, Samples: it.Samples,
		Draft: it.Draft, Policy: tiny.Policy(it.Policy)}
	q := m.sequences.find(it.ID)
	if q == nil || q.received == nil || it.Mode != core.Prefill || it.Start+len(it.Tokens) > q.received.Tokens() {
		return s
	}
	end := it.Start + len(it.Tokens)
	if it.Samples {
		end--
	}
	m.engine.Import(it.Table, q.received, it.Start, end)
	s.Tokens, s.Start = it.Tokens[end-it.Start:], end
	return s
}

// export copies a prompt that has just been computed for another engine.
func (m *tinyModel) export(it core.Item) {
	if q := m.sequences.find(it.ID); q != nil && q.kept && it.Samples && it.Batched == 0 {
		q.take(m.engine.Snapshot(it.Table, it.Start+len(it.Tokens)))
	}
}

// copyOut does what b asks of host memory before anything is written.
func (m *tinyModel) copyOut(b core.Batch) {
	for _, id := range b.Discards {
		delete(m.host, id)
	}
	for _, s := range b.Snapshots {
		m.host[s.ID] = m.engine.Snapshot(s.Table, s.Tokens)
	}
}

// forget drops the copies that b, which is computed, brought back.
func (m *tinyModel) forget(b core.Batch) {
	for _, it := range b.Items {
		if it.Restore {
			delete(m.host, it.ID)
		}
	}
}

// yields returns the most tokens that b can yield.
func yields(b core.Batch) (n int) {
	for _, it := range b.Items {
		n += 1 + it.Draft
	}
	return n
}
