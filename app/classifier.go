package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/app/collectors"
	"octet/classifier"
	"octet/classifier/model"
	"octet/classifier/remote"
	"octet/config"
)

// What a model that gave no verdict in time did instead.
var (
	errSlow  = errors.New("the classifier took longer than router.classifier.timeout")
	errPanic = errors.New("the classifier panicked")
)

// newCascade returns the cascade of a configuration. service is what it asks out of process; nil for nothing.
func newCascade(cfg *config.Config, service *remote.Service, m series) (*classifier.Cascade, error) {
	c := classifier.Config{
		Adapters: map[string][]string{}, Intents: map[string]classifier.IntentConfig{}, Detectors: cfg.Router.Detectors,
		Fallback: cfg.Router.Fallback, RejectRefuses: cfg.Router.Reject == "refuse",
		Viable: cfg.Router.Classifier.Viable, Asides: cfg.Router.Asides,
	}
	c.Specialists = specialistNames(cfg)
	for _, sp := range cfg.Specialists {
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
		c.Model = &timed{bound, cfg.Router.Classifier.Timeout, m.classified}
		c.DryModel = &timed{bound, cfg.Router.Classifier.Timeout, nil}
	}
	if c.Outside, err = boundOutside(cfg, service, m.outside); err != nil {
		return nil, err
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
	bound, err := m.Bind(specialistNames(cfg), cfg.Router.Classifier.Labels)
	if errors.Is(err, model.ErrForeign) && cfg.Router.Classifier.Model == model.BuiltinName {
		return nil, nil //nolint:nilnil // documented: no classifier is not an error
	}
	return bound, err
}

// modelFaults returns what is wrong with the cascade of a configuration, as faults of its file.
func modelFaults(path string, cfg *config.Config) error {
	service, err := new(outside).serviceOf(cfg)
	if err == nil {
		_, err = newCascade(cfg, service, series{classified: collectors.NewClassified(),
			outside: collectors.NewClassifiedOutside()})
	}
	if err == nil {
		return nil
	}
	fault := config.Fault{Path: "router.classifier.model", Code: config.CodeUnreadable, Message: err.Error()}
	switch {
	case errors.Is(err, classifier.ErrRule):
		fault.Path, fault.Code = "router.rules", config.CodeTooMany
	case errors.Is(err, remote.ErrLabels):
		fault.Path, fault.Code = "router.classifier.http.labels", config.CodeUnknownName
	case errors.Is(err, remote.ErrConfig):
		fault.Path, fault.Code = "router.classifier.http", config.CodeBadValue
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
	outcomes *prometheus.CounterVec // outcome: answered | failed | timeout; nil if they are not counted
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
		if j.outcomes != nil {
			j.outcomes.WithLabelValues(outcome).Inc()
		}
	}()
	return j.model.Classify(text, out)
}
