package chattemplate

// postfix reads what is taken of a value: members, items, slices and calls.
func (p *parser) postfix(e expr) expr {
	for {
		switch {
		case p.take("."):
			e = p.attribute(e)
		case p.take("["):
			e = p.subscript(e)
		case p.take("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) attribute(of expr) expr {
	t := p.next()
	switch t.kind {
	case 'n':
		if p.loop == len(p.tokens)+2 && !p.plain {
			return loopMember(of, t.text)
		}
		return memberOf(of, t.text)
	case 'i':
		index := (&parser{tokens: []token{t}}).primary()
		return func(f *frame) any { return item(f, of(f), index(f)) }
	}
	throw(ErrTemplate, "want a name behind '.', found %q", t.text)
	return nil
}

func (p *parser) subscript(of expr) expr {
	var bounds [3]expr
	n, slice := 0, false
	for !p.take("]") {
		switch {
		case p.take(":"):
			slice = true
			if n++; n > 2 {
				throw(ErrTemplate, "a slice of more than three")
			}
		default:
			bounds[n] = p.expression()
			if !p.is(":") && !p.is("]") {
				throw(ErrTemplate, "want ']', found %q", p.peek().text)
			}
		}
	}
	if !slice && bounds[0] == nil {
		throw(ErrTemplate, "nothing between [ and ]")
	}
	if !slice {
		return func(f *frame) any { return item(f, of(f), bounds[0](f)) }
	}
	return func(f *frame) any {
		var at [3]any
		for i, b := range bounds {
			if b != nil {
				at[i] = b(f)
			}
		}
		return slicing(f, of(f), at)
	}
}

// call reads the arguments of a call and calls.
func (p *parser) call(of expr) expr {
	read := p.arguments()
	return func(f *frame) any {
		callee, ok := of(f).(function)
		if !ok {
			throw(ErrRefused, "%s is called", kind(of(f)))
		}
		f.step(1)
		return callee(f, read(f))
	}
}

// arguments reads up to the closing bracket; what it returns computes them.
func (p *parser) arguments() func(*frame) args {
	var plain, named []expr
	var names []string
	for !p.take(")") {
		if len(p.tokens) > 1 && p.peek().kind == 'n' && p.tokens[1] == (token{'o', "="}) {
			names = append(names, p.name())
			p.next()
			named = append(named, p.expression())
		} else {
			plain = append(plain, p.expression())
		}
		if !p.is(")") {
			p.want(",")
		}
	}
	return func(f *frame) args {
		a := args{names: names}
		for _, e := range plain {
			a.plain = append(a.plain, e(f))
		}
		for _, e := range named {
			a.named = append(a.named, e(f))
		}
		return a
	}
}

// piped reads filters and tests.
func (p *parser) piped(e expr) expr {
	for {
		switch {
		case p.take("|"):
			e = p.filter(e)
		case p.take("is"):
			e = p.test(e)
		case p.is("("), p.is("."), p.is("["):
			e = p.postfix(e)
		default:
			return e
		}
	}
}

func (p *parser) filter(e expr) expr {
	name := p.name()
	apply, ok := filters[name]
	if !ok {
		throw(ErrTemplate, "there is no filter %q", name)
	}
	read := func(*frame) args { return args{} }
	if p.take("(") {
		read = p.arguments()
	}
	return func(f *frame) any {
		f.step(1)
		return apply(f, e(f), read(f))
	}
}

func (p *parser) test(e expr) expr {
	negated := p.take("not")
	name := p.name()
	check, ok := tests[name]
	if !ok {
		throw(ErrTemplate, "there is no test %q", name)
	}
	read := func(*frame) args { return args{} }
	switch t := p.peek(); {
	case p.take("("):
		read = p.arguments()
	case t.kind == 's', t.kind == 'i', t.kind == 'f', p.is("["), p.is("{"), t.kind == 'n' && !reserved[t.text]:
		one := p.postfix(p.primary())
		read = func(f *frame) args { return args{plain: []any{one(f)}} }
	}
	return func(f *frame) any { return check(f, e(f), read(f)) != negated }
}

var reserved = map[string]bool{"else": true, "or": true, "and": true, "if": true, "is": true, "in": true, "not": true,
	"recursive": true}
