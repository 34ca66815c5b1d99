package chattemplate

import "strings"

type test func(f *frame, v any, a args) bool

// tests are those of Jinja that chat templates use.
var tests = map[string]test{
	"defined":   func(_ *frame, v any, _ args) bool { _, not := v.(missing); return !not },
	"undefined": func(_ *frame, v any, _ args) bool { _, not := v.(missing); return not },
	"none":      func(_ *frame, v any, _ args) bool { return v == nil },
	"string":    func(_ *frame, v any, _ args) bool { _, ok := v.(string); return ok },
	"mapping":   func(_ *frame, v any, _ args) bool { d, ok := v.(*dict); return ok && !d.space },
	"sequence":  sequence, "iterable": sequence,
	"number":   func(_ *frame, v any, _ args) bool { _, _, _, ok := numeric(v); return ok },
	"integer":  func(_ *frame, v any, _ args) bool { _, ok := v.(int); return ok },
	"float":    func(_ *frame, v any, _ args) bool { _, ok := v.(float64); return ok },
	"boolean":  func(_ *frame, v any, _ args) bool { _, ok := v.(bool); return ok },
	"true":     func(_ *frame, v any, _ args) bool { b, ok := v.(bool); return ok && b },
	"false":    func(_ *frame, v any, _ args) bool { b, ok := v.(bool); return ok && !b },
	"callable": func(_ *frame, v any, _ args) bool { _, ok := v.(function); return ok },
	"lower":    func(_ *frame, v any, _ args) bool { return text(v) == strings.ToLower(text(v)) },
	"upper":    func(_ *frame, v any, _ args) bool { return text(v) == strings.ToUpper(text(v)) },
	"odd":      func(f *frame, v any, _ args) bool { return arithmetic(f, "%", v, 2) == 1 },
	"even":     func(f *frame, v any, _ args) bool { return arithmetic(f, "%", v, 2) == 0 },
	"divisibleby": func(f *frame, v any, a args) bool {
		return arithmetic(f, "%", v, a.take(0, "num", nil)) == 0
	},
	"in":      func(f *frame, v any, a args) bool { return contains(f, a.take(0, "seq", nil), v) },
	"equalto": comparing("=="), "eq": comparing("=="), "==": comparing("=="), "sameas": comparing("=="),
	"ne": comparing("!="), "!=": comparing("!="),
	"lt": comparing("<"), "lessthan": comparing("<"), "<": comparing("<"), "le": comparing("<="), "<=": comparing("<="),
	"gt": comparing(">"), "greaterthan": comparing(">"), ">": comparing(">"), "ge": comparing(">="),
	">=": comparing(">="),
}

// sequence holds of what can be gone through, a text and what is missing included, as in Jinja.
func sequence(_ *frame, v any, _ args) bool {
	switch v.(type) {
	case string, *list, *dict, missing:
		return true
	}
	return false
}

func comparing(op string) test {
	return func(f *frame, v any, a args) bool { return compare(f, op, v, a.take(0, "other", nil)) }
}
