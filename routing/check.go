package routing

import (
	"fmt"
	"slices"
	"strings"
)

// The slot graph: which plugins write and read which slot, and whether that can be in the order given. Slots meet by
// name here, so that one name with two types is one fault and not a missing writer beside it.

// writer is where a slot's value comes from.
type writer struct {
	part int // index into builder.parts; -1 is the caller
	slotUse
}

func (b *builder) checkSlots() {
	b.checkTypes()
	writers := b.checkWriters()
	b.checkReads(writers)
	b.checkUnused(writers)
	b.checkOrder(writers)
}

// checkTypes finds names that stand for two types.
func (b *builder) checkTypes() {
	first := map[string]slotUse{}
	check := func(at Fault, us []slotUse) {
		for _, u := range us {
			known, ok := first[u.name]
			if !ok {
				first[u.name] = u
			} else if known.id != u.id {
				at.Slot = u.name
				b.fault(at, "slot %q is %v here, but %v before", u.name, u.typ, known.typ)
			}
		}
	}
	check(Fault{Code: CodeTypeConflict, Pos: b.profilePos("given")}, uses(b.spec.Given))
	for _, p := range b.parts {
		check(p.fault(CodeTypeConflict), p.writes)
		check(p.fault(CodeTypeConflict), p.reads)
	}
	check(Fault{Code: CodeTypeConflict, Pos: b.profilePos("wanted")}, uses(b.spec.Wanted))
}

// checkWriters returns the first writer of each slot.
func (b *builder) checkWriters() map[string]writer {
	writers := map[string]writer{}
	for _, u := range uses(b.spec.Given) {
		writers[u.name] = writer{-1, u}
	}
	for i, p := range b.parts {
		for _, u := range p.writes {
			if w, taken := writers[u.name]; taken {
				b.fault(p.slotFault(CodeTwoWriters, u), "%s writes slot %q, which %s writes too", p.plugin.Name(),
					u.name, b.writerName(w))
				continue
			}
			writers[u.name] = writer{i, u}
		}
	}
	return writers
}

// checkReads finds slots that are read and never written.
func (b *builder) checkReads(writers map[string]writer) {
	if b.preparerUnknown {
		return // it may be the writer; its own fault comes first
	}
	for _, p := range b.parts {
		for _, u := range p.reads {
			if _, ok := writers[u.name]; !ok && !u.optional {
				b.fault(p.slotFault(CodeMissingWriter, u),
					"%s reads slot %q, which nothing writes", p.plugin.Name(), u.name)
			}
		}
	}
	for _, u := range uses(b.spec.Wanted) {
		if _, ok := writers[u.name]; !ok && !u.optional {
			b.fault(Fault{Code: CodeMissingWriter, Slot: u.name, Pos: b.profilePos("wanted")},
				"the caller reads slot %q, which nothing writes", u.name)
		}
	}
}

// checkUnused finds slots that are written and never read.
func (b *builder) checkUnused(writers map[string]writer) {
	if b.anyUnknown {
		return // it may be the reader; its own fault comes first
	}
	read := map[string]bool{}
	for _, u := range uses(b.spec.Wanted) {
		read[u.name] = true
	}
	for _, p := range b.parts {
		for _, u := range p.reads {
			read[u.name] = true
		}
	}
	for i, p := range b.parts {
		for _, u := range p.writes {
			if writers[u.name].part == i && !read[u.name] {
				b.fault(p.slotFault(CodeUnusedWrite, u), "%s writes slot %q, which nothing reads", p.plugin.Name(),
					u.name)
			}
		}
	}
}

// checkOrder finds Preparers that read a slot before it is written: a cycle where no order would do, else a wrong
// order. Later stages read after all Preparers and cannot be out of order.
func (b *builder) checkOrder(writers map[string]writer) {
	after := b.edges(writers)
	looped := make([]bool, len(b.parts))
	for i := range b.parts {
		if looped[i] {
			continue
		}
		if loop := loopThrough(after, i); loop != nil {
			b.cycle(loop)
			for j := range b.parts {
				looped[j] = looped[j] || reaches(after, i, j) && reaches(after, j, i)
			}
		}
	}
	for i, p := range b.parts {
		for _, u := range p.reads {
			w, ok := writers[u.name]
			if ok && w.part > i && !(looped[i] && reaches(after, i, w.part)) {
				b.fault(p.slotFault(CodeWrongOrder, u),
					"%s reads slot %q, which %s writes only later", p.plugin.Name(), u.name, b.writerName(w))
			}
		}
	}
}

// edges returns for each part the parts that read what it writes, ascending.
func (b *builder) edges(writers map[string]writer) [][]int {
	after := make([][]int, len(b.parts))
	for i, p := range b.parts {
		for _, u := range p.reads {
			if w, ok := writers[u.name]; ok && w.part >= 0 {
				after[w.part] = append(after[w.part], i)
			}
		}
	}
	return after
}

func (b *builder) cycle(loop []int) {
	names := make([]string, len(loop))
	for i, part := range loop {
		names[i] = b.parts[part].plugin.Name()
	}
	first := b.parts[loop[0]]
	b.fault(first.fault(CodeCycle), "each needs what the one before it writes: %s", strings.Join(names, " -> "))
}

func (b *builder) writerName(w writer) string {
	if w.part < 0 {
		return "the caller"
	}
	return b.parts[w.part].plugin.Name()
}

func (b *builder) profilePos(key string) string {
	return fmt.Sprintf("profiles.%s.%s", b.spec.Name, key)
}

// loopThrough returns the shortest way from i back to i, both ends included, or nil.
func loopThrough(after [][]int, i int) []int {
	came := search(after, i)
	if came[i] < 0 {
		return nil
	}
	loop := []int{i}
	for at := came[i]; at != i; at = came[at] {
		loop = append(loop, at)
	}
	loop = append(loop, i)
	slices.Reverse(loop)
	return loop
}

// reaches returns true if there is a way of at least one edge from i to j.
func reaches(after [][]int, i, j int) bool { return search(after, i)[j] >= 0 }

// search goes breadth first from i and returns from where each part was reached first; -1 is not reached.
func search(after [][]int, i int) []int {
	came := make([]int, len(after))
	for j := range came {
		came[j] = -1
	}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		for _, next := range after[queue[0]] {
			if came[next] < 0 {
				came[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return came
}
