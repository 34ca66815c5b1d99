package stream

import (
	"errors"
	"slices"

	"octet/gateway/sse"
)

// reasoning is what a stream keeps of the reasoning ahead of its text. An engine that continues it gets it as a member
// of the last message. Whether the model sees it there is the template's matter: one may drop it, or put the mark of
// its end behind it. What the engine counts as its prompt shows that, before the client has anything of its answer.
type reasoning struct {
	thought  []byte // so far, as the inside of a JSON string
	thoughts int    // pieces of it
	handed   int    // of them, those of engines before the present one
	shown    bool   // the present engine shows it to the model
	read     bool   // the present engine's prompt was looked at
	proved   bool   // and its model sees the reasoning
}

// ErrStrayed says that an engine did not continue from the reasoning that the client has.
var ErrStrayed = errors.New("its prompt is not the one so far with the reasoning of the answer behind it")

// mostRetokenized is how many tokens fewer reasoning and text may be, at most, when they are tokenized anew.
const mostRetokenized = 8

// think adds reasoning. alone says that text of the same event does not follow.
func (c *Continuation) think(raw []byte, alone bool) {
	switch {
	case c.pieces < 0:
	case !c.shown, len(c.text) > 0, len(c.thought)+len(raw) > c.most:
		c.drop()
	default:
		c.thought = append(c.thought, raw...)
		c.thoughts++
		if alone {
			c.pieces++
		}
	}
}

// members returns the reasoning as members of a message, under both names that engines know it by.
func (k *reasoning) members() []byte {
	if len(k.thought) == 0 {
		return nil
	}
	return slices.Concat([]byte(`,"reasoning_content":"`), k.thought, []byte(`","reasoning":"`), k.thought, []byte{'"'})
}

// ContinuedBy reports whether an engine could continue what there is of the answer. reasons says that it is taken to
// show reasoning to its model, and shown that it was seen to. Where tokens were not told nothing shows it again.
func (c *Continuation) ContinuedBy(reasons, shown bool) bool {
	return c.Usable() && (len(c.thought) == 0 || reasons && (shown || c.told()))
}

// told returns true if the tokens so far were told by the engines that they came from. Of one that spoke the door's own
// words there are only events, which are fewer: marks of the template bring none, and one may bring several.
func (c *Continuation) told() bool { return c.spent == 0 }

// astray reports whether an engine that was to continue from reasoning had another prompt than the first engine's with
// the answer so far behind it. Where a count is missing nothing shows that it had not. Where the tokens so far were not
// told it was seen before.
func (c *Continuation) astray(u sse.Usage, told bool) bool {
	if c.handed == 0 || c.base == 0 || !c.told() {
		return false
	}
	fewer := c.prompt + c.base - u.PromptTokens
	return !told || c.prompt == 0 || fewer < 0 || fewer > min(c.handed/2, mostRetokenized)
}

// strays looks once, with the first output of a later engine, at whether it continues from the reasoning so far. If it
// does not, the answer is not continued any more.
func (p *progress) strays() bool {
	c := p.Cont
	if !c.Later() || c.read || !p.scanner.FirstToken() {
		return false
	}
	c.read = true
	if !c.astray(p.scanner.Usage()) {
		c.proved = c.handed > 0 && c.base > 0 && c.told()
		return false
	}
	c.drop()
	return true
}

// ReasoningShown returns true if the present engine was seen to continue from reasoning.
func (p *progress) ReasoningShown() bool { return p.Cont != nil && p.Cont.proved }

// venturesome returns true if nothing shows that another engine would continue from the reasoning so far. After a death
// it is tried; a place is not given up for it.
func (p *progress) venturesome() bool {
	return p.Cont != nil && len(p.Cont.thought) > 0 && !p.Proved && !p.Cont.proved
}
