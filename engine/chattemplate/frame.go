package chattemplate

import (
	"time"
)

// Bounds of one rendering.
const (
	maxOutput = 64 << 20    // bytes of the prompt, or of any text on the way
	maxCalls  = 64          // macros within macros
	maxRange  = 1 << 16     // numbers in a range
	maxSteps  = 2 << 20     // statements, values and 64 bytes of text count as one each
	maxTime   = time.Second // looked at every few thousand steps
	maxSource = 1 << 20     // bytes of a template
	maxNested = 200         // expressions and blocks within each other
)

// frame is where a statement runs. One goroutine uses it.
type frame struct {
	*run
	scope *scope
}

// run is what one rendering has used and may still use.
type run struct {
	out   []byte
	from  int // where the prompt begins in out
	steps int
	calls int
	until time.Time
	now   time.Time

	filters map[string]filter
}

// scope holds the variables of a block; the outermost those of all chats.
type scope struct {
	names  []string
	vals   []any
	turn   *turn // of a loop's, unless the variable loop is among vals
	parent *scope
}

// step takes n steps; it throws when there are none left.
func (r *run) step(n int) {
	before := r.steps
	r.steps += n
	switch {
	case r.steps > maxSteps:
		throw(ErrTooLarge, "more than %d steps", maxSteps)
	case before>>12 != r.steps>>12 && time.Now().After(r.until):
		throw(ErrTooLarge, "more than %v", maxTime)
	}
}

// write appends to what is rendered.
func (r *run) write(s string) {
	r.spend(len(r.out) - r.from + len(s))
	r.step(1 + len(s)>>6)
	r.out = append(r.out, s...)
}

// spend makes sure that a text is not too long.
func (r *run) spend(bytes int) {
	if bytes > maxOutput {
		throw(ErrTooLarge, "more than %d bytes", maxOutput)
	}
}

// made is a text that an expression has made.
func (f *frame) made(s string) string {
	f.spend(len(s))
	f.step(len(s) >> 6)
	return s
}

// get returns a variable.
func (s *scope) get(name string) any {
	if v, ok := s.find(name); ok {
		return v
	}
	return missing{name}
}

func (s *scope) find(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		for i := len(s.names) - 1; i >= 0; i-- {
			if s.names[i] == name {
				return s.vals[i], true
			}
		}
		if s.turn != nil && name == "loop" {
			return s.turn.whole(), true
		}
	}
	return nil, false
}

// set sets a variable of this scope.
func (s *scope) set(name string, v any) {
	for i := range s.names {
		if s.names[i] == name {
			s.vals[i] = v
			return
		}
	}
	s.names, s.vals = append(s.names, name), append(s.vals, v)
}

// inner returns a frame with a scope of its own.
func (f *frame) inner() *frame { return &frame{f.run, &scope{parent: f.scope}} }

// captured returns what body writes.
func (f *frame) captured(body func()) string {
	at := len(f.out)
	body()
	text := string(f.out[at:])
	f.out = f.out[:at]
	return text
}
