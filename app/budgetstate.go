package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"octet/gateway/tenant/budget"
	"octet/internal/files"
)

// toldEvery is how often all gateways are told what tenants without a budget have used.
const toldEvery = 10 * time.Second

// budgetState keeps what tenants have used in a file.
type budgetState struct {
	path    string
	ledger  *budget.Ledger
	log     *slog.Logger
	failing bool // the last write failed; owned by run
}

// openState reads the file at path into ledger, and returns what keeps it; nil for an empty path. What cannot be read
// is put aside, and counted from zero. A file that cannot be written is a fault of the configuration.
func openState(path string, ledger *budget.Ledger, log *slog.Logger) (*budgetState, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no file is what the configuration asks for
	}
	s := &budgetState{path: path, ledger: ledger, log: log}
	if err := s.read(); err != nil {
		aside := path + ".bad"
		log.Error("auth.state cannot be read: what tenants have used is counted from zero", "file", path,
			"kept_as", aside, "error", err, "renamed", os.Rename(path, aside) == nil)
	}
	if err := s.write(); err != nil {
		return nil, fmt.Errorf("%w: auth.state: %w", ErrConfig, err)
	}
	return s, nil
}

func (s *budgetState) read() error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return s.ledger.Load(f)
}

func (s *budgetState) write() error { return files.Replace(s.path, files.Private, s.ledger.Save) }

// run writes the file at every interval in which something was used, until ctx ends, and then once more.
func (s *budgetState) run(ctx context.Context, interval time.Duration) {
	files.SaveEvery(ctx, interval, func() {
		if !s.ledger.Changed() {
			return
		}
		err := s.write()
		if err != nil {
			s.ledger.Keep()
		}
		if err != nil && !s.failing {
			s.log.Error("auth.state cannot be written", "file", s.path, "error", err)
		}
		s.failing = err != nil
	})
}
