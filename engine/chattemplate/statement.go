package chattemplate

import "slices"

// statement does something. What it returns says whether a loop is to go on.
type statement func(f *frame) flow

type flow uint8

const (
	onward   flow = iota
	again         // continue
	leave         // break
	maxInner = maxNested
)

// reader reads a template's segments.
type reader struct {
	segments []segment
	depth    int
	loops    int  // that surround what is read
	macros   int  // read so far
	plain    bool // no short cuts
}

// block reads statements up to a tag that begins with one of ends, which it returns opened; "" at the end of the
// template.
func (r *reader) block(ends ...string) (body []statement, word string, p *parser) {
	if r.depth++; r.depth > maxInner {
		throw(ErrTemplate, "blocks nest more than %d deep", maxInner)
	}
	defer func() { r.depth-- }()
	for len(r.segments) > 0 {
		s := r.segments[0]
		r.segments = r.segments[1:]
		if s.kind == 0 {
			body = append(body, func(f *frame) flow { f.write(s.text); return onward })
			continue
		}
		p := &parser{tokens: lex(s.text), plain: r.plain}
		p.length = len(p.tokens)
		if s.kind == '{' {
			body = append(body, printing(p))
			continue
		}
		word := p.name()
		if slices.Contains(ends, word) {
			return body, word, p
		}
		if one := r.statement(word, p); one != nil {
			body = append(body, one)
		}
	}
	if len(ends) > 0 {
		throw(ErrTemplate, "there is no {%% %s %%}", ends[len(ends)-1])
	}
	return body, "", nil
}

func printing(p *parser) statement {
	e := p.expression()
	p.end()
	if p.sums != nil {
		return printingSum(p.sums)
	}
	return func(f *frame) flow {
		f.write(text(e(f)))
		return onward
	}
}

// statement reads one whose tag begins with word.
func (r *reader) statement(word string, p *parser) statement {
	switch word {
	case "if":
		return r.branches(p)
	case "for":
		return r.loop(p)
	case "set":
		return r.assignment(p)
	case "macro":
		return r.macro(p)
	case "with":
		return r.with(p)
	case "break", "continue":
		p.end()
		if r.loops == 0 {
			throw(ErrTemplate, "%s outside of a loop", word)
		}
		to := map[string]flow{"break": leave, "continue": again}[word]
		return func(*frame) flow { return to }
	case "generation", "endgeneration": // they mark what the assistant says for training, and print nothing
		return nil
	}
	throw(ErrTemplate, "{%% %s %%} is not taken", word)
	return nil
}

// do runs statements up to one that leaves them.
func do(f *frame, body []statement) flow {
	for _, s := range body {
		f.step(1)
		if to := s(f); to != onward {
			return to
		}
	}
	return onward
}

// branches reads an if with its elifs and else.
func (r *reader) branches(p *parser) statement {
	var conds []expr
	var bodies [][]statement
	for {
		cond := constant(true)
		if p != nil {
			cond = p.expression()
			p.end()
		}
		body, word, next := r.block("elif", "else", "endif")
		conds, bodies = append(conds, cond), append(bodies, body)
		switch {
		case word == "elif" && p != nil:
			p = next
			continue
		case word == "else" && p != nil:
			next.end()
			p = nil
			continue
		case word != "endif":
			throw(ErrTemplate, "a second else")
		}
		next.end()
		return func(f *frame) flow {
			for i, cond := range conds {
				if truth(cond(f)) {
					return do(f, bodies[i])
				}
			}
			return onward
		}
	}
}

// targets reads the names that a for or set gives values to.
func (p *parser) targets() []string {
	bracket := p.take("(")
	names := []string{p.name()}
	for p.take(",") {
		names = append(names, p.name())
	}
	if bracket {
		p.want(")")
	}
	return names
}

// assign gives a value to names: each one of its items, where there are several.
func assign(f *frame, names []string, v any) {
	if len(names) == 1 {
		f.scope.set(names[0], v)
		return
	}
	items := iterate(f, v)
	if len(items) != len(names) {
		throw(ErrRefused, "%d values for %d names", len(items), len(names))
	}
	for i, name := range names {
		f.scope.set(name, items[i])
	}
}

// assignment reads a set: of names, of a namespace's member, or of what a block prints.
func (r *reader) assignment(p *parser) statement {
	names := p.targets()
	if len(names) == 1 && p.take(".") {
		return member(names[0], p)
	}
	if !p.take("=") {
		if len(names) > 1 {
			throw(ErrTemplate, "a block for several names")
		}
		value := p.piped(func(f *frame) any { return f.scope.get("\x00block") })
		p.end()
		body, _, end := r.block("endset")
		end.end()
		return func(f *frame) flow {
			in := f.inner()
			in.scope.set("\x00block", f.captured(func() { do(f.inner(), body) }))
			f.scope.set(names[0], value(in))
			return onward
		}
	}
	value := p.tuple()
	p.end()
	return func(f *frame) flow {
		assign(f, names, value(f))
		return onward
	}
}

// tuple reads an expression, or several between commas.
func (p *parser) tuple() expr {
	first := p.expression()
	if !p.is(",") {
		return first
	}
	all := []expr{first}
	for p.take(",") {
		all = append(all, p.expression())
	}
	return listOf(all)
}

// member reads the rest of a set of a namespace's member.
func member(of string, p *parser) statement {
	name := p.name()
	p.want("=")
	value := p.expression()
	p.end()
	return func(f *frame) flow {
		d, ok := f.scope.get(of).(*dict)
		if !ok || !d.space {
			throw(ErrRefused, "a member of %q is set, which is no namespace", of)
		}
		d.put(name, value(f))
		return onward
	}
}

// with reads a block with variables of its own.
func (r *reader) with(p *parser) statement {
	var names []string
	var values []expr
	for p.peek().kind != 0 {
		names = append(names, p.name())
		p.want("=")
		values = append(values, p.expression())
		if p.peek().kind != 0 {
			p.want(",")
		}
	}
	body, _, end := r.block("endwith")
	end.end()
	return func(f *frame) flow {
		in := f.inner()
		for i, name := range names {
			in.scope.set(name, values[i](f))
		}
		return do(in, body)
	}
}
