package emulator

import (
	"strconv"
	"strings"
)

// hintField is the header in which a gateway says what it believes this engine to hold of a prompt.
const hintField = "X-Octet-Cache-Hint"

// cacheHint is what that header says, by name: blocks, tokens, and the blocks in each tier.
type cacheHint map[string]int

// hintNames are what a hint may speak of.
var hintNames = []string{"blocks", "gpu", "cpu", "ssd", "tokens"}

// readHint reads "blocks=12, gpu=10, cpu=2, tokens=192". A hint is no order: what is not understood is left out.
func readHint(value string) cacheHint {
	if value == "" {
		return nil
	}
	h := cacheHint{}
	for part := range strings.SplitSeq(value, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.ParseUint(number, 10, 31)
		for _, known := range hintNames {
			if err == nil && name == known {
				h[known] = int(n)
			}
		}
	}
	return h
}

// hint counts what one request said of the cache.
func (m *metrics) hint(h cacheHint) {
	if len(h) == 0 {
		return
	}
	m.hinted.WithLabelValues("requests").Inc()
	for _, name := range hintNames {
		m.hinted.WithLabelValues(name).Add(float64(h[name]))
	}
}
