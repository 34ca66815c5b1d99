package cmd

import (
	"bytes"
	"strings"
	"testing"

	"octet/gateway/receipt"
)

// A past decision tells that its request was held, and that a replica was woken for it, where that is so.
func TestAPastDecisionTellsWhatWasHeldAndWoken(t *testing.T) {
	for want, result := range map[string]receipt.Result{
		"routed in 7 µs\n":                                 {},
		"routed in 7 µs, held 1234.6 ms\n":                 {HeldMs: 1234.567},
		"routed in 7 µs, held 1234.6 ms, woke a replica\n": {HeldMs: 1234.567, Woke: true},
	} {
		result.RouteUs = 7
		var out bytes.Buffer
		if err := printReceipt(&out, &receipt.Receipt{Result: result}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
