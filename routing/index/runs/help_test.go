package runs

import (
	"octet/routing/index"
	"octet/routing/index/indextest"
	"octet/routing/index/reference"
)

type subject = indextest.Subject

// kinds are the index of this package and the one that it is compared with.
var kinds = []struct {
	name  string
	build indextest.Make
}{
	{"runs", func(c index.Config) (subject, error) { return New(c) }},
	{"reference", func(c index.Config) (subject, error) { return reference.New(c) }},
}

// patiently returns n, or fewer under the race detector, which makes everything slow.
func patiently(n int) int {
	if lockedReads {
		return n / 10
	}
	return n
}
