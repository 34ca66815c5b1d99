package discovery

import (
	"context"
	"errors"

	"octet/config"
)

// Source finds the replicas of one specialist.
type Source interface {
	// Watch calls tell with each whole set of replicas that it finds, and with an error each time that it cannot find
	// out: the last set stays then. The first call comes as soon as it can. It returns when ctx ends.
	Watch(ctx context.Context, tell func(Set, error))
}

// Kind is a kind of source.
type Kind struct {
	Name string // as it is shown, and as key of discover
	// Open returns the source that a specialist's discover asks for; nil if it asks for none of the kind.
	Open func(sp *config.Specialist) Source
}

// Set is what a source has found, whole.
type Set struct {
	Replicas []config.Replica
	Refused  []Refusal // what was found beside them, and can be no replica
}

// Refusal is something that was found, and why it is no replica.
type Refusal struct {
	Replica string `json:"replica"` // its name or URL
	Path    string `json:"path,omitempty"`
	Code    string `json:"code"` // of a config.Fault
	Why     string `json:"why"`
}

// refusal is what is wrong with a replica.
func refusal(what string, err error) Refusal {
	var faults *config.Faults
	if !errors.As(err, &faults) {
		return Refusal{Replica: what, Code: config.CodeBadValue, Why: err.Error()}
	}
	first := faults.List[0]
	return Refusal{what, first.Path, first.Code, first.Message}
}

// SetOf returns the set of the replicas at endpoints, by the template of sp: config.MaxFound at most, the first ones.
func SetOf(sp *config.Specialist, source string, endpoints []config.Endpoint) (s Set) {
	for _, e := range endpoints {
		ranks, err := sp.Found(e, source)
		if err == nil && len(s.Replicas)+len(ranks) > config.MaxFound {
			err = config.TooManyFound()
		}
		if err != nil {
			s.Refused = append(s.Refused, refusal(e.URL, err))
			continue
		}
		s.Replicas = append(s.Replicas, ranks...)
	}
	return s
}
