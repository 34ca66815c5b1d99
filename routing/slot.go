package routing

import (
	"fmt"
	"reflect"
	"sync"
)

// maxSlots bounds the slots of one process: it is the width of a slotSet.
const maxSlots = 256

// Slot is a typed place in a request's Context. Its name and type are its identity: two NewSlot calls with the same
// name and type give the same slot; with the same name and another type, two slots that no profile may use together.
type Slot[T any] struct {
	id   uint16 // index into Context.cells; 0 is no slot
	info *slotInfo
}

// AnySlot is a Slot of any type: what plugins declare.
type AnySlot interface {
	Name() string
	use() slotUse
}

// slotInfo is what is known of a slot for life.
type slotInfo struct {
	id   uint16
	name string
	typ  reflect.Type
}

// slotUse is a slot as a plugin declares it.
type slotUse struct {
	*slotInfo
	optional bool
}

// declared holds the slots of the process. Slots are package variables, so it only grows while packages are
// initialised.
var declared struct {
	mu  sync.Mutex
	all []*slotInfo // guarded by mu; ids are positions plus one
}

// NewSlot declares a slot. It is meant for package variables: it takes a lock and searches. It panics on an empty name
// and when the process has more than 255 slots.
func NewSlot[T any](name string) Slot[T] {
	if name == "" {
		panic("routing: a slot without a name")
	}
	declared.mu.Lock()
	defer declared.mu.Unlock()
	typ := reflect.TypeFor[T]()
	for _, info := range declared.all {
		if info.name == name && info.typ == typ {
			return Slot[T]{info.id, info}
		}
	}
	info := &slotInfo{id: uint16(len(declared.all) + 1), name: name, typ: typ}
	if info.id >= maxSlots {
		panic(fmt.Sprintf("routing: slot %q is number %d, at most %d fit", name, info.id, maxSlots-1))
	}
	declared.all = append(declared.all, info)
	return Slot[T]{info.id, info}
}

// Name returns the slot's name.
func (s Slot[T]) Name() string { return s.use().name }

// Put writes v into the slot of this request. Only a Preparer that declares the slot in Writes may, or the caller
// outside of a Select; anything else is a bug and panics. It allocates when this pooled Context meets the slot for the
// first time.
func (s Slot[T]) Put(c *Context, v T) {
	if !c.running.writes.has(s.id) {
		c.running.trespass("writes", s.id)
	}
	place := s.cell(c)
	if place == nil {
		place = s.settle(c)
	}
	place.value, place.written = v, c.generation
}

// Get returns what was put in the slot in this request, or the zero value. Only a plugin that declares the slot may
// read it.
func (s Slot[T]) Get(v View) (value T) {
	if place := s.read(v); place != nil {
		value = place.value
	}
	return value
}

func (s Slot[T]) read(v View) *cell[T] {
	c := v.c
	if !c.running.reads.has(s.id) {
		c.running.trespass("reads", s.id)
	}
	if int(s.id) < len(c.cells) {
		if place, _ := c.cells[s.id].(*cell[T]); place != nil && place.written == c.generation {
			return place
		}
	}
	return nil
}

// Has returns true if the slot was written in this request.
func (s Slot[T]) Has(v View) bool {
	if !v.c.running.reads.has(s.id) {
		v.c.running.trespass("reads", s.id)
	}
	place := s.cell(v.c)
	return place != nil && place.written == v.c.generation
}

// Spare returns the value that the slot held in an earlier request of this pooled Context, or the zero value: a buffer
// to fill and Put again. Nothing else refers to it. It is the zero value once the slot is written in this request.
func (s Slot[T]) Spare(c *Context) (value T) {
	if place := s.cell(c); place != nil && place.written != c.generation {
		return place.value
	}
	return value
}

func (s Slot[T]) cell(c *Context) *cell[T] {
	if int(s.id) >= len(c.cells) {
		return nil
	}
	place, _ := c.cells[s.id].(*cell[T])
	return place
}

// outside stands for code that runs outside of a Select: it may touch every slot.
var outside = &unit{reads: all, writes: all}

// all is the set of all slots.
var all = slotSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// trespass panics: the plugin does something with a slot that it has not declared.
func (u *unit) trespass(does string, id uint16) {
	declared.mu.Lock()
	defer declared.mu.Unlock()
	name := "" // of no slot
	if id > 0 {
		name = declared.all[id-1].name
	}
	panic(fmt.Sprintf("routing: %s %s slot %q, which it does not declare", u.name, does, name))
}

// settle gives the slot its cell in c, for life.
func (s Slot[T]) settle(c *Context) *cell[T] {
	for len(c.cells) <= int(s.use().id) {
		c.cells = append(c.cells, nil)
	}
	place := new(cell[T])
	c.cells[s.id] = place
	return place
}

func (s Slot[T]) use() slotUse {
	if s.info == nil {
		panic("routing: a Slot that NewSlot did not make")
	}
	return slotUse{slotInfo: s.info}
}

// cell is a slot's place in one Context.
type cell[T any] struct {
	value   T
	written uint64 // generation of the Context in which value was put
}

// Optional declares a read that a profile may leave without a writer. Where there is a writer, order and type are
// checked as for any other read.
func Optional(s AnySlot) AnySlot {
	u := s.use()
	u.optional = true
	return u
}

// Name returns the slot's name.
func (u slotUse) Name() string { return u.name }

func (u slotUse) use() slotUse { return u }

// slotSet is a set of slot ids.
type slotSet [maxSlots / 64]uint64

func (s *slotSet) add(id uint16)      { s[id>>6] |= 1 << (id & 63) }
func (s *slotSet) has(id uint16) bool { return s[id>>6&3]&(1<<(id&63)) != 0 }

func (s *slotSet) join(o *slotSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *slotSet) covers(o *slotSet) bool {
	for i := range s {
		if o[i]&^s[i] != 0 {
			return false
		}
	}
	return true
}

func (s *slotSet) meets(o *slotSet) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}
