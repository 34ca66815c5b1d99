//go:build race

package cmd

// raceEnabled: what one goroutine reckons for seconds takes minutes.
const raceEnabled = true
