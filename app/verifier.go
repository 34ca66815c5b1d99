package app

import (
	"errors"
	"fmt"
	"log/slog"

	"octet/config"
	"octet/slo/verify"
)

// newVerifier returns what judges answers here; nil if that is not configured, or if this system cannot isolate its
// command, which is logged.
func newVerifier(cfg *config.Config, log *slog.Logger) (*verify.Verifier, error) {
	if cfg.Outcomes.Verifier.Sample == 0 {
		return nil, nil //nolint:nilnil // documented: no verifier is not an error
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
		return nil, fmt.Errorf("%w: outcomes.verifier: %w", ErrConfig, err)
	}
	return v, nil
}

// VerifierOff returns why this system cannot isolate the configured verifier's command; nil if it can, or if no
// verifier is configured.
func VerifierOff(cfg *config.Config) error {
	if cfg.Outcomes.Verifier.Sample == 0 {
		return nil
	}
	if _, err := openVerifier(cfg); errors.Is(err, verify.ErrIsolation) {
		return err
	}
	return nil
}
