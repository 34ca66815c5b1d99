//go:build !race

package kvpool

// structuredEach is how many blocks of each kind are compared.
const structuredEach = 1 << 20
