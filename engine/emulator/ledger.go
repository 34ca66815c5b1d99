package emulator

import (
	"net/http"
	"slices"

	"octet/routing/events"
)

// lineBlocks is how many blocks one line of a snapshot tells.
const lineBlocks = 4096

// ledger is what the engine holds by its own events. Owned by the outbox, under postMu.
type ledger struct {
	blocks map[uint64]*held
	count  uint64 // of all blocks that ever came, for an order that repeats
}

// held is one cached block.
type held struct {
	hash, parent  uint64
	root          bool
	adapter, salt string
	tokens        []uint32
	copies        int
	came          uint64
}

func (l *ledger) note(changes []events.Event) {
	if l.blocks == nil {
		l.blocks = map[uint64]*held{}
	}
	for i := range changes {
		switch e := &changes[i]; e.Kind {
		case events.Registered:
			l.register(e)
		case events.Evicted:
			for _, h := range e.Hashes {
				if b := l.blocks[h]; b != nil {
					if b.copies--; b.copies == 0 {
						delete(l.blocks, h)
					}
				}
			}
		case events.Cleared, events.Shutdown:
			clear(l.blocks)
		}
	}
}

func (l *ledger) register(e *events.Event) {
	parent, root := e.Parent, e.Root
	for i, h := range e.Hashes {
		if b := l.blocks[h]; b != nil {
			b.copies++
		} else {
			l.count++
			l.blocks[h] = &held{
				hash: h, parent: parent, root: root, adapter: e.Adapter, salt: e.Salt,
				tokens: e.Tokens[i*e.BlockSize : (i+1)*e.BlockSize], copies: 1, came: l.count,
			}
		}
		parent, root = h, false
	}
}

// chains returns all blocks whose way back to a root is held, each after its parent; one event a block and copy.
func (l *ledger) chains(blockSize int) (all []events.Event) {
	list := make([]*held, 0, len(l.blocks))
	for _, b := range l.blocks {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *held) int { return int(int64(a.came - b.came)) })
	done := map[uint64]bool{} // and whether it can be told
	for _, b := range list {
		var way []*held
		for b != nil {
			if _, seen := done[b.hash]; seen {
				break
			}
			way = append(way, b)
			if b.root {
				break
			}
			b = l.blocks[b.parent]
		}
		for _, w := range slices.Backward(way) {
			done[w.hash] = w.root || done[w.parent]
			for range w.copies {
				if done[w.hash] {
					all = append(all, w.event(blockSize))
				}
			}
		}
	}
	return all
}

func (h *held) event(blockSize int) events.Event {
	return events.Event{
		Kind: events.Registered, Adapter: h.adapter, Salt: h.salt, Hashes: []uint64{h.hash}, Parent: h.parent,
		Root:   h.root,
		Tokens: h.tokens, BlockSize: blockSize,
	}
}

// snapshot returns what the engine holds after the batch posted last.
func (o *outbox) snapshot() []events.Batch {
	o.postMu.Lock()
	at := events.Batch{Replica: o.replica, Epoch: o.epoch, Seq: o.seq}
	all := o.ledger.chains(o.blockSize)
	o.postMu.Unlock()
	lines := []events.Batch{}
	for part := range slices.Chunk(all, lineBlocks) {
		at.Events = part
		lines = append(lines, at)
	}
	if len(lines) == 0 {
		lines = append(lines, at)
	}
	return lines
}

// showCache answers with all that is cached, as registrations: batches in the schema's JSON, one a line, all numbered
// as the last one that was published.
func (h handlers) showCache(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, b := range h.outbox.snapshot() {
		line, err := events.MarshalJSON(b)
		if err != nil {
			panic(http.ErrAbortHandler) // a body that breaks off is no snapshot
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return
		}
	}
}
