package sim

import (
	"fmt"
	"slices"

	"octet/scheduler/core"
)

// host is what an engine of hybrid sequences holds beside its KV memory: a recurrent state for each sequence on the
// device, and copies of sequences in host memory.
type host struct {
	states map[uint64]state // on the device, of requests that are here; never iterated
	copies map[uint64]copied
	bytes  int64 // of the copies
	wanted int64 // of those that a request still waits for or runs on
	// copies that are not wanted any more, in the order in which the scheduler must tell; some not for the first time
	discard []uint64
}

// state is what a recurrence over so many positions left; the hash of the last position's content stands for it.
type state struct {
	positions int
	content   uint64
}

// copied is one sequence in host memory.
type copied struct {
	state
	cells   []uint64
	bytes   int64
	dropped bool // no request wants it any more
}

func newHost() host { return host{states: map[uint64]state{}, copies: map[uint64]copied{}} }

// move does what a batch asks for before anything of it is computed: copies go, are taken, and are brought back.
func (r *coreRun) move(b *core.Batch) error {
	h := &r.host
	if len(b.Items) == 0 {
		return nil
	}
	if !slices.Equal(b.Discards, h.discard) {
		return fmt.Errorf("host memory: the copies of %v are to go, and %v is told", h.discard, b.Discards)
	}
	for _, id := range b.Discards {
		h.bytes -= h.copies[id].bytes
		delete(h.copies, id)
	}
	for i := range b.Snapshots {
		if err := r.copyOut(&b.Snapshots[i]); err != nil {
			return err
		}
	}
	if most := r.plan.Core.HostBytes; h.bytes > most {
		return fmt.Errorf("host memory: %d bytes are copied, %d are allowed", h.bytes, most)
	}
	for i := range b.Items {
		if it := &b.Items[i]; it.Restore {
			if err := r.copyBack(it); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyOut checks that a sequence leaves whole: its state as of the last step, and every position's content.
func (r *coreRun) copyOut(s *core.Snapshot) error {
	h, l := &r.host, r.live[s.ID]
	_, twice := h.copies[s.ID]
	if l == nil || !l.Hybrid || twice || s.Tokens != l.computed || h.states[s.ID].positions != s.Tokens {
		return fmt.Errorf("host memory: %d tokens of %d are copied, %d are in its state; twice: %t", s.Tokens, s.ID,
			h.states[s.ID].positions, twice)
	}
	c := copied{state: h.states[s.ID], bytes: r.plan.Core.SSMStateBytes + int64(s.Tokens)*r.plan.Core.KVTokenBytes}
	for p := range s.Tokens {
		c.cells = append(c.cells, *r.memory.at(s.Table, p))
	}
	if !slices.Equal(c.cells, l.content[:s.Tokens]) {
		return fmt.Errorf("host memory: the copy of %d has another one's content", s.ID)
	}
	h.copies[s.ID] = c
	h.bytes += c.bytes
	h.wanted += c.bytes
	r.out.Snapshots++
	delete(h.states, s.ID)
	return nil
}

// copyBack puts a sequence where its item says.
func (r *coreRun) copyBack(it *core.Item) error {
	c, ok := r.host.copies[it.ID]
	if !ok || c.positions != it.Start {
		return fmt.Errorf("host memory: %d starts at %d, its copy has %d positions", it.ID, it.Start, c.positions)
	}
	for p, content := range c.cells {
		*r.memory.at(it.Table, p) = content
	}
	r.host.states[it.ID] = c.state
	return nil
}

// recur checks that a hybrid goes on from the state that it left, and from no other's blocks.
func (r *coreRun) recur(it *core.Item, l *life) error {
	if it.Start == 0 {
		r.host.states[l.ID] = state{}
	}
	s := r.host.states[l.ID]
	if it.Cached > 0 || s.positions != it.Start || s.positions > 0 && s.content != l.content[it.Start-1] {
		return fmt.Errorf("hybrid: %d computes from position %d on with the state of %d, and %d cached", l.ID, it.Start,
			s.positions, it.Cached)
	}
	return nil
}

// settled notes that what a committed batch brought back is no more in host memory.
func (h *host) settled(it *core.Item) {
	if it.Restore {
		h.bytes -= h.copies[it.ID].bytes
		h.wanted -= h.copies[it.ID].bytes
		delete(h.copies, it.ID)
	}
}

// recurred notes the states that a committed batch left with the requests that go on.
func (r *coreRun) recurred(b *core.Batch) {
	for i := range b.Items {
		if l := r.live[b.Items[i].ID]; l != nil && l.Hybrid {
			r.host.states[l.ID] = state{l.computed, l.content[l.computed-1]}
		}
	}
}

// told notes that the first n discards were in a batch that was committed.
func (h *host) told(n int) { h.discard = h.discard[n:] }

// unwanted notes that the copy of id, if there is one, must go.
func (h *host) unwanted(id uint64) {
	if c, ok := h.copies[id]; ok && !c.dropped {
		c.dropped = true
		h.copies[id] = c
		h.wanted -= c.bytes
		h.discard = append(h.discard, id)
	}
}

// spoiled notes that the copies which a failed batch took are not to be trusted.
func (r *coreRun) spoiled(b *core.Batch) {
	for _, s := range b.Snapshots {
		if r.live[s.ID] != nil {
			r.host.unwanted(s.ID)
		}
	}
}

// empty checks that nothing is left but what no later batch could discard.
func (h *host) empty() error {
	for id := range h.copies {
		if !slices.Contains(h.discard, id) {
			return fmt.Errorf("all is done, and host memory has a copy of %d", id)
		}
	}
	if h.wanted != 0 {
		return fmt.Errorf("all is done, and %d bytes are wanted of host memory", h.wanted)
	}
	return nil
}
