package chattemplate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// attribute is of.name: a method, a mapping's member, or missing.
func attribute(of any, name string) any {
	switch x := of.(type) {
	case *dict:
		if m, ok := dictMethods[name]; ok && !x.space {
			return function(func(f *frame, a args) any { return m(f, x, a) })
		}
		if v, ok := x.get(name); ok {
			return v
		}
	case string:
		if m, ok := stringMethods[name]; ok {
			return function(func(f *frame, a args) any { return m(f, x, a) })
		}
	case *list:
		if m, ok := listMethods[name]; ok {
			return function(func(f *frame, a args) any { return m(f, x, a) })
		}
	case missing:
		throw(ErrRefused, "%q of %s", name, kind(of))
	}
	return missing{name}
}

// take returns argument i, by place or by name; def when it is not given.
func (a args) take(i int, name string, def any) any {
	if i >= 0 && i < len(a.plain) {
		return a.plain[i]
	}
	if n := slices.Index(a.names, name); n >= 0 {
		return a.named[n]
	}
	return def
}

// text returns argument i, which must be text.
func (a args) text(i int, name string) string {
	s, ok := a.take(i, name, nil).(string)
	if !ok {
		throw(ErrRefused, "%s, where text is wanted as %s", kind(a.take(i, name, nil)), name)
	}
	return s
}

// count returns argument i, which must be a whole number if it is given.
func (a args) count(i int, name string, def int) int {
	n, ok := a.take(i, name, def).(int)
	if !ok {
		throw(ErrRefused, "%s, where a number is wanted as %s", kind(a.take(i, name, nil)), name)
	}
	return n
}

var dictMethods = map[string]func(*frame, *dict, args) any{
	"items": func(f *frame, d *dict, _ args) any { return dictItems(f, d) },
	"keys":  func(f *frame, d *dict, _ args) any { f.step(len(d.keys)); return stringList(d.keys) },
	"values": func(f *frame, d *dict, _ args) any {
		f.step(len(d.keys))
		return &list{slices.Clone(d.vals)}
	},
	"get": func(_ *frame, d *dict, a args) any {
		key, _ := a.take(0, "key", nil).(string)
		if v, ok := d.get(key); ok {
			return v
		}
		return a.take(1, "default", nil)
	},
}

// dictItems is the list of a mapping's keys and values.
func dictItems(f *frame, d *dict) *list {
	f.step(len(d.keys))
	l := &list{make([]any, len(d.keys))}
	for i, key := range d.keys {
		l.items[i] = &list{[]any{key, d.vals[i]}}
	}
	return l
}

var listMethods = map[string]func(*frame, *list, args) any{
	"count": func(f *frame, l *list, a args) any {
		n := 0
		for _, v := range l.items {
			if equal(f, v, a.take(0, "value", nil)) {
				n++
			}
		}
		return n
	},
	"index": func(f *frame, l *list, a args) any {
		for i, v := range l.items {
			if equal(f, v, a.take(0, "value", nil)) {
				return i
			}
		}
		throw(ErrRefused, "index of what is not in a list")
		return nil
	},
}

var stringMethods = map[string]func(*frame, string, args) any{
	"strip":  func(f *frame, s string, a args) any { return strip(f, s, a, true, true) },
	"lstrip": func(f *frame, s string, a args) any { return strip(f, s, a, true, false) },
	"rstrip": func(f *frame, s string, a args) any { return strip(f, s, a, false, true) },
	"split":  func(f *frame, s string, a args) any { return split(f, s, a, strings.SplitN) },
	"rsplit": func(f *frame, s string, a args) any { return split(f, s, a, rsplitN) },
	"splitlines": func(f *frame, s string, _ args) any {
		f.step(len(s) >> 4)
		lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		return stringList(lines)
	},
	"startswith": func(f *frame, s string, a args) any { return ends(f, s, a, strings.HasPrefix) },
	"endswith":   func(f *frame, s string, a args) any { return ends(f, s, a, strings.HasSuffix) },
	"replace": func(f *frame, s string, a args) any {
		old, with, n := a.text(0, "old"), a.text(1, "new"), a.count(2, "count", -1)
		f.spend(len(s) + (strings.Count(s, old)+1)*len(with))
		return f.made(strings.Replace(s, old, with, n))
	},
	"removeprefix": func(_ *frame, s string, a args) any { return strings.TrimPrefix(s, a.text(0, "prefix")) },
	"removesuffix": func(_ *frame, s string, a args) any { return strings.TrimSuffix(s, a.text(0, "suffix")) },
	"upper":        func(f *frame, s string, _ args) any { return f.made(strings.ToUpper(s)) },
	"lower":        func(f *frame, s string, _ args) any { return f.made(strings.ToLower(s)) },
	"title":        func(f *frame, s string, _ args) any { return f.made(title(s)) },
	"capitalize":   func(f *frame, s string, _ args) any { return f.made(capitalize(s)) },
	"find":         func(f *frame, s string, a args) any { return place(f, s, strings.Index(s, a.text(0, "sub"))) },
	"rfind":        func(f *frame, s string, a args) any { return place(f, s, strings.LastIndex(s, a.text(0, "sub"))) },
	"count": func(f *frame, s string,
		a args) any {
		f.step(len(s) >> 6)
		return strings.Count(s, a.text(0, "sub"))
	},
	"join":    func(f *frame, s string, a args) any { return join(f, iterate(f, a.take(0, "iterable", nil)), s) },
	"isdigit": func(f *frame, s string, _ args) any { return all(f, s, unicode.IsDigit) },
	"isalpha": func(f *frame, s string, _ args) any { return all(f, s, unicode.IsLetter) },
	"isspace": func(f *frame, s string, _ args) any { return all(f, s, isSpace) },
}

// isSpace is what Python's strip takes for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func strip(f *frame, s string, a args, left, right bool) string {
	f.step(len(s) >> 6)
	cut := isSpace
	if chars, ok := a.take(0, "chars", nil).(string); ok {
		cut = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

func split(f *frame, s string, a args, by func(s, sep string, n int) []string) any {
	f.step(len(s) >> 4)
	most := a.count(1, "maxsplit", -1)
	if most >= 0 {
		most++
	}
	if a.take(0, "sep", nil) != nil {
		sep := a.text(0, "sep")
		if sep == "" {
			throw(ErrRefused, "split by nothing")
		}
		return stringList(by(s, sep, most))
	}
	if most >= 0 {
		throw(ErrRefused, "split by white space, and at most so often")
	}
	return stringList(strings.FieldsFunc(s, isSpace))
}

// rsplitN is strings.SplitN from the right.
func rsplitN(s, sep string, n int) []string {
	parts := strings.Split(s, sep)
	if n < 0 || len(parts) <= n {
		return parts
	}
	head := len(parts) - n + 1
	return append([]string{strings.Join(parts[:head], sep)}, parts[head:]...)
}

// ends tests for one beginning or end, or for any of a tuple.
func ends(f *frame, s string, a args, has func(s, part string) bool) bool {
	if l, ok := a.take(0, "prefix", nil).(*list); ok {
		return slices.ContainsFunc(iterate(f, l), func(v any) bool {
			part, ok := v.(string)
			return ok && has(s, part)
		})
	}
	return has(s, a.text(0, "prefix"))
}

// place turns an index in bytes into one in characters.
func place(f *frame, s string, i int) int {
	f.step(len(s) >> 6)
	if i < 0 {
		return -1
	}
	return utf8.RuneCountInString(s[:i])
}

func all(f *frame, s string, is func(rune) bool) bool {
	f.step(len(s) >> 6)
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !is(r) }) < 0
}

func join(f *frame, items []any, sep string) string {
	var out strings.Builder
	for i, v := range items {
		if i > 0 {
			out.WriteString(sep)
		}
		out.WriteString(text(v))
		f.spend(out.Len())
		f.step(1)
	}
	return f.made(out.String())
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[n:])
}

// title begins every word with a capital, as str.title does: a word is letters.
func title(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		was := inside
		inside = unicode.IsLetter(r)
		if was {
			return unicode.ToLower(r)
		}
		return unicode.ToTitle(r)
	}, s)
}
