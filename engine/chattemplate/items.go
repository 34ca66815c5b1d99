package chattemplate

import (
	"unicode/utf8"
)

// iterate returns what a for goes through.
func iterate(f *frame, v any) []any {
	switch x := v.(type) {
	case *list:
		return x.items
	case missing:
		return nil
	case *dict:
		return stringList(x.keys).items
	case string:
		f.step(len(x))
		var out []any
		for _, r := range x {
			out = append(out, string(r))
		}
		return out
	}
	throw(ErrRefused, "%s cannot be gone through", kind(v))
	return nil
}

func stringList(all []string) *list {
	l := &list{make([]any, len(all))}
	for i, s := range all {
		l.items[i] = s
	}
	return l
}

// item is of[key].
func item(f *frame, of, key any) any {
	switch x := of.(type) {
	case *dict:
		if s, ok := key.(string); ok {
			if v, ok := x.get(s); ok {
				return v
			}
			return attribute(of, s)
		}
		return missing{text(key)}
	case missing:
		throw(ErrRefused, "an item of %s", kind(of))
	case nil:
		return missing{text(key)}
	}
	if s, ok := key.(string); ok {
		return attribute(of, s)
	}
	_, i, whole, ok := numeric(key)
	if !ok || !whole {
		return missing{text(key)}
	}
	switch x := of.(type) {
	case *list:
		if i = fromEnd(i, len(x.items)); i >= 0 {
			return x.items[i]
		}
	case string:
		f.step(len(x) >> 6)
		if i = fromEnd(i, utf8.RuneCountInString(x)); i >= 0 {
			return string([]rune(x)[i])
		}
	}
	return missing{text(key)}
}

// fromEnd returns an index that may count from the end; -1 when there is no such item of n.
func fromEnd(i, n int) int {
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return -1
	}
	return i
}

// slicing is of[at[0]:at[1]:at[2]].
func slicing(f *frame, of any, at [3]any) any {
	switch x := of.(type) {
	case string:
		f.step(len(x) >> 4)
		runes := []rune(x)
		var out []rune
		indices(at, len(runes), func(i int) { out = append(out, runes[i]) })
		return string(out)
	case *list:
		f.step(len(x.items))
		out := &list{}
		indices(at, len(x.items), func(i int) { out.items = append(out.items, x.items[i]) })
		return out
	}
	throw(ErrRefused, "a slice of %s", kind(of))
	return nil
}

// indices calls take with the indices that a slice of n items has, as Python counts them.
func indices(at [3]any, n int, take func(int)) {
	bound := func(v any, def, least, most int) int {
		if v == nil {
			return def
		}
		_, i, whole, ok := numeric(v)
		if !ok || !whole {
			throw(ErrRefused, "a slice up to %s", kind(v))
		}
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	step := 1
	if at[2] != nil {
		_, i, whole, ok := numeric(at[2])
		if !ok || !whole {
			throw(ErrRefused, "a slice in steps of %s", kind(at[2]))
		}
		step = i
	}
	switch {
	case step == 0:
		throw(ErrRefused, "a slice in steps of zero")
	case step > 0:
		for i, end := bound(at[0], 0, 0, n), bound(at[1], n, 0, n); i < end; i += min(step, n) {
			take(i)
		}
	default:
		for i, end := bound(at[0], n-1, -1, n-1), bound(at[1], -1, -1, n-1); i > end; i += max(step, -n) {
			take(i)
		}
	}
}
