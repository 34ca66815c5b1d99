package gateway

import (
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/zeebo/xxh3"

	"octet/classifier"
)

// Stickiness is what moving a conversation to another specialist costs, as a probability. With no Conversations nothing is
// remembered.
type Stickiness struct {
	Margin            float64
	PerThousandTokens float64
	Conversations     int
}

func (s Stickiness) cost(tokens int) float64 {
	return s.Margin + s.PerThousandTokens*float64(tokens)/1000
}

// conversations remember which specialist answered each of them last. A conversation is known by its session, else by its
// longest beginning that is an earlier request. The longest unused goes first. Safe for concurrent use.
type conversations struct{ last *lru.Cache[uint64, seat] }

// seat is where a conversation was answered.
type seat struct {
	specialist string
	tokens     int // of its prompt then: what another specialist would compute again
}

func newConversations(keep int) *conversations {
	cache, err := lru.New[uint64, seat](max(keep, 1))
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return &conversations{cache}
}

// resize changes how many are remembered.
func (c *conversations) resize(keep int) { c.last.Resize(max(keep, 1)) }

// stay keeps a conversation with its specialist, unless it is better off elsewhere. What was declared is not looked at.
func (x *exchange) stay(v classifier.Verdict) classifier.Verdict {
	rules := x.rt.Stickiness
	if rules.Conversations == 0 {
		return v
	}
	declared := v.RoutedBy == classifier.ByModel || v.RoutedBy == classifier.ByIntent
	at, found := x.findConversation(declared)
	if declared || !found || !x.tenant.Permits(at.specialist) {
		return v
	}
	v, _ = x.rt.Cascade.Stay(v, at.specialist, rules.cost(at.tokens))
	return v
}

// findConversation looks for the conversation that the request goes on with, and notes by what later ones will find it. A request
// whose specialist is declared is known by its session alone: its text is not read.
func (x *exchange) findConversation(declared bool) (seat, bool) {
	tenant := xxh3.HashString(x.tenant.Name)
	if x.intent.Session != "" {
		x.conversation = fold(fold(tenant, 1), xxh3.HashString(x.intent.Session))
		return x.recall(x.conversation)
	}
	if declared || len(x.turns) == 0 {
		return seat{}, false
	}
	keys := make([]uint64, len(x.turns))
	key := fold(tenant, 2)
	for i, t := range x.turns {
		key = fold(fold(key, xxh3.HashString(t.Role)), xxh3.Hash(t.Text))
		keys[i] = key
	}
	x.conversation = key
	for i := len(keys) - 2; i >= 0; i-- { // the whole of it again is another conversation's first request
		if at, ok := x.recall(keys[i]); ok {
			return at, true
		}
	}
	return seat{}, false
}

func (x *exchange) recall(key uint64) (seat, bool) {
	if x.dry {
		return x.s.conversations.last.Peek(key)
	}
	return x.s.conversations.last.Get(key)
}

// rememberConversation notes who answered.
func (x *exchange) rememberConversation() {
	if x.conversation != 0 && x.failure == nil && !x.abort {
		x.s.conversations.last.Add(x.conversation, seat{x.sp.Name, x.prompt.Tokens + x.handedOut})
	}
}

// fold adds b to a hash, in this order.
func fold(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return (a ^ a>>32) | 1
}
