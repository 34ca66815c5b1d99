package adapt

import (
	"errors"
	"fmt"
	"strings"

	"octet/app/pipeline"
	"octet/config"
	"octet/routing/plugins"
)

// Result is a configuration of ours.
type Result struct {
	YAML      []byte
	Notes     []Note   // in the order of the source
	Variables []string // that are to be set in the environment for it
}

// mostRounds is how many keys may be left out because they are out of bounds.
const mostRounds = 64

// settle makes the result of a draft: what `octet check` would refuse is left out, with a note.
func (d *draft) settle() (*Result, error) {
	for range mostRounds {
		text, err := d.yaml()
		if err != nil {
			return nil, err
		}
		fault, err := d.fault(text)
		if err != nil {
			return nil, err
		}
		if fault == nil {
			return &Result{YAML: text, Notes: d.notes.sorted(), Variables: d.variables}, nil
		}
		from := d.from[fault.Path]
		if from == nil || !d.remove(fault.Path) {
			return nil, fmt.Errorf("%w: %s: %s", ErrNothing, fault.Path, fault.Message)
		}
		delete(d.from, fault.Path)
		said, _, _ := strings.Cut(fault.Message, " (line ")
		d.notes.add(from.line, from.path, fmt.Sprintf("left out: %s: %s", fault.Path, said))
	}
	return nil, fmt.Errorf("%w: more than %d keys are out of bounds", ErrNothing, mostRounds)
}

// fault returns the first fault that a configuration has; nil if it has none.
func (d *draft) fault(text []byte) (*config.Fault, error) {
	environ := make([]string, len(d.variables))
	for i, name := range d.variables {
		environ[i] = name + "=set-when-it-is-served"
	}
	cfg, err := config.Parse("", text, config.Options{Environ: environ, Presets: plugins.Presets()})
	if err == nil {
		err = pipeline.Faults("", cfg)
	}
	var faults *config.Faults
	switch {
	case err == nil:
		return nil, nil //nolint:nilnil // no fault, no error
	case errors.As(err, &faults) && len(faults.List) > 0:
		return &faults.List[0], nil
	}
	return nil, fmt.Errorf("checking the result: %w", err)
}
