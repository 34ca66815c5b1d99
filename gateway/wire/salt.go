package wire

import "fmt"

// MaxNameBytes bounds what becomes part of a block's hash and of an engine's cache events by its name: a cache_salt.
// Events with longer names are refused.
const MaxNameBytes = 256

// salt checks a cache_salt, which passes through as it is.
func (p *parser) salt() {
	var t text
	p.Peek()
	at := p.i
	if p.string(&t) && len(p.bytes(p.plain(t))) > MaxNameBytes {
		p.refuseAt(at, CodeInvalidValue, fmt.Sprintf("must be at most %d bytes", MaxNameBytes))
	}
}
