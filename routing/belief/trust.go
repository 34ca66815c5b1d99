package belief

import "octet/routing/index"

// What a replica is scored by.
const (
	Exact       = "exact"       // its cache events
	Approximate = "approximate" // what was routed there, and what its cache events tell if some are missing
	Load        = "load"        // its load alone
)

// Trust returns what a replica is scored by.
func (b *Beliefs) Trust(id index.HostID) string {
	switch {
	case b.Partly(id) && !b.Guessed().Has(id):
		return Approximate
	case b.Heard(id) && !b.Guessed().Has(id):
		return Exact
	case b.Guesses.Held(id) > 0:
		return Approximate
	}
	return Load
}
