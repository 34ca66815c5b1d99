package cmd

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/classifier"
	"octet/classifier/model"
	"octet/config"
)

// builtinModel is the value of router.classifier.model, and of --model, that names the artefact in the program.
const builtinModel = "builtin"

// What a model that gave no verdict in time did instead.
var (
	errSlow  = errors.New("the classifier took longer than router.classifier.timeout")
	errPanic = errors.New("the classifier panicked")
)

// readModel reads the artefact at path, or the builtin one.
func readModel(path string) (*model.Model, error) {
	if path == builtinModel {
		return model.Builtin()
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrArtefact, err)
	}
	defer f.Close()
	a, err := model.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return model.New(a)
}

// boundModel returns the configured model for the configured specialists. It is nil, without an error, where the
// builtin one knows none of them: such an ensemble has no classifier.
func boundModel(cfg *config.Config) (*model.Bound, error) {
	m, err := readModel(cfg.Router.Classifier.Model)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(cfg.Specialists))
	for i, sp := range cfg.Specialists {
		names[i] = sp.Name
	}
	bound, err := m.Bind(names, cfg.Router.Classifier.Labels)
	if errors.Is(err, model.ErrForeign) && cfg.Router.Classifier.Model == builtinModel {
		return nil, nil //nolint:nilnil // documented: no classifier is not an error
	}
	return bound, err
}

// modelFaults are what is wrong with the cascade of a configuration, as faults of its file.
func modelFaults(path string, cfg *config.Config) error {
	_, err := newCascade(cfg, newOutcomes())
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

// timed is a model whose verdicts are counted, and worth nothing where they come late. A model's cost is bounded by
// what it reads, so a late verdict is noticed when it is there.
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

func newOutcomes() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octet_classifier_total",
		Help: "Texts that the trained classifier was asked about, by outcome; all but answered are the fallback's.",
	}, []string{"outcome"})
	for _, outcome := range []string{"answered", "failed", "timeout"} {
		v.WithLabelValues(outcome)
	}
	return v
}
