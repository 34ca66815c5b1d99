package chattemplate

import (
	"strconv"
)

func (p *parser) primary() expr {
	t := p.next()
	switch {
	case t.kind == 's':
		s := t.text
		for p.peek().kind == 's' {
			s += p.next().text
		}
		return constant(s)
	case t.kind == 'i':
		i, err := strconv.Atoi(t.text)
		if err != nil {
			throw(ErrTemplate, "a number of %q", t.text)
		}
		return constant(i)
	case t.kind == 'f':
		x, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			throw(ErrTemplate, "a number of %q", t.text)
		}
		return constant(x)
	case t.kind == 'n':
		if t.text == "loop" {
			p.loop = len(p.tokens)
		}
		return named(t.text)
	}
	switch t.text {
	case "(":
		return p.grouped()
	case "[":
		return listOf(p.items("]"))
	case "{":
		return p.mapping()
	}
	throw(ErrTemplate, "want a value, found %q", t.text)
	return nil
}

func named(name string) expr {
	switch name {
	case "true", "True":
		return constant(true)
	case "false", "False":
		return constant(false)
	case "none", "None":
		return constant(nil)
	case "not", "and", "or", "if", "else", "in", "is":
		throw(ErrTemplate, "want a value, found %q", name)
	}
	var not any = missing{name}
	return func(f *frame) any {
		if v, ok := f.scope.find(name); ok {
			return v
		}
		return not
	}
}

// grouped reads what stands in brackets: a value, or a tuple where there are commas.
func (p *parser) grouped() expr {
	if p.take(")") {
		return listOf(nil)
	}
	first := p.expression()
	if p.take(")") {
		return first
	}
	p.want(",")
	return listOf(append([]expr{first}, p.items(")")...))
}

// items reads expressions between commas up to a closing bracket.
func (p *parser) items(closing string) (all []expr) {
	for !p.take(closing) {
		all = append(all, p.expression())
		if !p.is(closing) {
			p.want(",")
		}
	}
	return all
}

func listOf(items []expr) expr {
	return func(f *frame) any {
		f.step(len(items))
		l := &list{make([]any, len(items))}
		for i, e := range items {
			l.items[i] = e(f)
		}
		return l
	}
}

func (p *parser) mapping() expr {
	var keys, vals []expr
	for !p.take("}") {
		keys = append(keys, p.expression())
		p.want(":")
		vals = append(vals, p.expression())
		if !p.is("}") {
			p.want(",")
		}
	}
	return func(f *frame) any {
		f.step(len(keys))
		d := &dict{}
		for i := range keys {
			key, ok := keys[i](f).(string)
			if !ok {
				throw(ErrRefused, "a key that is no text")
			}
			d.put(key, vals[i](f))
		}
		return d
	}
}
