package emulator

import (
	"fmt"
	"net/http"
)

// State is what GET /admin/state tells: the pool to the block, and the sequences that use it.
type State struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`  // of the last event batch
	Lost  uint64 `json:"lost"` // event batches that no transport took

	Total    int `json:"total"` // blocks; free + used + reserved = total
	Free     int `json:"free"`
	Used     int `json:"used"`
	Reserved int `json:"reserved"`
	Cached   int `json:"cached"`

	Waiting     int    `json:"waiting"` // sequences
	Running     int    `json:"running"`
	Preempting  int    `json:"preempting"`
	Preemptions uint64 `json:"preemptions"`
	Live        int    `json:"live"`     // sequences that a handler still holds
	Exported    int    `json:"exported"` // blocks kept for other engines, beside the pool
}

// State returns a recent picture of the engine, at the cost of two locks.
func (e *Emulator) State() State {
	s := e.loop.Stats()
	return State{
		Name: e.cfg.Name, Model: e.cfg.Model, Epoch: e.cfg.Epoch, Seq: e.outbox.posted(), Lost: e.outbox.lost.Load(),
		Total: s.Total, Free: s.Free, Used: s.Used, Reserved: s.Reserved, Cached: s.Cached,
		Waiting: s.Waiting, Running: s.Running, Preempting: s.Preempting, Preemptions: s.Preemptions,
		Live:     e.sequences.live(),
		Exported: e.exports.held(),
	}
}

func (h handlers) showState(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, mustJSON(h.State()))
}

// health answers 200 and nothing, 503 when the engine has stopped or loads its model for the first time.
func (h handlers) health(w http.ResponseWriter, _ *http.Request) {
	if _, boots := h.sleeper.state(); boots {
		writeProblem(w, h.sleeper.refusal())
		return
	}
	if h.life.Err() != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (h handlers) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, mustJSON(map[string]string{"version": "octet-emulator"}))
}

// resetCache forgets the prefix cache as far as anyone can tell: like vLLM only while no block is in use.
func (h handlers) resetCache(w http.ResponseWriter, _ *http.Request) {
	if !h.resetPrefixCache() {
		writeProblem(w, &problem{Message: "The prefix cache is in use.", Type: "ConflictError",
			Code: http.StatusConflict})
		return
	}
	_, _ = fmt.Fprint(w)
}
