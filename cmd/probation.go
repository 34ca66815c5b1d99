package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"octet/config"
	"octet/gateway/ensemble"
	"octet/slo"
)

func probationOf(cfg *config.Config) ensemble.Probation {
	p := cfg.Router.Probation
	return ensemble.Probation{ShadowThreshold: p.ShadowThreshold, Share: p.Share}
}

// terms are the lanes of a configuration, as probation takes them.
func terms(cfg *config.Config) []slo.Term {
	var all []slo.Term
	for _, sp := range cfg.Specialists {
		need := sp.SLO.Correctness.MinSamples
		all = append(all, slo.Term{Entrant: slo.Entrant{Specialist: sp.Name}, Version: sp.Version, Need: need})
		for _, a := range sp.Adapters {
			all = append(all, slo.Term{Entrant: slo.Entrant{Specialist: sp.Name, Adapter: a.Name}, Version: a.Version,
				Need: need})
		}
	}
	return all
}

func adapterVersions(sp *config.Specialist) map[string]string {
	versions := make(map[string]string, len(sp.Adapters))
	for _, a := range sp.Adapters {
		versions[a.Name] = a.Version
	}
	return versions
}

// loadProbation reads what was remembered of lanes; nothing is remembered where there is no file yet.
func loadProbation(path string) (*slo.Probation, error) {
	if path == "" {
		return slo.NewProbation(), nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return slo.NewProbation(), nil
	}
	var remembered []slo.Trial
	if err == nil {
		err = json.Unmarshal(text, &remembered)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: router.probation.file: %w", errConfig, err)
	}
	return slo.NewProbation(remembered...), nil
}

// saveProbation replaces the file as a whole or not at all.
func saveProbation(path string, p *slo.Probation) error {
	text, err := json.MarshalIndent(p.Standings(), "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// rememberProbation writes the file of probation, where there is one.
func (h *house) rememberProbation() {
	if h.cfg == nil || h.cfg.Router.Probation.File == "" {
		return
	}
	if err := saveProbation(h.cfg.Router.Probation.File, h.probation); err != nil {
		h.log.Warn("probation was not remembered", "error", err)
	}
}
