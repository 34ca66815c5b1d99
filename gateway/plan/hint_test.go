package plan

import (
	"math"
	"testing"

	"octet/gateway/ensemble"
)

// MOD2-43
func TestACacheHintNamesTheTiersThatHoldAnything(t *testing.T) {
	for want, c := range map[string]struct {
		blocks, tokens int
		held           ensemble.InTiers
	}{
		"blocks=12, gpu=10, cpu=2, tokens=192": {12, 192, ensemble.InTiers{10, 2, 0}},
		"blocks=3, ssd=3, tokens=48":           {3, 48, ensemble.InTiers{0, 0, 3}},
		"blocks=5, tokens=80":                  {5, 80, ensemble.InTiers{}}, // a guess
		"blocks=0, tokens=9223372036854775807": {0, math.MaxInt, ensemble.InTiers{}},
		"blocks=9223372036854775807, gpu=9223372036854775807, cpu=9223372036854775807, ssd=9223372036854775807, " +
			"tokens=9223372036854775807": {
			math.MaxInt, math.MaxInt, ensemble.InTiers{math.MaxInt, math.MaxInt, math.MaxInt}},
	} {
		if got := hintValue(c.blocks, c.tokens, c.held); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
