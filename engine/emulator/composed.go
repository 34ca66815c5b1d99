package emulator

import (
	"slices"
	"unicode/utf8"

	"octet/engine"
)

// part is what a client is shown a stretch of an answer as.
type part uint8

const (
	partText      part = iota
	partUnseen         // the template's marks: tokens that no client sees
	partReasoning      // of a chat, as partName and partArguments
	partName           // of a call, which opens it
	partArguments
)

// What stands around reasoning in the text that the model says.
const (
	thinkOpen = "<think>\n"
	thinkShut = "\n</think>\n\n"
)

// segment is a stretch of what the model says.
type segment struct {
	part part
	call int // which call of the answer it is of
	text string
}

// view is what a client is shown of one token.
type view struct {
	part part
	call int
	text []byte
	last bool // no text of the answer comes behind it
}

// composed is an answer that is more than text.
type composed struct {
	textScript
	views []view // of its tokens
	calls []engine.Call
	seed  uint64 // what calls are known by
}

// compose returns the script of segments.
func compose(t codec, segments []segment) *composed {
	var raw []byte
	for _, s := range segments {
		raw = append(raw, s.text...)
	}
	c := &composed{textScript: newTextScript(t, raw, 0)}
	c.views = views(c.pieces, segments)
	return c
}

// skip has c begin with its token number from.
func (c *composed) skip(t codec, from int) {
	if from >= len(c.pieces) {
		c.textScript, c.views, c.calls = newTextScript(t, nil, 0), []view{{text: []byte("\n"), last: true}}, nil
		return
	}
	c.pieces, c.ids, c.views = c.pieces[from:], c.ids[from:], c.views[from:]
}

// begins returns the number of the first token with text; 0 if the answer has no text.
func (c *composed) begins() int {
	return max(slices.IndexFunc(c.views, func(v view) bool { return v.part == partText }), 0)
}

// views cuts pieces, which put together are the segments, into what is shown of each. A piece shows one segment: marks
// stand between those that are shown. A character that is cut shows with its last piece.
func views(pieces [][]byte, segments []segment) []view {
	all := make([]view, len(pieces))
	at, begins, s := 0, 0, 0 // where the piece and segment s begin
	var kept []byte          // of segment s, not shown yet
	for i, piece := range pieces {
		v := view{part: partUnseen}
		for end := at + len(piece); at < end; {
			for begins+len(segments[s].text) <= at {
				begins, s, kept = begins+len(segments[s].text), s+1, nil
			}
			upto := min(end, begins+len(segments[s].text))
			seg := &segments[s]
			if seg.part != partUnseen {
				kept = append(kept, seg.text[at-begins:upto-begins]...)
				n := wholeText(kept, seg.part == partName, upto == begins+len(seg.text))
				if n > 0 || seg.part != partName {
					v.part, v.call, v.text = seg.part, seg.call, append(v.text, kept[:n]...)
				}
				kept = append([]byte(nil), kept[n:]...)
			}
			at = upto
		}
		all[i] = v
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].part == partText {
			all[i].last = true
			break
		}
	}
	return all
}

// wholeText returns how much of text can be shown: all at the end of its segment, before that whole characters, and
// nothing of what is shown at once.
func wholeText(text []byte, once, ended bool) int {
	if ended {
		return len(text)
	}
	if once {
		return 0
	}
	n := len(text)
	for back := 1; back <= min(utf8.UTFMax, n); back++ {
		if utf8.RuneStart(text[n-back]) {
			if !utf8.FullRune(text[n-back:]) {
				n -= back
			}
			break
		}
	}
	return n
}

// compose returns the script of one choice of a, whose answer may be more than text.
func (e *Emulator) compose(a *ask, p prompt, choice int) script {
	var whole prompt
	from := a.body.ContinueFrom
	switch {
	case a.use == nil:
		return e.writer.answer(e.codec, p.earlier(e.codec, from), a.variant(choice%a.n), from)
	case from > 0 && a.body.ContinueFinalMessage:
		whole = a.body.before(e.codec) // the text decides: a count may be of tokens whose text did not arrive
		from = max(len(p.tokens)-len(whole.tokens), 0)
	default:
		whole = p.earlier(e.codec, from)
	}
	segments, calls := e.writer.compose(e.codec, whole, a.use, a.variant(choice%a.n))
	c := compose(e.codec, segments)
	c.calls, c.seed = calls, draw(whole.tokens, a.variant(choice%a.n))
	if a.use.schema != nil && len(calls) == 0 {
		from = min(from, c.begins()) // the grammar knows of no beginning
	}
	c.skip(e.codec, from)
	return c
}

// before returns the prompt without the beginning of the answer that is to be continued.
func (b *body) before(t codec) prompt {
	earlier := *b
	earlier.Messages, earlier.ContinueFinalMessage, earlier.AddGenerationPrompt = b.said(), false, nil
	text, err := t.chat(&earlier)
	if err != nil {
		return prompt{} // it was rendered with more
	}
	return prompt{text, t.tokens(text, false)}
}
