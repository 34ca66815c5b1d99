package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"octet/config"
	"octet/internal/files"
	"octet/slo"
)

// verdictsVersion is of the file in which verdicts are remembered.
const verdictsVersion = 1

// verdictsBytes bounds that file: 256 specialists with full windows are a tenth of it.
const verdictsBytes = 64 << 20

// remembered is the content of that file.
type remembered struct {
	Version     int                   `json:"version"`
	Specialists map[string]savedBoard `json:"specialists"`
}

// savedBoard is the verdicts on one specialist.
type savedBoard struct {
	slo.Saved
	Weights *string `json:"weights,omitempty"` // the specialist's version; nil in a file that does not know it
}

// recall restores the verdicts that were given before. A file that does not exist is a first start.
func (h *history) recall(path string) {
	if path == "" {
		return
	}
	n, err := h.loadVerdicts(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		h.log.Warn("verdicts were not recalled", "file", path, "error", err)
	default:
		h.log.Info("verdicts recalled", "file", path, "specialists", n)
	}
}

func (h *history) loadVerdicts(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var saved remembered
	if err := json.NewDecoder(io.LimitReader(f, verdictsBytes)).Decode(&saved); err != nil {
		return 0, err
	}
	if saved.Version != verdictsVersion {
		return 0, fmt.Errorf("version %d is not %d", saved.Version, verdictsVersion)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, s := range saved.Specialists {
		b, ok := h.boards[name]
		if !ok {
			continue
		}
		now := time.Now()
		if err := b.board.Breaker().Restore(s.Saved, now); err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
		if s.Weights != nil && *s.Weights != b.version {
			h.drop(name, *s.Weights, b, now)
		}
		b.board.Breaker().Revise(now, h.revisions[name])
		n++
	}
	return n, nil
}

// remember writes the verdicts at every interval, until ctx ends, and then once more.
func (h *history) remember(ctx context.Context, c config.Outcomes) {
	if c.File == "" {
		return
	}
	files.SaveEvery(ctx, c.Interval, func() {
		if err := files.Replace(c.File, files.Private, h.writeVerdicts); err != nil {
			h.log.Warn("verdicts were not saved", "file", c.File, "error", err)
		}
	})
}

func (h *history) writeVerdicts(w io.Writer) error {
	saved := remembered{Version: verdictsVersion, Specialists: map[string]savedBoard{}}
	h.mu.Lock()
	for name, b := range h.boards {
		saved.Specialists[name] = savedBoard{b.board.Breaker().Save(time.Now()), &b.version}
	}
	h.mu.Unlock()
	return json.NewEncoder(w).Encode(saved)
}
