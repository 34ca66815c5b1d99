package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"octet/config"
	"octet/slo"
	"octet/slo/verify"
)

// outcomesVersion is of the file in which verdicts are remembered.
const outcomesVersion = 1

// outcomesBytes bounds that file: 256 specialists with full windows are a tenth of it.
const outcomesBytes = 64 << 20

// remembered is that file.
type remembered struct {
	Version     int                  `json:"version"`
	Specialists map[string]slo.Saved `json:"specialists"`
}

// newVerifier returns the gateway's own judge; nil if none is configured, or if this system cannot shut its command
// off, which is said once.
func newVerifier(cfg *config.Config, log *slog.Logger) (*verify.Verifier, error) {
	if cfg.Outcomes.Verifier.Sample == 0 {
		return nil, nil //nolint:nilnil // no judge is no fault, and nobody asks one that is not there
	}
	v, err := openVerifier(cfg)
	if errors.Is(err, verify.ErrIsolation) {
		log.Warn("outcomes.verifier is off: no answer is judged here", "error", err)
		return nil, nil //nolint:nilnil // likewise
	}
	return v, err
}

func openVerifier(cfg *config.Config) (*verify.Verifier, error) {
	c := cfg.Outcomes.Verifier
	v, err := verify.New(verify.Config{
		Sample: c.Sample, Command: c.Command, Languages: c.Languages, File: c.File, Timeout: c.Timeout,
		Memory: int64(c.Memory), Output: int64(c.Output),
		Reads: c.Reads, Scratch: int64(c.Scratch), Processes: c.Processes, Workers: c.Workers, Waiting: c.Waiting,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: outcomes.verifier: %w", errConfig, err)
	}
	return v, nil
}

// recall takes over the verdicts that were given before. A file that is not there is a first start.
func (h *house) recall(path string) {
	if path == "" {
		return
	}
	n, err := h.loadOutcomes(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		h.log.Warn("verdicts were not recalled", "file", path, "error", err)
	default:
		h.log.Info("verdicts recalled", "file", path, "specialists", n)
	}
}

func (h *house) loadOutcomes(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var saved remembered
	if err := json.NewDecoder(io.LimitReader(f, outcomesBytes)).Decode(&saved); err != nil {
		return 0, err
	}
	if saved.Version != outcomesVersion {
		return 0, fmt.Errorf("version %d is not %d", saved.Version, outcomesVersion)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, s := range saved.Specialists {
		b, ok := h.boards[name]
		if !ok {
			continue
		}
		if err := b.board.Breaker().Restore(s, time.Now()); err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
		n++
	}
	return n, nil
}

// remember writes the verdicts at every interval, until ctx ends, and then once more.
func (h *house) remember(ctx context.Context, c config.Outcomes) {
	if c.File == "" {
		return
	}
	atIntervals(ctx, c.Interval, func() {
		if err := replaceFile(c.File, privateMode, h.writeOutcomes); err != nil {
			h.log.Warn("verdicts were not saved", "file", c.File, "error", err)
		}
	})
}

func (h *house) writeOutcomes(w io.Writer) error {
	saved := remembered{Version: outcomesVersion, Specialists: map[string]slo.Saved{}}
	h.mu.Lock()
	for name, b := range h.boards {
		saved.Specialists[name] = b.board.Breaker().Save(time.Now())
	}
	h.mu.Unlock()
	return json.NewEncoder(w).Encode(saved)
}
