package app

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"octet/config"
	"octet/scheduler/gate"
	"octet/slo"
)

// history is what has been measured and judged of specialists, and what operators have set. It outlives generations.
type history struct {
	log       *slog.Logger
	knobs     *slo.Knobs
	probation *slo.Probation
	told      func(specialist string, g slo.Given) // other gateways; nil if there are none, set before the first board

	mu        sync.Mutex
	boards    map[string]board  // by specialist; guarded by mu
	books     map[string]books  // by specialist; guarded by mu
	revisions map[string]string // that are judged, by specialist; guarded by mu
}

// board is the windows of one specialist.
type board struct {
	shape   config.SLO
	kinds   []string // of verdicts that have a rate of their own
	version string   // of the weights that its verdicts are on
	board   *slo.Board
	load    *slo.Escalation
}

// books are of the requests that one specialist has sent away.
type books struct {
	full *gate.Book // because no replica had a place
	shed *gate.Book // because its load had raised the floor
}

func newHistory(log *slog.Logger, cfg *config.Config) (*history, error) {
	h := &history{log: log, boards: map[string]board{}, books: map[string]books{},
		revisions: map[string]string{}}
	var err error
	if h.knobs, err = slo.NewKnobs(nil, knobs(cfg)...); err != nil {
		return nil, err
	}
	h.probation, err = loadProbation(cfg.Router.Probation)
	return h, err
}

// sloConfig returns what a specialist publishes and owes. Its verdicts are told to other gateways, if there are any.
func (h *history) sloConfig(sp *config.Specialist, kinds []string) slo.Config {
	c := sloConfig(sp, kinds)
	if h.told != nil {
		specialist := sp.Name
		c.Told = func(g slo.Given) { h.told(specialist, g) }
	}
	return c
}

// hear counts a verdict on a specialist of another gateway's. One that is not in force here has none, and a verdict on
// an answer of another version than is in force here says nothing of it: a rolling reload changes one gateway first.
func (h *history) hear(specialist string, g slo.Given) {
	h.mu.Lock()
	b, known := h.boards[specialist]
	h.mu.Unlock()
	if known && (g.Version == "" || g.Version == b.version) {
		b.board.Hear(g)
	}
}

// boardsOf returns the windows of every specialist of cfg: those that it has, or empty ones if their shape was changed.
// It changes nothing.
func (h *history) boardsOf(cfg *config.Config) map[string]board {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, kinds := make(map[string]board, len(cfg.Specialists)), cfg.Outcomes.Kinds
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		old, known := h.boards[sp.Name]
		if known && old.shape == sp.SLO && slices.Equal(old.kinds, kinds) {
			old.version = sp.Version
			all[sp.Name] = old
			continue
		}
		all[sp.Name] = board{sp.SLO, kinds, sp.Version, slo.NewBoard(h.sloConfig(sp, kinds)),
			slo.NewEscalation(escalationConfig(sp))}
	}
	return all
}

// commit makes boards those that are saved and kept. What was judged stays judged, and verdicts on answers of before
// count for the new ones. What was judged of a specialist's old weights says nothing of the new ones: a change of its
// version drops the verdicts.
func (h *history) commit(boards map[string]board, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, b := range boards {
		old, known := h.boards[name]
		if known && old.board != b.board {
			old.board.Breaker().HandOver(b.board.Breaker(), now)
		}
		if known && old.version != b.version {
			h.drop(name, old.version, b, now)
		}
	}
	maps.Copy(h.boards, boards)
}

// drop forgets the verdicts on a specialist's version before.
func (h *history) drop(specialist, before string, b board, now time.Time) {
	h.log.Info("verdicts on another version are dropped", "specialist", specialist, "version", b.version, "before",
		before)
	b.board.Breaker().Refresh(now)
}

// booksOf returns the books of a specialist, always the same ones.
func (h *history) booksOf(specialist string) books {
	h.mu.Lock()
	defer h.mu.Unlock()
	b, ok := h.books[specialist]
	if !ok {
		b = books{gate.NewBook(time.Second), gate.NewBook(time.Second)}
		h.books[specialist] = b
	}
	return b
}
