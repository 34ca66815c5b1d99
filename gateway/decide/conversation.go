package decide

import (
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/zeebo/xxh3"

	"octet/classifier"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/wire"
)

// Conversations remember which specialist answered each of them last. A conversation is known by its session, else by
// its longest beginning that is an earlier request: of a chat whole messages, of a completion any part of its text. A
// request leaves one entry; the longest unused goes first. Safe for concurrent use.
type Conversations struct {
	last *lru.Cache[uint64, seat]
	told func(conversation uint64, specialist string, tokens int) // nil where this is the only gateway
}

// seat is where a conversation was answered.
type seat struct {
	specialist string
	tokens     int // of its prompt then: what another specialist would compute again
	prefix         // of a completion: its text then
}

// NewConversations remembers at most keep conversations.
func NewConversations(keep int) *Conversations {
	cache, err := lru.New[uint64, seat](max(keep, 1))
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return &Conversations{last: cache}
}

// Resize changes how many are remembered.
func (c *Conversations) Resize(keep int) { c.last.Resize(max(keep, 1)) }

// stay keeps a conversation with its specialist, unless it is better off elsewhere. What was declared stays, and its
// text is not read, unless its specialist is shared: it is on probation.
func (c *Conversations) stay(rt *ensemble.Runtime, r *intake.Request, d *Decision, shared bool) {
	rules := &rt.Stickiness
	if rules.Conversations == 0 {
		return
	}
	declared := d.RoutedBy == classifier.ByModel || d.RoutedBy == classifier.ByIntent
	if declared && r.Intent.Session == "" {
		if !shared {
			return
		}
		if len(r.Turns) == 0 {
			r.Turns = r.Parsed.Turns(r.Turns)
		}
	}
	at, found := c.find(r, d, declared && r.Intent.Session != "")
	d.before = at.specialist
	if declared || !found || !r.Tenant.Permits(at.specialist) {
		return
	}
	if r.AnswersTool() {
		d.Verdict, _ = rt.Cascade.StayInLoop(d.Verdict, at.specialist)
		d.inLoop = d.Specialist == at.specialist
		return
	}
	if !takes(rt, r, at.specialist) {
		return
	}
	d.Verdict, _ = rt.Cascade.Stay(d.Verdict, at.specialist, rules.Cost(at.tokens))
}

// find looks for the conversation that the request goes on with, and notes by what later ones will find it.
// A request whose specialist is declared is known by its session alone: its text is not read. Of a session that calls
// tools, each loop is known by its messages: agents have several at once in one session.
func (c *Conversations) find(r *intake.Request, d *Decision, declared bool) (seat, bool) {
	tenant := xxh3.HashString(r.Tenant.Name)
	if r.Intent.Session != "" {
		d.conversation = fold(fold(tenant, 1), xxh3.HashString(r.Intent.Session))
		if r.Kind == wire.Chat && !declared && (r.Parsed.Tools || r.AnswersTool()) {
			at, found := c.findMessages(r, &d.loop, fold(d.conversation, 4))
			if found && r.AnswersTool() {
				return at, true
			}
		}
		return c.recall(r, d.conversation)
	}
	if r.Kind == wire.Completion {
		return c.findText(r, d, fold(tenant, 3))
	}
	return c.findMessages(r, &d.conversation, fold(tenant, 2))
}

// findMessages looks for the longest beginning of a chat, in whole messages, that is an earlier request, and sets whole
// to what later ones will find this one by.
func (c *Conversations) findMessages(r *intake.Request, whole *uint64, key uint64) (seat, bool) {
	messages := r.Turns[:r.Parsed.Messages()] // what comes with them is sent anew each time
	if len(messages) == 0 {
		return seat{}, false
	}
	marks := make([]mark, 0, len(messages))
	for i, t := range messages {
		key = fold(fold(key, xxh3.HashString(t.Role)), xxh3.Hash(t.Text))
		marks = append(marks, mark{key, i + 1})
	}
	*whole = key
	for i := len(messages) - 2; i >= 0; i-- { // the whole of it again is another conversation's first request
		if at, ok := c.recall(r, marks[i].key); ok {
			return at, true
		}
	}
	return seat{}, false
}

// findText looks for the longest beginning of a completion's prompt that is an earlier one: a look a mark, and for each
// that is known a hash of what stands between two marks.
func (c *Conversations) findText(r *intake.Request, d *Decision, key uint64) (seat, bool) {
	if r.Parsed.Prompts() != 1 {
		return seat{}, false
	}
	text, ok := r.Parsed.OwnPrompt(0)
	if !ok {
		return seat{}, false
	}
	var room [64]mark
	marks := marksOf(key, text, room[:0])
	if len(marks) == 0 {
		return seat{}, false
	}
	last := marks[len(marks)-1]
	d.conversation, d.opening = last.key, prefixOf(text, last.at)
	for _, m := range slices.Backward(marks) {
		if at, ok := c.recallText(r, m, text); ok {
			return at, true
		}
	}
	return seat{}, false
}

// recallText returns the longest of the texts whose last mark is m that text goes on from.
func (c *Conversations) recallText(r *intake.Request, m mark, text []byte) (longest seat, found bool) {
	for i := range uint64(abreast) {
		held, ok := c.recall(r, m.key+i)
		if !ok {
			break
		}
		if held.length >= longest.length && held.begins(text, m.at) {
			longest, found = held, true
		}
	}
	return longest, found
}

func (c *Conversations) recall(r *intake.Request, key uint64) (seat, bool) {
	if r.Dry {
		return c.last.Peek(key)
	}
	return c.last.Get(key)
}

// Remember notes that specialist answered the request of d, of so many tokens by now.
func (c *Conversations) Remember(d *Decision, specialist string, tokens int) {
	if d.conversation != 0 {
		c.note(d.conversation, seat{specialist, tokens, d.opening})
	}
	if d.loop != 0 {
		c.note(d.loop, seat{specialist: specialist, tokens: tokens})
	}
}

// abreast is how many texts with the same last mark are remembered: such as different short questions behind one long
// preamble.
const abreast = 4

// note remembers at by a key. A text has one of the places behind its last mark's: its own, else a free one, else that
// of another.
func (c *Conversations) note(key uint64, at seat) {
	if at.length == 0 {
		c.last.Add(key, at)
		if c.told != nil {
			c.told(key, at.specialist, at.tokens)
		}
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
