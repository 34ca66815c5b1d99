package doctor

import (
	"slices"

	"octet/app/fabric"
	"octet/engine"
	"octet/routing/events"
	"octet/routing/events/enginehash"
)

func priority(f *Facts) Verdict {
	switch {
	case !f.Replica.ForwardPriority:
		return pass("not forwarded")
	case f.Why != "" || f.First != nil:
		return unasked("no request was made")
	case f.Priority != nil && f.Err == nil:
		return fail(either(start(f.Kind.Flags.Priority, "", ""), f.key("forward_priority", false)),
			"a request with a priority was refused: %v", f.Priority)
	}
	return pass("taken")
}

// twice returns true if the same prompt was answered twice, and was long enough to be reused.
func (f *Facts) twice() bool {
	block, _ := f.engineBlock()
	return f.Why == "" && f.First == nil && f.Err == nil && f.Prompt > max(block, f.Specialist.BlockSize)
}

func cacheReport(f *Facts) Verdict {
	switch {
	case !f.twice():
		return unasked("no prompt was sent twice")
	case f.Cached != nil:
		return pass("told")
	case f.Kind.Flags.CacheReport == "":
		return unasked("servers of this kind do not tell")
	}
	return warn(start(f.Kind.Flags.CacheReport, "", ""), "usage does not say how much of a prompt came from the cache")
}

func prefixCache(f *Facts) Verdict {
	switch {
	case !f.twice() || f.Cached == nil:
		return unasked("it is not told what is reused")
	case f.Specialist.Hybrid.SSMStateBytes > 0:
		return pass("%d of %d tokens; hybrids share little", *f.Cached, f.Prompt)
	case *f.Cached == 0:
		return warn(start(f.Kind.Flags.PrefixCache, "", "turn its prefix cache on"),
			"none of %d tokens were reused of a prompt that was sent twice", f.Prompt)
	}
	return pass("%d of %d tokens were reused", *f.Cached, f.Prompt)
}

func hashes(f *Facts) Verdict {
	if f.Known != nil && f.Known.Misfit != "" {
		return fail(f.of("hash_seed", `"the engine's PYTHONHASHSEED"`)+"; compare block_size and hash_scheme too", "%s",
			f.Known.Misfit)
	}
	want := fabric.EngineHashes(f.Specialist, f.Replica)
	if want == (fabric.Hashes{}) {
		if slices.ContainsFunc(f.Stored, func(e events.Event) bool { return len(e.Tokens) == 0 }) {
			return fail(either(f.of("hash_scheme", "sha256"), "the engine's, with hash_seed"),
				"its events do not say which tokens a block holds, and its names for blocks are not known")
		}
		return pass("blocks are told by their tokens")
	}
	known := f.chains()
	if len(known) == 0 {
		return unasked("no block was heard of whose tokens are known")
	}
	if fits(want, known) {
		return pass("%s, as configured", want.Scheme)
	}
	key := f.hashKey()
	if is, ok := guess(want, known); ok {
		return fail(key("hash_scheme", is.Scheme)+", "+key("hash_seed", `"`+is.Seed+`"`),
			"%s is configured, and blocks are named by %s with the seed %q", want.Scheme, is.Scheme, is.Seed)
	}
	return fail(either(key("hash_seed", `"the engine's PYTHONHASHSEED"`),
		"start it with "+f.Kind.Flags.Seed+"="+want.Seed),
		"blocks have other names than %s gives them with the configured seed", want.Scheme)
}

// hashKey returns what writes a key of hashes where it is configured.
func (f *Facts) hashKey() func(name string, value any) string {
	if f.Replica.Events != nil && f.Replica.Events.HashScheme != "unknown" {
		return func(name string, value any) string { return f.key("events."+name, value) }
	}
	return f.of
}

// chain is a chain of blocks from its beginning: what they hold, and what the engine calls them.
type chain struct {
	ids           []uint32
	block         int
	adapter, salt string
	names         []uint64
	anywhere      bool // names are all that were heard: the first of the chain is to be among them
}

// chains returns what was heard of blocks whose tokens are known.
func (f *Facts) chains() (all []chain) {
	var heard []uint64
	block := 0
	for i := range f.Stored {
		e := &f.Stored[i]
		heard, block = append(heard, e.Hashes...), max(block, e.BlockSize)
		if e.Root && e.BlockSize > 0 && len(e.Tokens) >= e.BlockSize && len(e.Hashes) > 0 {
			all = append(all, chain{ids: e.Tokens, block: e.BlockSize, adapter: e.Adapter, salt: e.Salt,
				names: e.Hashes})
		}
	}
	if block == 0 {
		block, _ = f.engineBlock()
	}
	if len(all) == 0 && len(heard) > 0 && block > 0 && len(f.IDs) > block {
		all = append(all, chain{ids: f.IDs, block: block, names: heard, anywhere: true})
	}
	return all
}

// fits returns true if blocks are called what hashes make of them.
func fits(h fabric.Hashes, known []chain) bool {
	scheme, err := enginehash.New(h.Scheme, h.Seed)
	if err != nil {
		return false
	}
	for i := range known {
		c := &known[i]
		names, err := scheme.Chain(c.ids[:c.block], c.block, c.adapter, c.salt)
		if err != nil {
			continue
		}
		if c.anywhere && !slices.Contains(c.names, names[0]) || !c.anywhere && c.names[0] != names[0] {
			return false
		}
	}
	return true
}

// guess looks for hashes that fit: other schemes, and seeds that are often set.
func guess(want fabric.Hashes, known []chain) (fabric.Hashes, bool) {
	for _, scheme := range []string{want.Scheme, enginehash.SHA256, enginehash.SHA256CBOR, enginehash.XXHash,
		enginehash.XXHashCBOR, enginehash.SGLang} {
		for _, seed := range []string{want.Seed, "0", "42", "1", "1337"} {
			if h := (fabric.Hashes{Scheme: scheme, Seed: seed}); fits(h, known) {
				return h, true
			}
		}
	}
	return fabric.Hashes{}, false
}

func hits(f *Facts) Verdict {
	if f.Known == nil {
		return pass("told by a running gateway: octet doctor --admin URL")
	}
	n := f.Known.All + f.Known.Part + f.Known.Missing
	switch {
	case n < 20:
		return pass("%d answers with a predicted hit", n)
	case f.Known.All*2 < n:
		return warn("octet doctor --admin URL: the other findings on this replica first; then GET /admin/index",
			"of %d predicted hits %d were delivered whole, %d in part; it is scored %s", n, f.Known.All, f.Known.Part,
			f.Known.Trust)
	}
	return pass("of %d predicted hits %d were delivered whole; it is scored %s", n, f.Known.All, f.Known.Trust)
}

// publishes returns true if engines of the kind may publish what they cache.
func (f *Facts) publishes() bool { return f.Kind.Hashes != engine.HashesNothing }
