package adapters

import (
	"errors"
	"fmt"
)

// ErrInvalid is the sentinel of every fault in what NewRegistry is given.
var ErrInvalid = errors.New("adapters: invalid declaration")

// Adapter is one declared LoRA adapter of a specialist.
type Adapter struct {
	Specialist string
	Name       string // unique within the specialist; what clients and the engine call it
	Path       string // where the engine loads it from; "" when the engine has it already
}

// Registry is the set of declared adapters. The zero Registry declares none. Immutable: safe for concurrent use.
type Registry struct {
	named map[adapterKey]Adapter
	order map[string][]string // specialist → names as declared
}

type adapterKey struct{ specialist, name string }

// NewRegistry returns the registry of what is declared, or every fault at once, each an ErrInvalid.
func NewRegistry(declared ...Adapter) (*Registry, error) {
	r := &Registry{named: make(map[adapterKey]Adapter, len(declared)), order: make(map[string][]string)}
	var faults []error
	for i, a := range declared {
		if err := r.declare(a); err != nil {
			faults = append(faults, fmt.Errorf("%w: #%d: %w", ErrInvalid, i, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Registry) declare(a Adapter) error {
	key := adapterKey{a.Specialist, a.Name}
	if a.Specialist == "" || a.Name == "" {
		return fmt.Errorf("specialist %q, name %q: neither may be empty", a.Specialist, a.Name)
	}
	if _, twice := r.named[key]; twice {
		return fmt.Errorf("%s:%s is declared twice", a.Specialist, a.Name)
	}
	r.named[key] = a
	r.order[a.Specialist] = append(r.order[a.Specialist], a.Name)
	return nil
}

// Known reports whether adapter is declared for specialist.
func (r *Registry) Known(specialist, adapter string) bool {
	_, ok := r.Adapter(specialist, adapter)
	return ok
}

// Adapter returns the declaration of an adapter of specialist, and whether there is one.
func (r *Registry) Adapter(specialist, name string) (Adapter, bool) {
	a, ok := r.named[adapterKey{specialist, name}]
	return a, ok
}

// Names returns the adapters of specialist in the order of declaration. The caller must not change it.
func (r *Registry) Names(specialist string) []string { return r.order[specialist] }
