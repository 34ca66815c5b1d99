package cmd

import (
	"octet/config"
	"octet/routing/events/enginehash"
)

// hashes are a hash scheme and its seed; zero is our own, or nobody knows which.
type hashes struct{ scheme, seed string }

// promptHashes says how a specialist's prompts are hashed.
func promptHashes(sp *config.Specialist) hashes {
	if sp.HashScheme == "octet" {
		return hashes{}
	}
	return hashes{sp.HashScheme, sp.HashSeed}
}

// engineHashes says how a replica hashes.
func engineHashes(sp *config.Specialist, rep *config.Replica) hashes {
	if rep.Events == nil || rep.Events.HashScheme == "unknown" {
		return promptHashes(sp)
	}
	return hashes{rep.Events.HashScheme, rep.Events.HashSeed}
}

// schemes are the engines' hash schemes that are in use, one of a kind, so that replicas keep theirs over a reload.
// Owned by house.mu.
type schemes map[hashes]*enginehash.Scheme

// of returns a scheme; nil for none.
func (s *schemes) of(h hashes) *enginehash.Scheme {
	if h == (hashes{}) {
		return nil
	}
	if (*s)[h] == nil {
		scheme, err := enginehash.New(h.scheme, h.seed)
		if err != nil {
			return nil // the configuration was checked: it is one of them
		}
		if *s == nil {
			*s = schemes{}
		}
		(*s)[h] = scheme
	}
	return (*s)[h]
}
