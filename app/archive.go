package app

import (
	"errors"
	"fmt"
	"log/slog"

	"octet/config"
	"octet/gateway/receipt"
	"octet/gateway/receipt/ringfile"
)

// openArchive returns the archive of receipts.file; nil if none is configured.
func openArchive(cfg *config.Config, log *slog.Logger) (*receipt.Archive, error) {
	c := cfg.Receipts
	if c.File == "" {
		return nil, nil //nolint:nilnil // no archive is what the configuration asks for
	}
	f, err := ringfile.Open(c.File, int64(c.FileBytes))
	switch {
	case errors.Is(err, ringfile.ErrForeign), errors.Is(err, ringfile.ErrHeld):
		return nil, fmt.Errorf("%w: receipts.file: %w", ErrConfig, err)
	case err != nil:
		return nil, fmt.Errorf("receipts.file: %w", err)
	}
	log.Info("receipts are kept in a file", "file", c.File, "receipts", f.Len())
	return receipt.NewArchive(f, c.Queue, log), nil
}
