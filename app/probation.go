package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"octet/config"
	"octet/gateway/ensemble"
	"octet/internal/files"
	"octet/slo"
)

func probationOf(cfg *config.Config) ensemble.Probation {
	p := cfg.Router.Probation
	return ensemble.Probation{ShadowThreshold: p.ShadowThreshold, Share: p.Share}
}

// terms returns the specialists and adapters of a configuration, as probation takes them: adapters with the version
// that requests are sent to, which may be another one than is declared as long as that is not loaded.
func (k *keepers) terms(cfg *config.Config) []slo.Term {
	var all []slo.Term
	for _, sp := range cfg.Specialists {
		c := sp.SLO.Correctness
		t := slo.Term{Entrant: slo.Entrant{Specialist: sp.Name}, Version: sp.Version, Need: c.MinSamples,
			Floor: c.Floor}
		all = append(all, t)
		for _, a := range sp.Adapters {
			in := k.inForce(sp.Name, a)
			t.Adapter, t.Version, t.Revision = a.Name, in.Version, in.Path
			all = append(all, t)
		}
	}
	return all
}

// inForce returns the edition of an adapter that requests are sent to, as it is declared.
func (k *keepers) inForce(specialist string, a config.Adapter) config.Adapter {
	if keeper := k.of(specialist); keeper != nil {
		if in, known := keeper.InForce(a.Name); known {
			return config.Adapter{Name: in.Name, Path: in.Path, Version: in.Version, Replicas: in.Replicas}
		}
	}
	return a
}

// versions has specialists tell the versions of their adapters that requests are sent to.
func (k *keepers) versions(specialists []*ensemble.Specialist) {
	for _, sp := range specialists {
		for name, declared := range sp.Versions {
			sp.Versions[name] = k.inForce(sp.Name, config.Adapter{Name: name, Version: declared}).Version
		}
	}
}

func adapterVersions(sp *config.Specialist) map[string]string {
	versions := make(map[string]string, len(sp.Adapters))
	for _, a := range sp.Adapters {
		versions[a.Name] = a.Version
	}
	return versions
}

// loadProbation reads what was remembered of specialists and adapters; nothing if there is no file yet.
func loadProbation(c config.Probation) (*slo.Probation, error) {
	if c.File == "" {
		return slo.NewProbation(c.Settled), nil
	}
	text, err := os.ReadFile(c.File)
	if errors.Is(err, os.ErrNotExist) {
		return slo.NewProbation(c.Settled), nil
	}
	var remembered []slo.Trial
	if err == nil {
		err = json.Unmarshal(text, &remembered)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: router.probation.file: %w", ErrConfig, err)
	}
	return slo.NewProbation(c.Settled, remembered...), nil
}

// writeProbation replaces the file as a whole or not at all.
func writeProbation(path string, p *slo.Probation) error {
	text, err := json.MarshalIndent(p.Standings(), "", "  ")
	if err != nil {
		return err
	}
	return files.Replace(path, files.Private, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// saveProbation writes the file of probation that cfg names, if any. A nil cfg names none.
func (h *history) saveProbation(cfg *config.Config) {
	if cfg == nil || cfg.Router.Probation.File == "" {
		return
	}
	if err := writeProbation(cfg.Router.Probation.File, h.probation); err != nil {
		h.log.Warn("probation was not remembered", "error", err)
	}
}
