package chattemplate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type filter func(f *frame, v any, a args) any

// filters are those of Jinja that chat templates use.
var filters = map[string]filter{
	"trim": func(f *frame, v any, a args) any { return strip(f, text(v), a, true, true) }, "length": length,
	"count":  length,
	"tojson": toJSON, "join": joinFilter, "default": fallback, "d": fallback, "items": itemsFilter,
	"dictsort": dictSort,
	"lower":    onText("lower"), "upper": onText("upper"), "title": onText("title"), "capitalize": onText("capitalize"),
	"replace": onText("replace"),
	"first":   func(f *frame, v any, _ args) any { return edge(iterate(f, v), 0) },
	"last":    func(f *frame, v any, _ args) any { return edge(iterate(f, v), -1) },
	"list":    func(f *frame, v any, _ args) any { return &list{slices.Clone(iterate(f, v))} },
	"string":  func(f *frame, v any, _ args) any { return f.made(text(v)) },
	"safe":    func(_ *frame, v any, _ args) any { return v },
	"int":     toInt, "float": toFloat, "abs": abs, "indent": indent, "reverse": reverse, "unique": unique,
	"map":        mapped,
	"select":     func(f *frame, v any, a args) any { return chosen(f, v, a, "", true) },
	"reject":     func(f *frame, v any, a args) any { return chosen(f, v, a, "", false) },
	"selectattr": func(f *frame, v any, a args) any { return chosen(f, v, a.rest(), a.text(0, "attribute"), true) },
	"rejectattr": func(f *frame, v any, a args) any { return chosen(f, v, a.rest(), a.text(0, "attribute"), false) },
	"max":        func(f *frame, v any, _ args) any { return extreme(f, v, 1) },
	"min":        func(f *frame, v any, _ args) any { return extreme(f, v, -1) },
}

// rest is a without its first argument.
func (a args) rest() args {
	a.plain = a.plain[min(1, len(a.plain)):]
	return a
}

// onText is a filter that does what the method of that name does.
func onText(name string) filter {
	return func(f *frame, v any, a args) any { return stringMethods[name](f, text(v), a) }
}

func length(f *frame, v any, _ args) any {
	switch x := v.(type) {
	case string:
		f.step(len(x) >> 6)
		return utf8.RuneCountInString(x)
	case *list:
		return len(x.items)
	case *dict:
		return len(x.keys)
	case missing:
		return 0
	}
	throw(ErrRefused, "the length of %s", kind(v))
	return nil
}

// toJSON is tojson as transformers has it: nothing is escaped for HTML, and no key is sorted unless it is asked for.
func toJSON(f *frame, v any, a args) any {
	e := encoder{indent: -1}
	e.ascii = truth(a.take(3, "ensure_ascii", false))
	e.sorted = truth(a.take(3, "sort_keys", false))
	if e.sorted || a.take(3, "separators", nil) != nil {
		throw(ErrRefused, "tojson with sort_keys or separators")
	}
	if n := a.take(0, "indent", nil); n != nil {
		e.indent = min(max(a.count(0, "indent", 0), 0), 64)
	}
	return f.made(string(e.append(nil, v, 0)))
}

func joinFilter(f *frame, v any, a args) any {
	items := iterate(f, v)
	if name, ok := a.take(1, "attribute", nil).(string); ok {
		items = slices.Clone(items)
		for i := range items {
			items[i] = item(f, items[i], name)
		}
	}
	return join(f, items, text(a.take(0, "d", "")))
}

func fallback(_ *frame, v any, a args) any {
	_, not := v.(missing)
	if not || truth(a.take(1, "boolean", false)) && !truth(v) {
		return a.take(0, "default_value", "")
	}
	return v
}

func itemsFilter(f *frame, v any, _ args) any {
	switch x := v.(type) {
	case *dict:
		return dictItems(f, x)
	case missing:
		return &list{}
	}
	throw(ErrRefused, "the items of %s", kind(v))
	return nil
}

func dictSort(f *frame, v any, _ args) any {
	d, ok := v.(*dict)
	if !ok {
		throw(ErrRefused, "dictsort of %s", kind(v))
	}
	l := dictItems(f, d)
	slices.SortStableFunc(l.items, func(a, b any) int {
		return strings.Compare(strings.ToLower(text(a.(*list).items[0])), strings.ToLower(text(b.(*list).items[0])))
	})
	return l
}

// edge is the first or the last of items.
func edge(items []any, i int) any {
	if i = fromEnd(i, len(items)); i >= 0 {
		return items[i]
	}
	return missing{"an item of nothing"}
}

func toInt(_ *frame, v any, a args) any {
	if s, ok := v.(string); ok {
		if i, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			return i
		}
		if x, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			v = x
		}
	}
	x, i, whole, ok := numeric(v)
	switch {
	case whole:
		return i
	case ok && math.Abs(x) < 1<<62:
		return int(x)
	}
	return a.take(0, "default", 0)
}

func toFloat(_ *frame, v any, a args) any {
	if s, ok := v.(string); ok {
		if x, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			return x
		}
	}
	if x, _, _, ok := numeric(v); ok {
		return x
	}
	return a.take(0, "default", 0.0)
}

func abs(f *frame, v any, _ args) any {
	if x, _, _, ok := numeric(v); ok && x < 0 {
		return arithmetic(f, "-", 0, v)
	}
	return v
}

// indent puts spaces before every line but the first, and before no empty one, unless it is told to.
func indent(f *frame, v any, a args) any {
	width, first, blanks := "    ", truth(a.take(1, "first", false)), truth(a.take(2, "blank", false))
	switch w := a.take(0, "width", 4).(type) {
	case int:
		width = strings.Repeat(" ", min(max(w, 0), 256))
	case string:
		width = w
	}
	lines := strings.Split(text(v), "\n")
	f.spend(len(lines) * len(width))
	for i, line := range lines {
		if (i > 0 || first) && (line != "" || blanks) {
			lines[i] = width + line
		}
	}
	return f.made(strings.Join(lines, "\n"))
}

func reverse(f *frame, v any, _ args) any {
	if s, ok := v.(string); ok {
		runes := []rune(s)
		slices.Reverse(runes)
		return f.made(string(runes))
	}
	items := slices.Clone(iterate(f, v))
	slices.Reverse(items)
	return &list{items}
}

func unique(f *frame, v any, _ args) any {
	out := &list{}
	for _, one := range iterate(f, v) {
		if !contains(f, out, one) {
			out.items = append(out.items, one)
		}
	}
	return out
}

// mapped takes an attribute of each, or puts each through a filter.
func mapped(f *frame, v any, a args) any {
	items := slices.Clone(iterate(f, v))
	f.step(len(items))
	if attr := a.take(-1, "attribute", nil); attr != nil {
		for i := range items {
			items[i] = item(f, items[i], attr)
			if _, not := items[i].(missing); not {
				items[i] = a.take(-1, "default", items[i])
			}
		}
		return &list{items}
	}
	apply, ok := f.filters[a.text(0, "filter")]
	if !ok {
		throw(ErrRefused, "there is no filter %q", a.text(0, "filter"))
	}
	for i := range items {
		items[i] = apply(f, items[i], a.rest())
	}
	return &list{items}
}

// chosen is select, reject and their like: those that pass a test, by themselves or with an attribute, or do not.
func chosen(f *frame, v any, a args, attr string, wanted bool) any {
	check := func(f *frame, v any, _ args) bool { return truth(v) }
	if len(a.plain) > 0 {
		name := a.text(0, "test")
		known, ok := tests[name]
		if !ok {
			throw(ErrRefused, "there is no test %q", name)
		}
		check = known
	}
	out := &list{}
	for _, one := range iterate(f, v) {
		f.step(1)
		of := one
		for _, part := range strings.Split(attr, ".") {
			if part != "" {
				of = item(f, of, part)
			}
		}
		if check(f, of, a.rest()) == wanted {
			out.items = append(out.items, one)
		}
	}
	return out
}

func extreme(f *frame, v any, sign int) any {
	items := iterate(f, v)
	best := edge(items, 0)
	for _, one := range items {
		if ordered(one, best)*sign > 0 {
			best = one
		}
	}
	return best
}
