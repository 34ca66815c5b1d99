package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/app/collectors"
	"octet/classifier"
	"octet/classifier/model"
	"octet/config"
)

// What a model that gave no verdict in time did instead.
var (
	errSlow  = errors.New("the classifier took longer than router.classifier.timeout")
	errPanic = errors.New("the classifier panicked")
)

func newCascade(cfg *config.Config, outcomes *prometheus.CounterVec) (*classifier.Cascade, error) {
	c := classifier.Config{
		Adapters: map[string][]string{}, Intents: map[string]classifier.IntentConfig{}, Detectors: cfg.Router.Detectors,
		Fallback: cfg.Router.Fallback, RejectRefuses: cfg.Router.Reject == "refuse",
		Viable: cfg.Router.Classifier.Viable,
	}
	for _, sp := range cfg.Specialists {
		c.Specialists = append(c.Specialists, sp.Name)
		c.Adapters[sp.Name] = adapterNames(sp)
	}
	for name, in := range cfg.Intents {
		c.Intents[name] = classifier.IntentConfig{
			Specialist: in.Specialist, ShadowThreshold: in.ShadowThreshold, DivertThreshold: in.DivertThreshold,
			PriorityFloor: in.PriorityFloor,
		}
	}
	for _, r := range cfg.Router.Rules {
		c.Rules = append(c.Rules, classifier.Rule(r))
	}
	bound, err := boundModel(cfg)
	if err != nil {
		return nil, err
	}
	if bound != nil {
		c.Model = &timed{bound, cfg.Router.Classifier.Timeout, outcomes}
	}
	return classifier.New(c)
}

// boundModel returns the configured model for the configured specialists; nil, without an error, if the builtin one
// knows none of them: such an ensemble has no classifier.
func boundModel(cfg *config.Config) (*model.Bound, error) {
	m, err := model.Open(cfg.Router.Classifier.Model)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(cfg.Specialists))
	for i, sp := range cfg.Specialists {
		names[i] = sp.Name
	}
	bound, err := m.Bind(names, cfg.Router.Classifier.Labels)
	if errors.Is(err, model.ErrForeign) && cfg.Router.Classifier.Model == model.BuiltinName {
		return nil, nil //nolint:nilnil // documented: no classifier is not an error
	}
	return bound, err
}

// modelFaults returns what is wrong with the cascade of a configuration, as faults of its file.
func modelFaults(path string, cfg *config.Config) error {
	_, err := newCascade(cfg, collectors.NewClassified())
	if err == nil {
		return nil
	}
	fault := config.Fault{Path: "router.classifier.model", Code: config.CodeUnreadable, Message: err.Error()}
	switch {
	case errors.Is(err, classifier.ErrRule):
		fault.Path, fault.Code = "router.rules", config.CodeTooMany
	case errors.Is(err, model.ErrLabels):
		fault.Path, fault.Code = "router.classifier.labels", config.CodeUnknownName
	case errors.Is(err, model.ErrForeign):
		fault.Path, fault.Code = "router.classifier.labels", config.CodeMissing
	case errors.Is(err, model.ErrArtefact):
		fault.Code = config.CodeBadValue
	}
	return &config.Faults{File: path, List: []config.Fault{fault}}
}

// artefactFaults is modelFaults of the artefact alone.
func artefactFaults(path string, cfg *config.Config) error {
	_, err := model.Open(cfg.Router.Classifier.Model)
	if err == nil {
		return nil
	}
	fault := config.Fault{Path: "router.classifier.model", Code: config.CodeUnreadable, Message: err.Error()}
	if errors.Is(err, model.ErrArtefact) {
		fault.Code = config.CodeBadValue
	}
	return &config.Faults{File: path, List: []config.Fault{fault}}
}

// timed is a model whose verdicts are counted, and not used if they come late. A model's cost is bounded by what it
// reads, so a late verdict is noticed when it has come.
type timed struct {
	model    classifier.Model
	timeout  time.Duration
	outcomes *prometheus.CounterVec // outcome: answered | failed | timeout
}

// Classify implements classifier.Model.
func (j *timed) Classify(text []byte, out []float64) (reject float64, err error) {
	begun := time.Now()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
		outcome := "answered"
		switch took := time.Since(begun); {
		case err != nil:
			outcome = "failed"
		case took > j.timeout:
			outcome, err = "timeout", fmt.Errorf("%w: %v", errSlow, took)
		}
		j.outcomes.WithLabelValues(outcome).Inc()
	}()
	return j.model.Classify(text, out)
}
