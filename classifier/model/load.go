package model

import (
	"fmt"
	"os"
)

// Load returns the artefact at path, or the builtin one. Errors wrap ErrArtefact.
func Load(path string) (*Artefact, error) {
	if path == BuiltinName {
		return Decode(builtin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArtefact, err)
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}
