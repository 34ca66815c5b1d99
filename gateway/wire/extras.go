package wire

import (
	"fmt"
	"slices"
)

// The members of a body whose entries are extras.
const (
	snippetsMember = "repo_snippets"
	outputsMember  = "tool_outputs"
)

// extras are the entries of repo_snippets and tool_outputs that are not empty: texts that no engine reads where a
// client puts them.
type extras struct {
	snippets, outputs []text
	named             bool   // one of the members is in the body
	bytes             uint32 // what Inline has put ahead of a text, as it is written; zero means nothing
	at                int    // of a chat: the message whose text that is
	own               text   // the text without extras, once it was asked for
}

func (e *extras) reset() { *e = extras{snippets: kept(e.snippets), outputs: kept(e.outputs)} }

func (p *parser) extra(dst *[]text) {
	p.r.extras.named = true
	p.strings(dst)
}

// HasExtras reports whether repo_snippets or tool_outputs is in the body, be it empty.
func (r *Request) HasExtras() bool { return r.extras.named }

// between stands behind every extra: a blank line, as it is written within a string.
const between = `\n\n`

// Inline makes a body in which the extras are text of the prompt, in memory of room, and parses it into r, which
// aliases it from then on. Snippets, then outputs, each with a blank line behind it, stand ahead of the text of a
// chat's last user message, or of a completion's prompt. Both members are gone, and every other byte is as it was. No
// message is added: templates that want user and assistant by turns take the body, and nothing comes between a tool
// call and its result. Turns and EachMessage tell the same of r as before. The error is an *Error if there is no such
// text. Inline must be called before any text of r is read.
func (r *Request) Inline(room []byte, lim Limits) ([]byte, error) {
	target := 0
	if len(r.extras.snippets) > 0 || len(r.extras.outputs) > 0 {
		first, err := r.inlineTarget()
		if err != nil {
			return room, err
		}
		target = int(first.off)
	}
	e := r.extras // Parse forgets them
	e.named = false
	body := r.appendInlined(room[:0], target, &e)
	if err := Parse(r.Kind, body, lim, r); err != nil {
		return body, err
	}
	r.extras = e
	if r.Kind == Completion { // its prompt is unescaped twice: with extras, and without
		r.p.arena = slices.Grow(r.p.arena, 2*(len(body)+block))
	}
	return body, nil
}

// inlineTarget returns the text that the extras come ahead of.
func (r *Request) inlineTarget() (*text, error) {
	if r.Kind == Completion {
		if len(r.prompts) == 1 && r.prompts[0].tokens == 0 {
			return &r.prompts[0].text, nil
		}
		return nil, r.refusedExtras("a single prompt, of text")
	}
	for i := len(r.messages) - 1; i >= 0; i-- {
		if m := &r.messages[i]; roles[m.role] == "user" {
			r.extras.at = i
			if first := r.firstText(m); *first != (text{}) { // else there are images alone
				return first, nil
			}
			break
		}
	}
	return nil, r.refusedExtras("the text of the last user message")
}

func (r *Request) refusedExtras(needed string) error {
	name := snippetsMember
	if len(r.extras.snippets) == 0 {
		name = outputsMember
	}
	return &Error{Code: CodeUnsupportedParameter, Param: name, Offset: int(r.member(name).off),
		Message: fmt.Sprintf("stands ahead of %s, and there is none", needed)}
}

// firstText is where the text of m begins.
func (r *Request) firstText(m *message) *text {
	if m.from == m.to {
		return &m.text
	}
	return &r.parts[m.from]
}

// appendInlined appends the body without the members of e, and with the texts of e at target, if it is not zero. e says
// where its texts are in the new body then.
func (r *Request) appendInlined(dst []byte, target int, e *extras) []byte {
	b, from, first := r.p.b, r.opening+1, true
	dst = append(dst, b[:from]...)
	for i := range r.members {
		end := int(r.members[i].end)
		switch name := string(r.p.bytes(r.members[i].name)); {
		case name == snippetsMember || name == outputsMember:
			from = end
			continue
		case first:
			from += commaIn(b[from:end], i)
			first = false
		}
		if from < target && target < end {
			dst = r.appendExtras(append(dst, b[from:target]...), e)
			from = target
		}
		dst = append(dst, b[from:end]...)
		from = end
	}
	return append(dst, b[from:]...)
}

// commaIn returns how many bytes of member i, with what is between it and the one before, are to be left out where it
// becomes the first.
func commaIn(b []byte, i int) int {
	if i == 0 {
		return 0
	}
	n := 0
	for b[n] != ',' {
		n++
	}
	return n + 1
}

// appendExtras appends the texts as they are written. e says where they are then.
func (r *Request) appendExtras(dst []byte, e *extras) []byte {
	began := len(dst)
	for _, list := range [...][]text{e.snippets, e.outputs} {
		for i, t := range list {
			list[i].off = uint32(len(dst))
			dst = append(dst, r.p.b[t.off:t.end]...)
			list[i].end = uint32(len(dst))
			dst = append(dst, between...)
		}
	}
	e.bytes = uint32(len(dst) - began)
	return dst
}

// ownMessage is the text of message i as the client wrote it, without extras.
func (r *Request) ownMessage(i int) []byte {
	m := &r.messages[i]
	if r.extras.bytes == 0 || i != r.extras.at {
		return r.messageText(m)
	}
	return r.ownText(r.firstText(m), func() text { return r.plainOf(m) })
}

// OwnPrompt is prompt i as the client wrote it, without extras; false if it is token ids.
func (r *Request) OwnPrompt(i int) ([]byte, bool) {
	if r.extras.bytes == 0 {
		return r.PromptText(i)
	}
	t := &r.prompts[i].text
	return r.ownText(t, func() text { return r.p.plain(*t) }), true
}

// ownText resolves a text without the extras ahead of its first part, once and for all.
func (r *Request) ownText(first *text, plain func() text) []byte {
	e := &r.extras
	if e.own.form != formArena {
		first.off += e.bytes
		e.own = plain()
		first.off -= e.bytes
	}
	return r.p.bytes(e.own)
}
