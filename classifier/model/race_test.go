//go:build race

package model

// raceEnabled: the race detector has pools drop what they hold.
const raceEnabled = true
