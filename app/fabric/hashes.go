package fabric

import (
	"octet/config"
	"octet/routing/events/enginehash"
)

// Hashes are a hash scheme and its seed. The zero Hashes are our own scheme, or an engine's that is not known.
type Hashes struct{ Scheme, Seed string }

// PromptHashes returns how a specialist's prompts are hashed.
func PromptHashes(sp *config.Specialist) Hashes {
	if sp.HashScheme == "octet" {
		return Hashes{}
	}
	return Hashes{sp.HashScheme, sp.HashSeed}
}

// EngineHashes returns how a replica's engine hashes.
func EngineHashes(sp *config.Specialist, rep *config.Replica) Hashes {
	if rep.Events == nil || rep.Events.HashScheme == "unknown" {
		return PromptHashes(sp)
	}
	return Hashes{rep.Events.HashScheme, rep.Events.HashSeed}
}

// schemes are the engines' hash schemes that are in use, one of a kind.
type schemes map[Hashes]*enginehash.Scheme

// of returns a scheme; nil for the zero Hashes.
func (s *schemes) of(h Hashes) *enginehash.Scheme {
	if h == (Hashes{}) {
		return nil
	}
	if (*s)[h] == nil {
		scheme, err := enginehash.New(h.Scheme, h.Seed)
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
