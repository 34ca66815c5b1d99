package chattemplate

import (
	"math"
	"strings"
)

// numeric returns v as Python counts it: True is 1. whole says that it is no float.
func numeric(v any) (x float64, i int, whole, ok bool) {
	switch n := v.(type) {
	case bool:
		if n {
			return 1, 1, true, true
		}
		return 0, 0, true, true
	case int:
		return float64(n), n, true, true
	case float64:
		return n, 0, false, true
	}
	return 0, 0, false, false
}

// arithmetic computes left op right.
func arithmetic(f *frame, op string, left, right any) any {
	if op == "~" {
		return f.made(text(left) + text(right))
	}
	if s, ok := left.(string); ok {
		if t, ok := right.(string); ok && op == "+" {
			return f.made(s + t)
		}
		if n, ok := right.(int); ok && op == "*" {
			f.spend(len(s) * max(min(n, maxOutput), 0))
			return f.made(strings.Repeat(s, max(n, 0)))
		}
	}
	if l, ok := left.(*list); ok && op == "+" {
		if r, ok := right.(*list); ok {
			f.step(len(l.items) + len(r.items))
			return &list{append(append([]any(nil), l.items...), r.items...)}
		}
	}
	x, i, whole1, ok1 := numeric(left)
	y, j, whole2, ok2 := numeric(right)
	if !ok1 || !ok2 {
		throw(ErrRefused, "%s %s %s", kind(left), op, kind(right))
	}
	if whole1 && whole2 && op != "/" {
		return whole(op, i, j)
	}
	return floats(op, x, y)
}

func whole(op string, i, j int) int {
	switch {
	case op == "+":
		return i + j
	case op == "-":
		return i - j
	case op == "*":
		return i * j
	case j == 0:
		throw(ErrRefused, "a division by zero")
	}
	quotient, rest := i/j, i%j
	if rest != 0 && (rest < 0) != (j < 0) {
		quotient, rest = quotient-1, rest+j
	}
	if op == "//" {
		return quotient
	}
	return rest
}

func floats(op string, x, y float64) float64 {
	switch {
	case op == "+":
		return x + y
	case op == "-":
		return x - y
	case op == "*":
		return x * y
	case y == 0:
		throw(ErrRefused, "a division by zero")
	case op == "/":
		return x / y
	}
	quotient := math.Floor(x / y)
	if op == "//" {
		return quotient
	}
	return x - quotient*y
}

// compare computes left op right for a comparison.
func compare(f *frame, op string, left, right any) bool {
	f.step(1)
	switch op {
	case "==":
		return equal(f, left, right)
	case "!=":
		return !equal(f, left, right)
	case "in":
		return contains(f, right, left)
	case "not in":
		return !contains(f, right, left)
	}
	order := ordered(left, right)
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// ordered compares numbers or texts.
func ordered(left, right any) int {
	if s, ok := left.(string); ok {
		if t, ok := right.(string); ok {
			return strings.Compare(s, t)
		}
	}
	x, _, _, ok1 := numeric(left)
	y, _, _, ok2 := numeric(right)
	switch {
	case !ok1 || !ok2:
		throw(ErrRefused, "%s and %s have no order", kind(left), kind(right))
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func equal(f *frame, left, right any) bool {
	f.step(1)
	switch l := left.(type) {
	case string:
		r, ok := right.(string)
		return ok && l == r
	case nil:
		return right == nil
	case missing:
		_, ok := right.(missing)
		return ok
	case *list:
		r, ok := right.(*list)
		if !ok || len(l.items) != len(r.items) {
			return ok && l == r
		}
		for i := range l.items {
			if !equal(f, l.items[i], r.items[i]) {
				return false
			}
		}
		return true
	case *dict:
		return equalDicts(f, l, right)
	}
	x, _, _, ok1 := numeric(left)
	y, _, _, ok2 := numeric(right)
	return ok1 && ok2 && x == y
}

func equalDicts(f *frame, l *dict, right any) bool {
	r, ok := right.(*dict)
	if !ok || l == r || len(l.keys) != len(r.keys) {
		return ok && l == r
	}
	for i, key := range l.keys {
		v, ok := r.get(key)
		if !ok || !equal(f, l.vals[i], v) {
			return false
		}
	}
	return true
}

// contains computes v in whole.
func contains(f *frame, whole, v any) bool {
	switch w := whole.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			throw(ErrRefused, "%s in a text", kind(v))
		}
		f.step(len(w) >> 6)
		return strings.Contains(w, s)
	case *dict:
		s, ok := v.(string)
		_, in := w.get(s)
		return ok && in
	}
	for _, one := range iterate(f, whole) {
		if equal(f, one, v) {
			return true
		}
	}
	return false
}
