package model

import (
	_ "embed"
	"sync"
)

//go:embed builtin.octet
var builtin []byte

// Builtin is the model for C++ that the program carries, decoded on first use. See builtin.md for what it is.
var Builtin = sync.OnceValues(func() (*Model, error) {
	a, err := Decode(builtin)
	if err != nil {
		return nil, err
	}
	return New(a)
})
