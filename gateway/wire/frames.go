package wire

import "bytes"

// Frames are what a chat template puts around messages. Each must have a byte that no wording has, such as a control
// character.
type Frames struct {
	first, next [len(roles)][]byte // before a message, by its role
	last        []byte             // behind the last message: an open turn of the assistant
	marks       Marks
}

// Marks are what a chat template puts around all that is no message's text. Each pair must have a byte that no wording
// has.
type Marks struct {
	Tools, Format Pair   // around the list of tools, and around a response_format
	Call          Pair   // around a call: Name, the name as JSON, Said, the arguments and a closing brace
	Name, Said    string // of a call
	Gap, Break    string // ahead of Tools and Format, and ahead of a Call, where something stands before in their turn
}

// Pair is a mark and the one that ends what it begins.
type Pair struct{ Open, Shut string }

// FramesOf makes the frames of a template that opens a turn of each role and closes it, and ends with an open turn of
// the assistant.
func FramesOf(open func(dst []byte, role string) []byte, shut func(dst []byte) []byte, marks Marks) *Frames {
	f := &Frames{last: open(shut(nil), "assistant"), marks: marks}
	for i, role := range roles {
		f.first[i], f.next[i] = open(nil, role), open(shut(nil), role)
	}
	return f
}

// Shown is what of a chat is in its prompt beside the messages, their calls and tools.
type Shown struct {
	// Chosen: the tools that tool_choice leaves: none of them for "none", and one for a function's name. Otherwise all
	// of them are shown, whatever the choice.
	Chosen bool
	Format bool // response_format
}

// Render appends the prompt of a chat, the parts of a message joined with a newline, as an engine with this template
// reads it.
func (r *Request) Render(dst []byte, f *Frames, shown Shown) []byte {
	w := writing{r: r, out: dst, plain: true}
	w.chat(f, shown)
	return w.out
}

// chat writes the prompt of a chat. Tools stand where most templates put them: behind the text of the first message if
// that is the system's, else in a turn of the system ahead of it.
func (w *writing) chat(f *Frames, shown Shown) {
	r, frames := w.r, &f.first
	ahead := r.showsTools(shown) || r.showsFormat(shown)
	if ahead && (len(r.messages) == 0 || !instructs(r.messages[0].role)) {
		w.mark(frames[roleOf([]byte("system"))])
		w.ahead(f, shown, true)
		frames, ahead = &f.next, false
	}
	calls := r.calls
	for i := range r.messages {
		m := &r.messages[i]
		w.mark(frames[m.role])
		empty := w.message(i)
		if ahead {
			w.ahead(f, shown, empty)
			ahead, empty = false, false
		}
		for len(calls) > 0 && int(calls[0].message) == i {
			w.call(&f.marks, &calls[0], empty)
			calls, empty = calls[1:], false
		}
		frames = &f.next
	}
	w.mark(f.last)
}

// instructs returns true for the role of a message that a template takes for the system's.
func instructs(role uint8) bool {
	return role < roleless && (roles[role] == "system" || roles[role] == "developer")
}

// ahead writes tools and response_format; first tells that nothing stands before them in their turn.
func (w *writing) ahead(f *Frames, shown Shown, first bool) {
	if w.r.showsTools(shown) {
		w.gap(f.marks.Gap, first)
		w.said(f.marks.Tools.Open)
		w.tools(shown)
		w.said(f.marks.Tools.Shut)
		first = false
	}
	if w.r.showsFormat(shown) {
		w.gap(f.marks.Gap, first)
		w.said(f.marks.Format.Open)
		w.json(w.r.Raw(formatMember), true)
		w.said(f.marks.Format.Shut)
	}
}

func (w *writing) gap(mark string, first bool) {
	if !first {
		w.said(mark)
	}
}

// tools writes those tools that are shown.
func (w *writing) tools(shown Shown) {
	r, name := w.r, w.r.chosen(shown)
	if name == nil && !r.tools.loose {
		w.raw(r.p.b[r.tools.off:r.tools.end])
		return
	}
	w.said("[")
	first := true
	for i := range r.listed {
		t := &r.listed[i]
		if name != nil && !bytes.Equal(functionName(r.p.b[t.off:t.end]), name) {
			continue
		}
		w.gap(",", first)
		w.tool(t)
		first = false
	}
	w.said("]")
}

func (w *writing) tool(t *listedTool) {
	if t.known != nil {
		w.raw(t.known.made)
		return
	}
	w.json(w.r.p.b[t.off:t.end], t.loose)
}

// call writes one call.
func (w *writing) call(m *Marks, c *call, first bool) {
	w.gap(m.Break, first)
	w.said(m.Call.Open)
	switch c.form {
	case callWhole:
		w.json(w.r.p.bytes(c.said), true)
	default:
		w.said(m.Name)
		w.json(w.r.p.b[c.name.off-1:c.name.end+1], c.name.form&formLoose != 0)
		w.said(m.Said)
		if c.form == callTexted {
			w.text(c.said)
		} else {
			w.json(w.r.p.bytes(c.said), true)
		}
		w.said("}")
	}
	w.said(m.Call.Shut)
}

const formatMember = "response_format"

// showsFormat returns true if the prompt has a response_format.
func (r *Request) showsFormat(shown Shown) bool {
	raw := r.Raw(formatMember)
	return shown.Format && len(raw) > 0 && raw[0] == '{'
}

// showsTools returns true if the prompt has a list of tools.
func (r *Request) showsTools(shown Shown) bool {
	return r.tools.end > 0 && !(shown.Chosen && r.choosesNone())
}

// choosesNone returns true if tool_choice is "none".
func (r *Request) choosesNone() bool {
	none, _ := Choice(r.Raw("tool_choice"))
	return none
}

// chosen returns the name of the one tool that is shown, as its wording; nil if all are.
func (r *Request) chosen(shown Shown) []byte {
	if !shown.Chosen {
		return nil
	}
	return functionName(r.Raw("tool_choice"))
}

// Choice reads a tool_choice, nil if there is none: whether it is "none", and the name of the function that it chooses,
// "" for another choice.
func Choice(raw []byte) (none bool, function string) {
	if len(raw) > 0 && raw[0] == '"' {
		return string(AppendUnquoted(nil, raw[1:len(raw)-1])) == "none", ""
	}
	return false, string(AppendUnquoted(nil, functionName(raw)))
}

// functionName returns the wording of the name of the function in a tool, a tool_choice or a call; nil if it has none.
func functionName(raw []byte) []byte {
	if name := memberIn(memberIn(raw, "function"), "name"); len(name) > 1 && name[0] == '"' {
		return appendWording([]byte{}, name[1:len(name)-1])
	}
	return nil
}

// memberIn returns the value of a member of a JSON object; nil if it has none of that name, and of any other value.
func memberIn(raw []byte, name string) (value []byte) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	c := NewCursor(raw, maxEditDepth)
	c.Enter('{')
	for key, ok := c.Key(); ok; key, ok = c.Key() {
		wanted := string(key) == name
		c.Peek()
		if read := c.skipped(); wanted {
			value = read
		}
	}
	return value
}
