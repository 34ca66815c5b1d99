package wire

import (
	"maps"
	"slices"
	"strings"
)

// Form is what the value of a Member must be; null stands for none in every form.
type Form uint8

// The forms of values.
const (
	FormAny     Form = iota // any JSON
	FormFlag                // true or false
	FormWhole               // an integer from Lo to Hi
	FormReal                // a number from Lo to Hi
	FormText                // a string of at most Hi bytes, as it is written; Hi 0 is no bound of its own
	FormTexts               // a string, or a list of strings of at most Hi bytes
	FormWholes              // a list of integers from Lo to Hi
	FormWeights             // numbers from Lo to Hi by name, or a list of pairs
	FormObject              // an object
	FormObjects             // a list of objects
)

// Member is a top-level member of a body that means something to engines.
type Member struct {
	Name   string
	Takers uint32 // a set of engines that take it; none: it is refused
	Form   Form   // what Parse reads by itself has its own
	Lo, Hi float64
	Not    []string // members that its object must not have
}

// Vocabulary is what bodies may hold. A nil one takes every member that it does not read, and has no takers.
type Vocabulary struct {
	chat, completion *table
	prefixes         []string
	tools            KnownTools // of chats
}

// everyTaker is the set of all engines.
const everyTaker = ^uint32(0)

// NewVocabulary makes one of members; those that Parse reads and that are not among them are taken by all. Names that
// begin with one of prefixes are refused.
func NewVocabulary(members []Member, prefixes []string) *Vocabulary {
	return &Vocabulary{
		chat: tableOf(members, chatParams, sharedParams), completion: tableOf(members, completionParams, sharedParams),
		prefixes: prefixes,
	}
}

// bare is the vocabulary of bodies whose other members do not matter.
var bare = NewVocabulary(nil, nil)

func (v *Vocabulary) of(kind Kind) *table {
	if v == nil {
		v = bare
	}
	if kind == Completion {
		return v.completion
	}
	return v.chat
}

func (v *Vocabulary) knownTools() *KnownTools {
	if v == nil {
		v = bare
	}
	return &v.tools
}

// table finds entries by name: in slots, so that a look costs less than one into a map.
type table [256][]entry

type entry struct {
	hash   uint64 // of the name
	name   string
	read   reader // nil of one that is judged by its form
	bit    uint64 // one of its own in the table, where Parse reads it; else 0
	takers uint32
	long   bool // its size is bounded by other limits
	member *Member
}

// slotOf spreads hashes by Fibonacci hashing.
func slotOf(hash uint64) uint64 { return hash * 0x9E3779B97F4A7C15 >> 56 }

// tableOf makes one table of several; of two with one name the first counts.
func tableOf(members []Member, all ...map[string]reader) *table {
	t := new(table)
	takers := map[string]*Member{}
	for i := range members {
		takers[members[i].Name] = &members[i]
	}
	bit := uint64(1)
	for _, params := range all {
		for _, name := range slices.Sorted(maps.Keys(params)) {
			if t.find([]byte(name), hashOf([]byte(name))) != nil {
				continue
			}
			e := entry{name: name, read: params[name], bit: bit, takers: everyTaker, long: longParams[name]}
			if m := takers[name]; m != nil && m.Takers != 0 {
				e.takers = m.Takers
			}
			t.add(e)
			if bit <<= 1; bit == 0 {
				panic("wire: more than 63 parameters")
			}
		}
	}
	for i := range members {
		m := &members[i]
		if t.find([]byte(m.Name), hashOf([]byte(m.Name))) == nil {
			t.add(entry{name: m.Name, takers: m.Takers, member: m})
		}
	}
	return t
}

func (t *table) add(e entry) {
	e.hash = hashOf([]byte(e.name))
	t[slotOf(e.hash)] = append(t[slotOf(e.hash)], e)
}

func (t *table) find(name []byte, hash uint64) *entry {
	slot := t[slotOf(hash)]
	for i := range slot {
		e := &slot[i]
		if e.hash == hash && len(e.name) == len(name) && (len(name) <= 8 || e.name == string(name)) {
			return e
		}
	}
	return nil
}

// refused reports whether a member of this name must not be anywhere in a body.
func (p *parser) refuses(name []byte, hash uint64) bool {
	if e := p.table.find(name, hash); e != nil && e.takers == 0 {
		return true
	}
	return p.lim.Members != nil && slices.ContainsFunc(p.lim.Members.prefixes, func(prefix string) bool {
		return strings.HasPrefix(string(name), prefix)
	})
}

// Unknown is the path of the first member that the vocabulary does not have, or "".
func (r *Request) Unknown() string { return r.unknown }

// TakenBy reports whether one of the engines takes every member of the body.
func (r *Request) TakenBy(engines uint32) bool { return r.unknown == "" && r.takers&engines != 0 }

// TakenByAll reports whether every member is known, and whatever engine there is takes it.
func (r *Request) TakenByAll() bool { return r.unknown == "" && r.takers == everyTaker }

// NotTaken is the path of a member that none of the engines takes, or "".
func (r *Request) NotTaken(engines uint32, v *Vocabulary) string {
	if r.unknown != "" {
		return r.unknown
	}
	t := v.of(r.Kind)
	for i := range r.members {
		m := &r.members[i]
		name := r.p.bytes(m.name)
		if e := t.find(name, hashOf(name)); e != nil && e.takers&engines == 0 && r.p.b[m.off] != 'n' {
			return e.name
		}
	}
	return ""
}
