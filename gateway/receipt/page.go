package receipt

import (
	"unsafe"

	"octet/internal/poison"
)

// page is memory for receipts that lie one behind the other: writing the next one meets memory that the processor has
// fetched ahead. What writes a page has all of it to itself: the lock of its Ring.
type page struct {
	first    int               // receipts in the Ring before those of this page
	text     []byte            // the receipts
	shared   []unsafe.Pointer  // what they refer to by number, from 1; each once
	entries  []entry           // one for each receipt
	verdicts map[int]*verdicts // of those that were found, by their place in entries
}

// entry is where a receipt begins.
type entry struct {
	key uint64 // of its id
	at  int
}

// pageSize is from how many bytes on a page is full.
const pageSize = 64 << 10

func (p *page) full() bool { return len(p.text) >= pageSize }

// add writes r behind the receipts that are there.
func (p *page) add(key uint64, r *Receipt) {
	p.entries = append(p.entries, entry{key, len(p.text)})
	p.text = p.write(p.text, whole, unsafe.Pointer(r))
}

// number returns by what a receipt refers to a pointer that is shared.
func (p *page) number(to unsafe.Pointer) int {
	for i, known := range p.shared {
		if known == to {
			return i + 1
		}
	}
	p.shared = append(p.shared, to)
	return len(p.shared)
}

// read returns a receipt as it was put, with its verdicts. It shares no bytes with p.
func (p *page) read(i int) *Receipt {
	if p.verdicts[i] == nil {
		if p.verdicts == nil {
			p.verdicts = map[int]*verdicts{}
		}
		p.verdicts[i] = new(verdicts)
	}
	r := p.decode(i)
	r.verdicts = p.verdicts[i]
	return r
}

// decode returns a receipt as it was put.
func (p *page) decode(i int) *Receipt {
	r, from := new(Receipt), reader{text: p.text[p.entries[i].at:], shared: p.shared}
	from.read(whole, unsafe.Pointer(r))
	return r
}

// reset makes p an empty page. Nothing else has its memory: what is read is copied.
func (p *page) reset() {
	poison.Bytes(p.text)
	clear(p.shared)
	p.text, p.shared, p.entries, p.verdicts = p.text[:0], p.shared[:0], p.entries[:0], nil
}
