package app

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"octet/classifier"
	"octet/classifier/remote"
	"octet/config"
)

// outside is the classifier out of process of the configuration in force. Its connections and its breaker outlive
// generations that ask the same service. App.buildMu guards it.
type outside struct {
	service *remote.Service // nil if there is none
	cfg     remote.Config   // of service
}

// remoteConfig is where a configuration has texts classified; false if nowhere out of process.
func remoteConfig(cfg *config.Config) (remote.Config, bool) {
	h := &cfg.Router.Classifier.HTTP
	return remote.Config{URL: h.URL, APIKey: h.APIKey, Timeout: h.Timeout, Excerpt: int(h.Excerpt)}, h.URL != ""
}

// serviceOf returns the service that cfg names: the one in use, if it is the same, else a new one; nil, without an
// error, if cfg names none.
func (o *outside) serviceOf(cfg *config.Config) (*remote.Service, error) {
	c, there := remoteConfig(cfg)
	if !there {
		return nil, nil //nolint:nilnil // documented: no classifier out of process is not an error
	}
	if o.service != nil && o.cfg == c {
		return o.service, nil
	}
	return remote.NewService(c)
}

// commit puts a service in use. Requests of the generation before may still be asking the one that it replaces.
func (o *outside) commit(service *remote.Service, cfg *config.Config) {
	if o.service != nil && o.service != service {
		o.service.Close()
	}
	o.service = service
	o.cfg, _ = remoteConfig(cfg)
}

// asked is a classifier out of process whose answers are counted.
type asked struct {
	classifier.Outside
	outcomes *prometheus.CounterVec // outcome: answered | an Outage
}

// Ask implements classifier.Outside.
func (a asked) Ask(ctx context.Context, text []byte, out []float64) (reject float64, err error) {
	reject, err = a.Outside.Ask(ctx, text, out)
	outcome := "answered"
	if err != nil {
		why := classifier.OutageMalformed
		_ = errors.As(err, &why)
		outcome = string(why)
	}
	a.outcomes.WithLabelValues(outcome).Inc()
	return reject, err
}

// boundOutside returns service for the specialists of cfg; nil, without an error, without a service.
func boundOutside(cfg *config.Config, service *remote.Service, outcomes *prometheus.CounterVec) (classifier.Outside,
	error) {
	if service == nil {
		return nil, nil //nolint:nilnil // documented: no classifier out of process is not an error
	}
	bound, err := service.Bind(specialistNames(cfg), cfg.Router.Classifier.HTTP.Labels)
	if err != nil {
		return nil, err
	}
	return asked{bound, outcomes}, nil
}

func specialistNames(cfg *config.Config) []string {
	names := make([]string, len(cfg.Specialists))
	for i, sp := range cfg.Specialists {
		names[i] = sp.Name
	}
	return names
}
