package config

import (
	"strconv"

	"octet/engine"
)

// checkHashes notes hash schemes that no engine of a specialist could have, or that could meet nothing.
func checkHashes(s *Specialist, path string, r *report) {
	checkScheme(s.HashScheme, s.HashSeed, "octet", path, r)
	if s.HashScheme != "octet" && s.Tokenizer == "none" {
		r.addAt(path+".tokenizer", CodeConflict,
			"chunks of text have none of the hashes that engines give to tokens: hash_scheme %s needs a tokenizer",
			s.HashScheme)
	}
}

// checkReplicaHashes notes an engine that does not hash as its specialist's prompts are hashed.
func checkReplicaHashes(s *Specialist, rep *Replica, at string, r *report, kinds engine.Table) {
	kind, _ := kinds.Named(rep.Engine) // the zero Kind for auto
	if wrongEngine(s.HashScheme, kind.Hashes) {
		r.addAt(at+".engine", CodeConflict, "%s does not hash as hash_scheme %s of its specialist says", rep.Engine,
			s.HashScheme)
	}
	if rep.Events == nil {
		return
	}
	checkScheme(rep.Events.HashScheme, rep.Events.HashSeed, "unknown", at+".events", r)
	if rep.Events.Snapshot != "" && s.HashScheme != "sglang" {
		r.addAt(at+".events.snapshot", CodeConflict,
			"it tells names of blocks, which say what those hold only where the specialist's hash_scheme is sglang")
	}
	switch {
	case rep.Events.HashScheme == "unknown":
	case wrongEngine(rep.Events.HashScheme, kind.Hashes):
		r.addAt(at+".events.hash_scheme", CodeConflict, "%s does not hash so", rep.Engine)
	case s.HashScheme != "octet" && (rep.Events.HashScheme != s.HashScheme || rep.Events.HashSeed != s.HashSeed):
		r.addAt(at+".events.hash_scheme", CodeConflict,
			"prompts are hashed by another scheme or seed: hash_scheme and hash_seed of the specialist hold for "+
				"all its replicas")
	}
}

// checkScheme notes a scheme without its seed, and a seed that says nothing. none is the word for no scheme.
func checkScheme(scheme, seed, none, path string, r *report) {
	seeded := scheme != none && scheme != "sglang"
	switch {
	case seeded && seed == "":
		r.addAt(path+".hash_seed", CodeConflict,
			"without PYTHONHASHSEED a vLLM draws its hashes at random: %s needs it here and there", scheme)
	case !seeded && seed != "":
		r.addAt(path+".hash_seed", CodeConflict, "hash_scheme %s has no seed", scheme)
	case seeded && seed != "random" && !isHashSeed(seed):
		r.addAt(path+".hash_seed", CodeBadValue, "%q is no PYTHONHASHSEED: random, or a number up to 4294967295", seed)
	}
}

func isHashSeed(seed string) bool {
	_, err := strconv.ParseUint(seed, 10, 32)
	return err == nil
}

// wrongEngine returns true if engines that hash in a known way do not hash by scheme.
func wrongEngine(scheme string, hashes engine.Hashing) bool {
	switch {
	case scheme == "octet" || scheme == "unknown" || hashes == engine.HashesUnknown:
		return false
	case scheme == "sglang":
		return hashes != engine.HashesAsSGLang
	}
	return hashes != engine.HashesAsVLLM
}
