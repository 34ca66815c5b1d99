package chattemplate

// Short cuts through what templates do for every message. They give what the plain way gives, bounds included; a plain
// template takes none of them, and is what they are held to.

// printingSum prints what operands add up to, texts one by one.
func printingSum(operands []expr) statement {
	return func(f *frame) flow {
		var texts [8]string
		parts, sum := addTexts(f, operands, texts[:0])
		if len(parts) < len(operands) {
			f.write(text(sum))
			return onward
		}
		length := 0
		for _, s := range parts {
			length += len(s)
		}
		f.spend(length)
		f.step(length >> 6)
		f.spend(len(f.out) - f.from + length)
		f.step(1 + length>>6)
		for _, s := range parts {
			f.out = append(f.out, s...)
		}
		return onward
	}
}

// memberOf is of.name, for a name that is known when the template is read.
func memberOf(of expr, name string) expr {
	_, method := dictMethods[name]
	var not any = missing{name}
	return func(f *frame) any {
		v := of(f)
		d, ok := v.(*dict)
		if !ok || method {
			return attribute(v, name)
		}
		if v, ok := d.get(name); ok {
			return v
		}
		return not
	}
}

// turn is one of a loop's: its variable, which is made only where it is used as a whole.
type turn struct {
	items []any
	i     int
	depth int
	made  *dict // nil: not yet
}

func (t *turn) whole() *dict {
	if t.made == nil {
		t.made = position(t.items, t.i, t.depth)
	}
	return t.made
}

// member is loop.name; false when it is to be had from the whole only.
func (t *turn) member(name string) (any, bool) {
	switch {
	case t.made != nil:
	case name == "index":
		return t.i + 1, true
	case name == "index0":
		return t.i, true
	case name == "first":
		return t.i == 0, true
	case name == "last":
		return t.i == len(t.items)-1, true
	case name == "length":
		return len(t.items), true
	}
	return nil, false
}

// loopMember is memberOf where of is the variable loop.
func loopMember(of expr, name string) expr {
	slow := memberOf(of, name)
	return func(f *frame) any {
		if t := f.scope.innermost(); t != nil {
			if v, ok := t.member(name); ok {
				return v
			}
		}
		return slow(f)
	}
}

// innermost returns the turn that the variable loop stands for; nil if loop is unset, or another value.
func (s *scope) innermost() *turn {
	for ; s != nil; s = s.parent {
		for _, name := range s.names {
			if name == "loop" {
				return nil
			}
		}
		if s.turn != nil {
			return s.turn
		}
	}
	return nil
}

// turns goes through items in one scope.
func (l *loopShape) turns(f *frame, items []any) flow {
	t := &turn{items: items, depth: 1}
	if outer := f.scope.innermost(); outer != nil && outer.made == nil {
		t.depth = outer.depth + 1
	} else if around, ok := f.scope.get("loop").(*dict); ok {
		t.depth = below(around)
	}
	in := f.inner()
	for i := range items {
		f.step(2)
		*in.scope = scope{names: in.scope.names[:0], vals: in.scope.vals[:0], turn: t, parent: f.scope}
		t.i, t.made = i, nil
		assign(in, l.names, items[i])
		if do(in, l.body) == leave {
			break
		}
	}
	return onward
}
