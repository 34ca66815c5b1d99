package chattemplate

// loopShape is a for as it is written.
type loopShape struct {
	names      []string
	over, cond expr // cond may be nil
	body, none []statement
	quick      bool // nothing in body keeps the scope of a turn
}

// loop reads a for with its condition and else.
func (r *reader) loop(p *parser) statement {
	l := &loopShape{names: p.targets()}
	p.want("in")
	l.over = p.or() // an if behind it is the loop's condition
	if p.is(",") {
		throw(ErrTemplate, "a for through several")
	}
	if p.take("if") {
		l.cond = p.expression()
	}
	p.end()
	macros := r.macros
	r.loops++
	body, word, end := r.block("else", "endfor")
	r.loops--
	l.quick = !r.plain && macros == r.macros
	end.end()
	l.body = body
	if word == "else" {
		l.none, _, end = r.block("endfor")
		end.end()
	}
	return l.run
}

// run goes through what there is.
func (l *loopShape) run(f *frame) flow {
	items := l.items(f)
	if len(items) == 0 {
		return do(f.inner(), l.none)
	}
	if l.quick {
		return l.turns(f, items)
	}
	outer, _ := f.scope.get("loop").(*dict)
	depth := below(outer)
	for i := range items {
		f.step(2)
		in := f.inner()
		in.scope.set("loop", position(items, i, depth))
		assign(in, l.names, items[i])
		if do(in, l.body) == leave {
			break
		}
	}
	return onward
}

// items returns what the loop goes through: what its condition holds for.
func (l *loopShape) items(f *frame) []any {
	all := iterate(f, l.over(f))
	if l.cond == nil {
		return all
	}
	var kept []any
	for _, one := range all {
		f.step(1)
		in := f.inner()
		assign(in, l.names, one)
		if truth(l.cond(in)) {
			kept = append(kept, one)
		}
	}
	return kept
}

// below is how deep a loop is within outer, the loop variable around it.
func below(outer *dict) int {
	if outer == nil {
		return 1
	}
	depth, _ := outer.get("depth")
	n, _ := depth.(int)
	return n + 1
}

// position is the loop variable.
func position(items []any, i, depth int) *dict {
	near := func(i int) any {
		if i < 0 || i >= len(items) {
			return missing{"an item beside the loop"}
		}
		return items[i]
	}
	n := len(items)
	return &dict{
		keys: []string{"index", "index0", "first", "last", "length", "revindex", "revindex0", "depth", "depth0",
			"previtem", "nextitem"},
		vals:  []any{i + 1, i, i == 0, i == n-1, n, n - i, n - i - 1, depth, depth - 1, near(i - 1), near(i + 1)},
		space: true,
	}
}

// parameter is one of a macro's.
type parameter struct {
	name  string
	value expr // its default, or nil
}

// macro reads a macro.
func (r *reader) macro(p *parser) statement {
	name := p.name()
	p.want("(")
	var parameters []parameter
	for !p.take(")") {
		one := parameter{name: p.name()}
		if p.take("=") {
			one.value = p.expression()
		}
		parameters = append(parameters, one)
		if !p.is(")") {
			p.want(",")
		}
	}
	p.end()
	r.macros++
	loops := r.loops
	r.loops = 0
	body, _, end := r.block("endmacro")
	r.loops = loops
	if end.peek().kind == 'n' {
		end.next() // its name again
	}
	end.end()
	return func(f *frame) flow {
		f.scope.set(name, function(func(caller *frame, a args) any {
			return (&frame{caller.run, f.scope}).call(parameters, body, a)
		}))
		return onward
	}
}

// call runs a macro's body with its arguments and returns what it prints.
func (f *frame) call(parameters []parameter, body []statement, a args) string {
	if f.calls++; f.calls > maxCalls {
		throw(ErrTooLarge, "macros call each other more than %d deep", maxCalls)
	}
	defer func() { f.calls-- }()
	if len(a.plain) > len(parameters) {
		throw(ErrRefused, "%d arguments, where a macro takes %d", len(a.plain), len(parameters))
	}
	in := f.inner()
	for i, one := range parameters {
		v := a.take(i, one.name, missing{one.name})
		if _, not := v.(missing); not && one.value != nil {
			v = one.value(in)
		}
		in.scope.set(one.name, v)
	}
	return f.captured(func() { do(in, body) })
}
