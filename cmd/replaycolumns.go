package cmd

import (
	"fmt"
	"strings"

	"octet/internal/replay"
)

// columns returns figures of a distribution, each in a form; dashes where nothing was measured, as of a profile that
// refuses all requests, or of answers of one token.
func columns(of replay.Spread, form string, figures ...float64) string {
	if of == (replay.Spread{}) {
		return strings.Repeat("–\t", len(figures))
	}
	var b strings.Builder
	for _, f := range figures {
		fmt.Fprintf(&b, form, f)
	}
	return b.String()
}
