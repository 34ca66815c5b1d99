package chattemplate

import (
	"slices"
	"sync"

	"octet/internal/poison"
)

// store is the memory of the values that a chat's JSON becomes, used for one chat after another. Its values alias the
// JSON and the store, and end with the rendering that they were made for. The zero store is ready to use.
type store struct {
	texts []byte // of strings with escapes; replaced, never moved, while anything aliases it
	vals  []any
	dicts []dict

	names []string // of members of objects that are being read
	stack []any    // values of lists and objects that are being read
	shape []string // names of the latest object, in order
}

// Memory that a store keeps from one chat to the next.
const (
	keptTexts  = 1 << 20
	keptValues = 1 << 14
)

// stores are used again: a store is one Render's, and what it rendered is a copy.
var stores = sync.Pool{New: func() any { return new(store) }}

// release forgets all values, and what an unusual chat has swollen.
func (s *store) release() {
	if cap(s.texts) > keptTexts || cap(s.vals)+cap(s.stack)+cap(s.names) > keptValues || cap(s.dicts) > keptValues {
		*s = store{}
	}
	poison.Bytes(s.texts)
	poison.Values(s.vals)
	clear(s.vals)
	clear(s.dicts)
	clear(s.names[:cap(s.names)])
	clear(s.stack[:cap(s.stack)])
	*s = store{texts: s.texts[:0], vals: s.vals[:0], dicts: s.dicts[:0], names: s.names[:0], stack: s.stack[:0]}
	stores.Put(s)
}

// room returns texts with room for n more bytes. What it had stays where it is.
func (s *store) room(n int) []byte {
	if cap(s.texts)-len(s.texts) < n {
		s.texts = make([]byte, 0, max(n, 4<<10))
	}
	return s.texts
}

// values moves what is on the stack from a place on to where it stays.
func (s *store) values(from int) []any {
	n := len(s.stack) - from
	if cap(s.vals)-len(s.vals) < n {
		s.vals = make([]any, 0, max(n, 2*cap(s.vals), 256))
	}
	at := len(s.vals)
	s.vals = append(s.vals, s.stack[from:]...)
	s.stack = s.stack[:from]
	return s.vals[at : at+n : at+n]
}

func (s *store) list(from int) *list { return &list{s.values(from)} }

// dict makes one of the names and values that were read from there on.
func (s *store) dict(from, names int) *dict {
	if len(s.dicts) == cap(s.dicts) {
		s.dicts = make([]dict, 0, max(2*cap(s.dicts), 16))
	}
	s.dicts = append(s.dicts, dict{})
	d, keys := &s.dicts[len(s.dicts)-1], s.names[names:]
	s.names = s.names[:names]
	switch {
	case slices.Equal(keys, s.shape): // as the messages of a chat mostly have
		d.keys, d.vals = s.shape, s.values(from)
	case len(keys) <= manyKeys && distinct(keys):
		s.shape = slices.Clip(slices.Clone(keys))
		d.keys, d.vals = s.shape, s.values(from)
	default:
		for i, v := range s.values(from) {
			d.put(keys[i], v)
		}
	}
	return d
}

func distinct(keys []string) bool {
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			return false
		}
	}
	return true
}

// What most messages hold, made values once.
var user, assistant, system, tool, kindText, function_ any = "user", "assistant", "system", "tool", "text", "function"

func boxed(s string) any {
	switch s {
	case "user":
		return user
	case "assistant":
		return assistant
	case "system":
		return system
	case "tool":
		return tool
	case "text":
		return kindText
	case "function":
		return function_
	}
	return s
}
