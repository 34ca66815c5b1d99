package sim

import (
	"octet/kvpool"
	"octet/scheduler/core"
)

// life is what the simulation knows of one accepted request.
type life struct {
	Arrival
	tokens  []uint32 // prompt, then generated
	content []uint64 // of each position: a hash of the chain's root and all tokens up to it

	computed int              // positions in the cache, as its last batch left them
	batch    uint64           // its last one; 0 before
	gaveWay  uint64           // preemptions in all when it was in that batch
	preempts uint64           // preemptions in all when it arrived
	table    []kvpool.BlockID // Seen: of its last batch
	yielded  int              // times that it was seen to have given way: all of them where that can be seen
}

func (l *life) generated() int { return len(l.tokens) - len(l.Tokens) }

func (l *life) push(token uint32) {
	h := uint64(l.Adapter) + 1
	if n := len(l.content); n > 0 {
		h = l.content[n-1]
	}
	l.tokens = append(l.tokens, token)
	l.content = append(l.content, mix(h, uint64(token)))
}

func newLife(a *Arrival) *life {
	l := &life{Arrival: *a, tokens: make([]uint32, 0, len(a.Tokens)+a.MaxNew),
		content: make([]uint64, 0, len(a.Tokens)+a.MaxNew)}
	for _, token := range a.Tokens {
		l.push(token)
	}
	return l
}

// token returns the n-th token that the model generates for l: it depends on nothing else.
func (l *life) token(n int) uint32 { return uint32(mix(l.ID, uint64(n))) &^ (1 << 31) }

// accepts returns how many draft tokens the model accepts at present, of those that were proposed.
func (l *life) accepts(draft int) int {
	return min(int(mix(l.ID+1, uint64(l.generated()))%uint64(draft+1)), l.Answer-l.generated()-1)
}

// window returns the draft tokens that l can still use.
func (l *life) window() int { return max(0, min(l.Draft, l.MaxNew-l.generated()-1)) }

// root is the chain root of an adapter.
func root(adapter int) kvpool.BlockHash { return kvpool.BlockHash(adapter + 1) }

func (l *life) request(names []string) core.Request {
	return core.Request{
		ID: l.ID, Tokens: l.Tokens, Root: root(l.Adapter), Adapter: names[l.Adapter],
		Tenant:   tenants[l.Tenant%len(tenants)],
		Priority: l.Priority, Arrival: l.At, Deadline: l.Deadline, MaxNew: l.MaxNew, Draft: l.Draft, Hybrid: l.Hybrid,
	}
}

var tenants = [...]string{"acme", "birch", "cobalt", "dune", "ember", "fjord", "grove", "harbour"}
