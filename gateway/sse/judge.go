package sse

import (
	"bytes"
	"strconv"
)

// judge notes what a chunk says, and the edits of its event that follow: what the client did not ask for is left out,
// and so is what goes beyond Options.Most.
func (s *Scanner) judge(event, data []byte, c *chunk) {
	p := s.tally.of(s.opts.choiceOf(c))
	told := s.opts.told(c, p)
	tokens := p.tokens
	if c.output {
		tokens = p.next(told)
	}
	switch {
	case p.cut && c.choices == 1:
		s.drop(event)
		return
	case c.output && c.choices == 1 && s.opts.Most > 0 && tokens > s.opts.Most:
		s.cut(event, data, c, p)
		return
	}
	if c.output {
		s.tally.add(p, tokens, told >= 0)
	}
	if len(c.finish) > 0 {
		s.finish = finishName(c.finish)
		s.tally.end(p)
	}
	s.hide(event, data, c)
	s.over(event, data, c)
	s.identify(data, c)
	if s.opts.Reasoning != nil && len(c.thought) > 0 {
		s.opts.Reasoning(c.thought, len(c.text) == 0)
	}
	s.collect(c.text)
	if s.opts.Calls != nil && c.calls.to > 0 {
		toolCalls(data[c.calls.from:c.calls.to], s.opts.Calls)
	}
	s.shape.learn(data, c, s.hidden(c))
}

// hides reports whether the chunk has a count that was asked for on the way, and not by the client. The usage in a last
// chunk whose stream had none before is no such count: it is what a client gets that asked for the usage at the end.
func (s *Scanner) hides(c *chunk) bool {
	if !s.opts.HideUsage || c.choices == 0 || c.usageAt.to == 0 {
		return false
	}
	if !c.hasUsage { // null counts nothing
		return !s.opts.NullUsage
	}
	s.running = s.running || len(c.finish) == 0
	return s.running || s.opts.HideLast
}

// hidden returns what of the chunk's usage is not given out, empty if it is given out: the member, or its value where
// null takes its place.
func (s *Scanner) hidden(c *chunk) span {
	switch {
	case !s.hides(c):
		return span{}
	case s.opts.NullUsage:
		return c.usageValue
	}
	return c.usageAt
}

// insteadOfUsage is what takes the place of what is hidden.
func (s *Scanner) insteadOfUsage() string {
	if s.opts.NullUsage {
		return "null"
	}
	return ""
}

// hideUsage edits out what hidden returned.
func (s *Scanner) hideUsage(event, data []byte, hidden span) {
	if !s.opts.NullUsage {
		s.leaveOut(event, data, hidden)
	} else if at, ok := offset(event, data); ok {
		s.edits = append(s.edits, edit{at + hidden.from, at + hidden.to, s.insteadOfUsage()})
	}
}

// hide edits out what the client did not ask for.
func (s *Scanner) hide(event, data []byte, c *chunk) {
	if s.opts.HideIDs {
		s.hideList(event, data, c.ids)
	}
	if s.opts.HidePrompt {
		s.hideList(event, data, c.promptIDs)
	}
	switch {
	case s.hides(c):
		s.hideUsage(event, data, s.hidden(c))
	case s.opts.HideTotals && c.hasUsage && c.choices == 0:
		s.drop(event)
	case s.opts.HideTimings && c.timings.to > 0 && len(c.finish) == 0:
		s.leaveOut(event, data, c.timings)
	}
}

// cut ends a choice at what was asked for: the event that goes beyond it says so instead of what it brought.
func (s *Scanner) cut(event, data []byte, c *chunk, p *part) {
	p.cut = true
	s.tally.cut++
	s.tally.end(p)
	s.finish = "length"
	at, ok := offset(event, data)
	if !ok || c.texts != 1 || c.finishAt.to == 0 {
		s.drop(event)
	} else {
		s.edits = append(s.edits, edit{at + c.at, at + c.at + c.size, ""},
			edit{at + c.finishAt.from, at + c.finishAt.to, `"length"`})
		if s.hide(event, data, c); !s.hides(c) {
			s.recount(at, c, p.tokens)
		}
	}
	s.over(event, data, c)
}

// over ends the stream where a choice was cut and no other goes on.
func (s *Scanner) over(event, data []byte, c *chunk) {
	if s.tally.cut > 0 && s.tally.ended >= max(s.opts.Choices, 1) && !s.done {
		s.done, s.wasCut = true, true
		s.totals(event, data, c)
	}
}

// recount has the usage of an event say what its choice has brought.
func (s *Scanner) recount(at int, c *chunk, tokens int) {
	for _, n := range []struct {
		where span
		count int
	}{{c.completion, tokens}, {c.total, c.usage.PromptTokens + tokens}} {
		if n.where.to > 0 {
			s.edits = append(s.edits, edit{at + n.where.from, at + n.where.to, strconv.Itoa(n.count)})
		}
	}
}

// totals adds the chunk that says what the stream took, which its engine does not come to any more, for a client that
// wants it.
func (s *Scanner) totals(event, data []byte, c *chunk) {
	s.usage = Usage{PromptTokens: c.usage.PromptTokens, CompletionTokens: s.tally.total}
	if s.hasUsage = c.completion.to > 0 && c.choicesAt.to > 0; !s.hasUsage || !s.opts.Totals {
		return
	}
	usage := `{"prompt_tokens":` + strconv.Itoa(s.usage.PromptTokens) + `,"completion_tokens":` +
		strconv.Itoa(s.tally.total) +
		`,"total_tokens":` + strconv.Itoa(s.usage.PromptTokens+s.tally.total) + `}`
	edits := []edit{{c.choicesAt.from, c.choicesAt.to, "[]"}, {c.usageValue.from, c.usageValue.to, usage}}
	var e edited
	e.apply(data, 0, edits)
	s.edits = append(s.edits, edit{len(event), len(event), "data: " + string(e.upTo(data, 0, len(data))) + eventEnd})
}

// identify hands on the token ids of a chunk.
func (s *Scanner) identify(data []byte, c *chunk) {
	if s.opts.IDs == nil || c.choices != 1 || c.index != 0 || c.ids.to == 0 {
		return
	}
	var prompt []byte
	if c.promptIDs.to > 0 {
		prompt = data[c.promptIDs.from+1 : c.promptIDs.to-1]
	}
	s.opts.IDs(prompt, data[c.ids.from+1:c.ids.to-1], c.output)
}

// hideList makes a list of token ids null.
func (s *Scanner) hideList(event, data []byte, list span) {
	if at, ok := offset(event, data); ok && list.to > 0 {
		s.edits = append(s.edits, edit{at + list.from, at + list.to, "null"})
	}
}

// drop leaves a whole event out.
func (s *Scanner) drop(event []byte) { s.edits = append(s.edits, edit{0, len(event), ""}) }

// leaveOut leaves a member out, which begins behind the value before it.
func (s *Scanner) leaveOut(event, data []byte, member span) {
	at, ok := offset(event, data)
	if !ok {
		return // several lines of data, as no engine writes them
	}
	to := member.to
	if data[member.from-1] == '{' { // the first: the comma is behind it
		rest := bytes.TrimLeft(data[to:], " \t\r\n")
		if len(rest) > 0 && rest[0] == ',' {
			to = len(data) - len(rest) + 1
		}
	}
	s.edits = append(s.edits, edit{at + member.from, at + to, ""})
}

// offset returns where in an event its data begins, false where the data was joined elsewhere.
func offset(event, data []byte) (at int, ok bool) {
	at = bytes.Index(event, data)
	return at, at >= 0
}
