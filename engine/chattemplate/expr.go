package chattemplate

import (
	"slices"
	"strings"
)

// expr computes a value.
type expr func(f *frame) any

// parser reads the tokens of one tag.
type parser struct {
	tokens []token
	depth  int
	length int    // of all tokens
	loop   int    // how many were left behind the last name that is "loop"
	plain  bool   // no short cuts
	sums   []expr // the operands, where what is read is nothing but what they add up to
}

func (p *parser) peek() token {
	if len(p.tokens) == 0 {
		return token{}
	}
	return p.tokens[0]
}

func (p *parser) next() token {
	t := p.peek()
	if len(p.tokens) > 0 {
		p.tokens = p.tokens[1:]
	}
	return t
}

// is reports whether an operator or a word comes next.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == 'o' || t.kind == 'n') && t.text == text
}

// take passes an operator or a word if it comes next.
func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(text string) {
	if !p.take(text) {
		throw(ErrTemplate, "want %q, found %q", text, p.peek().text)
	}
}

func (p *parser) name() string {
	t := p.next()
	if t.kind != 'n' {
		throw(ErrTemplate, "want a name, found %q", t.text)
	}
	return t.text
}

// end makes sure that nothing follows.
func (p *parser) end() {
	if t := p.peek(); t.kind != 0 {
		throw(ErrTemplate, "an unexpected %q", t.text)
	}
}

// nest bounds how deep expressions go; the returned func ends a level.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxNested {
		throw(ErrTemplate, "expressions nest more than %d deep", maxNested)
	}
	return func() { p.depth-- }
}

// expression reads a whole expression: a if b else c.
func (p *parser) expression() expr {
	defer p.nest()()
	e := p.or()
	for p.take("if") {
		yes, cond, no := e, p.or(), constant(missing{"the else of an if"})
		if p.take("else") {
			no = p.expression()
		}
		e = func(f *frame) any {
			if truth(cond(f)) {
				return yes(f)
			}
			return no(f)
		}
	}
	return e
}

func constant(v any) expr { return func(*frame) any { return v } }

func (p *parser) or() expr {
	e := p.and()
	for p.take("or") {
		left, right := e, p.and()
		e = func(f *frame) any {
			if v := left(f); truth(v) {
				return v
			}
			return right(f)
		}
	}
	return e
}

func (p *parser) and() expr {
	e := p.not()
	for p.take("and") {
		left, right := e, p.not()
		e = func(f *frame) any {
			if v := left(f); !truth(v) {
				return v
			}
			return right(f)
		}
	}
	return e
}

func (p *parser) not() expr {
	if p.is("not") {
		defer p.nest()()
		p.next()
		e := p.not()
		return func(f *frame) any { return !truth(e(f)) }
	}
	return p.compare()
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

// compare reads comparisons, which chain as in Python.
func (p *parser) compare() expr {
	first := p.sum()
	var ops []string
	var rest []expr
	for {
		op := p.peek().text
		switch {
		case p.peek().kind == 'o' && slices.Contains(comparisons, op), p.is("in"):
			p.next()
		case p.is("not") && len(p.tokens) > 1 && p.tokens[1] == (token{'n', "in"}):
			p.next()
			p.next()
			op = "not in"
		default:
			return chain(first, ops, rest)
		}
		ops, rest = append(ops, op), append(rest, p.sum())
	}
}

func chain(first expr, ops []string, rest []expr) expr {
	switch {
	case len(ops) == 0:
		return first
	case len(ops) == 1 && ops[0] == "==":
		return equality(first, rest[0], true)
	case len(ops) == 1 && ops[0] == "!=":
		return equality(first, rest[0], false)
	}
	return func(f *frame) any {
		left := first(f)
		for i, op := range ops {
			right := rest[i](f)
			if !compare(f, op, left, right) {
				return false
			}
			left = right
		}
		return true
	}
}

// equality is the comparison that templates are full of.
func equality(left, right expr, wanted bool) expr {
	return func(f *frame) any {
		l, r := left(f), right(f)
		f.step(1)
		return equal(f, l, r) == wanted
	}
}

// sum, concat and product are Jinja's precedences: ~ binds tighter than + and looser than *.
func (p *parser) sum() expr {
	from := len(p.tokens)
	first := p.operands(p.concat())
	if !p.plain && len(first) > 1 && from == p.length && len(p.tokens) == 0 {
		p.sums = first
	}
	e := added(first)
	for p.take("-") {
		left, right := e, p.concat()
		e = added(p.operands(func(f *frame) any { return arithmetic(f, "-", left(f), right(f)) }))
	}
	return e
}

// operands reads what is added to a first operand.
func (p *parser) operands(first expr) []expr {
	all := []expr{first}
	for p.take("+") {
		all = append(all, p.concat())
	}
	return all
}

// added adds operands up. Texts, which templates add up by the dozen, are put together at once.
func added(operands []expr) expr {
	if len(operands) == 1 {
		return operands[0]
	}
	return func(f *frame) any {
		var texts [8]string
		parts, sum := addTexts(f, operands, texts[:0])
		if len(parts) == len(operands) {
			return joinedTexts(f, parts)
		}
		return sum
	}
}

// addTexts appends the operands to parts as long as they are texts. At the first other value, sum is what all operands
// add up to.
func addTexts(f *frame, operands []expr, parts []string) (_ []string, sum any) {
	for i, e := range operands {
		v := e(f)
		s, ok := v.(string)
		switch {
		case ok && len(parts) == i:
			parts = append(parts, s)
			continue
		case len(parts) == i && i > 0:
			sum = joinedTexts(f, parts)
		case i == 0:
			sum = v
			continue
		}
		sum = arithmetic(f, "+", sum, v)
	}
	return parts, sum
}

func joinedTexts(f *frame, parts []string) string {
	length := 0
	for _, s := range parts {
		length += len(s)
	}
	f.spend(length)
	return f.made(strings.Join(parts, ""))
}

func (p *parser) concat() expr {
	return p.binary(p.product, "~")
}

func (p *parser) product() expr { return p.binary(p.unary, "*", "/", "//", "%") }

func (p *parser) binary(operand func() expr, ops ...string) expr {
	e := operand()
	for {
		op := p.peek()
		if op.kind != 'o' || !slices.Contains(ops, op.text) {
			return e
		}
		p.next()
		left, right := e, operand()
		e = func(f *frame) any { return arithmetic(f, op.text, left(f), right(f)) }
	}
}

// unary reads a value, its signs, what is taken of it, and the filters and tests it goes through.
func (p *parser) unary() expr {
	defer p.nest()()
	e := p.signed()
	return p.piped(e)
}

func (p *parser) signed() expr {
	switch {
	case p.is("-"), p.is("+"):
		op := p.next().text
		defer p.nest()()
		inner := p.signed()
		return func(f *frame) any { return arithmetic(f, op, 0, inner(f)) }
	}
	return p.postfix(p.primary())
}
