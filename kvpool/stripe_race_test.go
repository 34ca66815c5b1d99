//go:build race

package kvpool

// structuredEach is how many blocks of each kind are compared: there is nothing here that could race, and the detector
// makes each dear.
const structuredEach = 1 << 15
