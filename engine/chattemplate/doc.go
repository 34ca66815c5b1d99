// Package chattemplate renders a chat as a model's own Jinja template does, byte for byte as Hugging Face's
// transformers render it: trim_blocks and lstrip_blocks, Python's values, tojson with the request's order of keys,
// raise_exception and strftime_now.
//
//	source ──layout──▶ segments ──reader──▶ statements, of expressions ──Render(messages, tools, …)──▶ prompt text
//	         whitespace.go        statement.go, loop.go  expr.go, postfix.go, ops.go, methods.go, filters.go, tests.go
//
// A chat's JSON is read where it lies (decode.go) into memory that is used again (store.go). What templates do for
// every message has short cuts (quick.go), which a template that is read plainly does without.
//
// It knows the part of Jinja that chat templates use; what it does not know is refused when the template is read. The
// libraries at hand take other ways in what such templates hold: an index from the end, the order of a mapping's items.
//
// Invariants:
//
//  1. A template reads nothing but what Render is given: it cannot include, import or extend.
//  2. Rendering is bounded in output, steps, nesting and time; what goes beyond is ErrTooLarge.
//  3. Short cuts give what the plain way gives, errors and bounds included.
//  4. What a template raises, or does not know how to render, is ErrRefused: never another text.
package chattemplate
