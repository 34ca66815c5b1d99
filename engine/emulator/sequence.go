package emulator

import (
	"slices"
	"sync"
	"sync/atomic"

	"octet/engine/emulator/tiny"
	"octet/kvpool"
)

// sequence is what the step engine knows of one sequence that the scheduler runs.
type sequence struct {
	script  script // nil if the model computes the tokens
	adapter string
	fetched bool // its prompt's blocks are fetched from the engine that computed them
	kept    bool // the client gets its block table, and has another engine fetch the blocks

	running atomic.Bool // a step has sampled from it

	received *tiny.Snapshot // its prompt as that engine computed it; nil where nothing is computed

	tableMu sync.Mutex
	table   []kvpool.BlockID // as of the latest step; only when kept
	taken   *tiny.Snapshot   // of the prompt, once it is computed; only when kept
}

// stepped notes a step that yields tokens, and the block table that the sequence has in it.
func (s *sequence) stepped(table []kvpool.BlockID) {
	s.running.Store(true)
	if !s.kept {
		return
	}
	s.tableMu.Lock()
	defer s.tableMu.Unlock()
	s.table = append(s.table[:0], table...)
}

// spell appends the text of token, which came as number i, to dst and reports whether the sequence could have said it
// there.
func (s *sequence) spell(dst []byte, i int, token uint32) (text []byte, own bool) {
	if s.script == nil {
		return lexicon().spell(dst, token)
	}
	text = s.script.Text(dst, i)
	return text, s.script.Token(i) == token
}

// take keeps a copy of the prompt's keys and values for another engine.
func (s *sequence) take(kv *tiny.Snapshot) {
	s.tableMu.Lock()
	defer s.tableMu.Unlock()
	s.taken = kv
}

// computed returns a copy of the latest block table, and what take kept.
func (s *sequence) computed() ([]kvpool.BlockID, *tiny.Snapshot) {
	s.tableMu.Lock()
	defer s.tableMu.Unlock()
	return slices.Clone(s.table), s.taken
}

// sequences is the meeting place of handlers, which add and remove, and steps, which find. Safe for concurrent use.
type sequences struct {
	byIDMu sync.RWMutex
	byID   map[uint64]*sequence
	last   uint64 // id given last
}

func newSequences() *sequences { return &sequences{byID: make(map[uint64]*sequence)} }

func (s *sequences) add(q *sequence) (id uint64) {
	s.byIDMu.Lock()
	defer s.byIDMu.Unlock()
	s.last++
	s.byID[s.last] = q
	return s.last
}

func (s *sequences) remove(id uint64) {
	s.byIDMu.Lock()
	defer s.byIDMu.Unlock()
	delete(s.byID, id)
}

// find returns nil when the sequence's request has ended already.
func (s *sequences) find(id uint64) *sequence {
	s.byIDMu.RLock()
	defer s.byIDMu.RUnlock()
	return s.byID[id]
}

// live returns how many sequences there are.
func (s *sequences) live() int {
	s.byIDMu.RLock()
	defer s.byIDMu.RUnlock()
	return len(s.byID)
}

// adapters returns the names of the adapters of running and of waiting sequences, ascending.
func (s *sequences) adapters() (running, waiting []string) {
	s.byIDMu.RLock()
	for _, q := range s.byID {
		switch {
		case q.adapter == "":
		case q.running.Load():
			running = append(running, q.adapter)
		default:
			waiting = append(waiting, q.adapter)
		}
	}
	s.byIDMu.RUnlock()
	slices.Sort(running)
	slices.Sort(waiting)
	return slices.Compact(running), slices.Compact(waiting)
}
