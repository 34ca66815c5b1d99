package trace

import (
	"strings"
)

// ID is the id of a span. Zero is none.
type ID uint64

// Context is what one span tells another process: W3C's trace context. The zero Context is none.
type Context struct {
	Trace string // 32 hex digits
	Span  ID
	Flags byte
	State string // tracestate as it came; "" if there is none
}

// sampledFlag says that a trace is recorded.
const sampledFlag = 1

// Sampled reports whether the span's trace is recorded.
func (c *Context) Sampled() bool { return c.Flags&sampledFlag != 0 }

// Where the fields of a traceparent are: version-trace-span-flags.
const (
	traceAt   = len("00-")
	spanAt    = traceAt + traceSize + 1
	flagsAt   = spanAt + spanSize + 1
	wholeSize = flagsAt + 2
	traceSize = 32
	spanSize  = 16
)

// Parent is the value of a traceparent header for a span of the same trace.
func (c *Context) Parent(span ID) string {
	var b [wholeSize]byte
	copy(b[:], "00-")
	copy(b[traceAt:], c.Trace)
	b[spanAt-1], b[flagsAt-1], b[flagsAt] = '-', '-', digits[c.Flags>>4]
	b[flagsAt+1] = digits[c.Flags&0xf]
	span.put(b[spanAt:])
	return string(b[:])
}

const digits = "0123456789abcdef"

// put writes the id as 16 hex digits.
func (id ID) put(to []byte) {
	for i := range spanSize {
		to[i] = digits[id>>(4*(spanSize-1-i))&0xf]
	}
}

// String returns the id as 16 hex digits.
func (id ID) String() string {
	var b [spanSize]byte
	id.put(b[:])
	return string(b[:])
}

// Parse reads a traceparent and a tracestate. It returns false if there is no valid traceparent: then neither counts,
// as W3C's recommendation says. A later version is read as far as this one goes. A tracestate that is not valid is
// dropped.
func Parse(parent, state string) (c Context, ok bool) {
	version, ok := versionOf(parent)
	if !ok {
		return Context{}, false
	}
	high, okHigh := hex(parent[traceAt : traceAt+16])
	low, okLow := hex(parent[traceAt+16 : traceAt+traceSize])
	span, okSpan := hex(parent[spanAt : spanAt+spanSize])
	flags, okFlags := hex(parent[flagsAt:wholeSize])
	if !okHigh || !okLow || !okSpan || !okFlags || high|low == 0 || span == 0 {
		return Context{}, false
	}
	c = Context{Trace: strings.Clone(parent[traceAt : traceAt+traceSize]), Span: ID(span), Flags: byte(flags)}
	if version != 0 {
		c.Flags &= sampledFlag // what other bits of it mean is not known
	}
	if validState(state) {
		c.State = strings.Clone(state)
	}
	return c, true
}

// versionOf returns the version of a traceparent, and whether its fields are where they should be.
func versionOf(parent string) (version uint64, ok bool) {
	if len(parent) < wholeSize || parent[traceAt-1] != '-' || parent[spanAt-1] != '-' || parent[flagsAt-1] != '-' {
		return 0, false
	}
	version, known := hex(parent[:2])
	more := parent[wholeSize:]
	return version, known && version != 0xff && (more == "" || version != 0 && more[0] == '-')
}

// hex returns the number that lower-case hex digits are.
func hex(text string) (v uint64, ok bool) {
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// What a tracestate is at most, so that it can be carried on.
const (
	maxState   = 512 // bytes
	maxMembers = 32
)

// validState reports whether a tracestate can be carried on: members key=value of printable characters.
func validState(state string) bool {
	if len(state) > maxState {
		return false
	}
	members := 0
	for member := range strings.SplitSeq(state, ",") {
		member = strings.Trim(member, " \t")
		if member == "" {
			continue
		}
		key, value, ok := strings.Cut(member, "=")
		odd := func(c rune) bool { return c < ' ' || c > '~' }
		if !ok || key == "" || strings.ContainsFunc(key+value, odd) || strings.ContainsAny(key, " =") {
			return false
		}
		members++
	}
	return members <= maxMembers
}
