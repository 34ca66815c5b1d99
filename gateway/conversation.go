package gateway

import (
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/zeebo/xxh3"

	"octet/classifier"
	"octet/gateway/wire"
)

// conversations remember which specialist answered each of them last. A conversation is known by its session, else by
// its longest beginning that is an earlier request: of a chat whole messages, of a completion any part of its text. A
// request leaves one entry; the longest unused goes first. Safe for concurrent use.
type conversations struct{ last *lru.Cache[uint64, seat] }

// seat is where a conversation was answered.
type seat struct {
	specialist string
	tokens     int // of its prompt then: what another specialist would compute again
	prefix         // of a completion: its text then
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
func (x *exchange) stay() {
	rules := &x.rt.Stickiness
	if rules.Conversations == 0 {
		return
	}
	declared := x.verdict.RoutedBy == classifier.ByModel || x.verdict.RoutedBy == classifier.ByIntent
	if declared && x.request.Intent.Session == "" {
		return // its text is not read
	}
	at, found := x.findConversation(declared)
	if declared || !found || !x.request.Tenant.Permits(at.specialist) {
		return
	}
	x.verdict, _ = x.rt.Cascade.Stay(x.verdict, at.specialist, rules.Cost(at.tokens))
}

// findConversation looks for the conversation that the request goes on with, and notes by what later ones will find it.
// A request whose specialist is declared is known by its session alone: its text is not read.
func (x *exchange) findConversation(declared bool) (seat, bool) {
	tenant := xxh3.HashString(x.request.Tenant.Name)
	if x.request.Intent.Session != "" {
		x.conversation = fold(fold(tenant, 1), xxh3.HashString(x.request.Intent.Session))
		return x.recall(x.conversation)
	}
	switch {
	case declared:
		return seat{}, false
	case x.request.Kind == wire.Completion:
		return x.findText(fold(tenant, 3))
	}
	return x.findMessages(fold(tenant, 2))
}

// findMessages looks for the longest beginning of a chat, in whole messages, that is an earlier request.
func (x *exchange) findMessages(key uint64) (seat, bool) {
	messages := x.request.Turns[:x.request.Parsed.Messages()] // what comes with them is sent anew each time
	if len(messages) == 0 {
		return seat{}, false
	}
	marks := make([]mark, 0, len(messages))
	for i, t := range messages {
		key = fold(fold(key, xxh3.HashString(t.Role)), xxh3.Hash(t.Text))
		marks = append(marks, mark{key, i + 1})
	}
	x.conversation = key
	for i := len(messages) - 2; i >= 0; i-- { // the whole of it again is another conversation's first request
		if at, ok := x.recall(marks[i].key); ok {
			return at, true
		}
	}
	return seat{}, false
}

// findText looks for the longest beginning of a completion's prompt that is an earlier one: a look a mark, and for each
// that is known a hash of what stands between two marks.
func (x *exchange) findText(key uint64) (seat, bool) {
	if x.request.Parsed.Prompts() != 1 {
		return seat{}, false
	}
	text, ok := x.request.Parsed.PromptText(0)
	if !ok {
		return seat{}, false
	}
	var room [64]mark
	marks := marksOf(key, text, room[:0])
	if len(marks) == 0 {
		return seat{}, false
	}
	last := marks[len(marks)-1]
	x.conversation, x.opening = last.key, prefixOf(text, last.at)
	for _, m := range slices.Backward(marks) {
		if at, ok := x.recallText(m, text); ok {
			return at, true
		}
	}
	return seat{}, false
}

// recallText returns the longest of the texts whose last mark is m that text goes on from.
func (x *exchange) recallText(m mark, text []byte) (longest seat, found bool) {
	for i := range uint64(abreast) {
		held, ok := x.recall(m.key + i)
		if !ok {
			break
		}
		if held.length >= longest.length && held.begins(text, m.at) {
			longest, found = held, true
		}
	}
	return longest, found
}

func (x *exchange) recall(key uint64) (seat, bool) {
	if x.request.Dry {
		return x.s.conversations.last.Peek(key)
	}
	return x.s.conversations.last.Get(key)
}

// rememberConversation notes who answered.
func (x *exchange) rememberConversation() {
	if x.conversation != 0 && x.failure == nil && !x.abort {
		x.s.conversations.note(x.conversation, seat{x.sp.Name, x.prompt.Tokens + x.relay.Delivered(), x.opening})
	}
}

// abreast is how many texts with the same last mark are remembered: such as different short questions behind one long
// preamble.
const abreast = 4

// note remembers at by a key. A text has one of the places behind its last mark's: its own, else a free one, else that
// of another.
func (c *conversations) note(key uint64, at seat) {
	if at.length == 0 {
		c.last.Add(key, at)
		return
	}
	for i := range uint64(abreast) {
		if held, ok := c.last.Peek(key + i); !ok || held.prefix == at.prefix {
			c.last.Add(key+i, at)
			return
		}
	}
	c.last.Add(key+at.tail%abreast, at)
}

// fold adds b to a hash, in this order.
func fold(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return (a ^ a>>32) | 1
}
