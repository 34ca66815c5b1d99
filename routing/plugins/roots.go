package plugins

import (
	"sync/atomic"

	"octet/kvpool"
	"octet/routing"
)

// roots says what a prompt's chain hangs on. It remembers the last specialist's without adapter and salt, which is what
// nearly all prompts of a profile have. Safe for concurrent use.
type roots struct {
	hasher kvpool.Hasher
	plain  atomic.Pointer[plainRoot]
}

type plainRoot struct {
	specialist string
	hash       kvpool.BlockHash
}

func (r *roots) of(f *routing.Facts) kvpool.BlockHash {
	if f.Adapter != "" || f.Salt != "" {
		return r.hasher.Root(f.Specialist, f.Adapter, f.Salt)
	}
	if p := r.plain.Load(); p != nil && p.specialist == f.Specialist {
		return p.hash
	}
	p := &plainRoot{f.Specialist, r.hasher.Root(f.Specialist, "", "")}
	r.plain.Store(p)
	return p.hash
}
