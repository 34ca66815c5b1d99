package model

import (
	"fmt"
	"os"
)

// BuiltinName is the path that names the artefact in the program.
const BuiltinName = "builtin"

// Open reads the artefact at path, or the builtin one.
func Open(path string) (*Model, error) {
	if path == BuiltinName {
		return Builtin()
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
	return New(a)
}
