package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Trace is a load: requests in the order in which they come where no answer is late.
type Trace struct {
	Block    int // tokens of each block that the requests name
	Requests []Request
}

// Request is one line of a trace.
type Request struct {
	At     time.Duration // since the trace's first; where After is set, as recorded: a replay goes by Gap
	Input  int           // tokens of the prompt
	Output int           // tokens of the answer, at least 1
	// Blocks are the prompt's blocks. Equal ids are equal tokens. The last block may be part of one, and formats that
	// name full blocks only leave it out: its tokens are then like no others.
	Blocks []Span
	// Session is equal for the turns of one conversation: prompts of which each holds all full blocks of an earlier
	// one.
	Session string
	// After is the request that this one waits for, the session's turn before, as its place in Requests plus 1; 0 is
	// none. Gap is from the end of that turn's answer to this request.
	After int
	Gap   time.Duration
}

// Span is the consecutive ids First, First+1 and so on, Count of them.
type Span struct {
	First uint64
	Count int
}

// Reading says how a trace is read. The zero Reading reads it as its lines say.
type Reading struct {
	// Block is how many tokens an id stands for; 0 is the first of TraceBlock and smaller powers of two down to 16 that
	// fits all lines (16 first, where lines have runs of ids).
	Block int
	// SessionRate is how many sessions begin a second, of those whose lines do not say when they began; 0 is
	// DefaultSessionRate. Seed draws the beginnings, and nothing else.
	SessionRate float64
	Seed        uint64
	// Copies is how many times the trace is played, one after the other: copies share no block and no session. 0 is
	// once.
	Copies int
}

// DefaultSessionRate is the sessions that begin a second where neither a trace nor a Reading says it.
const DefaultSessionRate = 1.5

// Check returns an ErrConfig that says what cannot be; nil where all can.
func (how *Reading) Check() error {
	switch {
	case how.Block < 0 || how.Block > maxTokens:
		return fmt.Errorf("%w: blocks of %d tokens in a trace, want at most %d", ErrConfig, how.Block, maxTokens)
	case !(how.SessionRate >= 0 && how.SessionRate <= 1e6):
		return fmt.Errorf("%w: %v sessions a second", ErrConfig, how.SessionRate)
	case how.Copies < 0 || how.Copies > maxCopies:
		return fmt.Errorf("%w: %d copies of a trace, want at most %d", ErrConfig, how.Copies, maxCopies)
	}
	return nil
}

// TraceBlock is how many tokens an id of Mooncake's and Azure's traces stands for.
const TraceBlock = 512

// Bounds of a request, so that a hostile line cannot make the replay allocate without end.
const (
	maxTokens = 1 << 22
	maxLine   = 1 << 20
	maxCopies = 1 << 10
)

// ErrTrace is a trace that cannot be read; it comes as a *TraceError.
var ErrTrace = errors.New("replay: bad trace")

// TraceError says which line of a trace is wrong.
type TraceError struct {
	Line   int // counts from 1
	Detail string
}

func (e *TraceError) Error() string {
	return fmt.Sprintf("%v: line %d: %s", ErrTrace, e.Line, e.Detail)
}

// Is matches ErrTrace.
func (e *TraceError) Is(target error) bool { return target == ErrTrace }

func bad(line int, format string, args ...any) error {
	return &TraceError{Line: line, Detail: fmt.Sprintf(format, args...)}
}

// Read reads a trace of one of three formats: Mooncake's, a JSON object a line with timestamp (ms), input_length,
// output_length and hash_ids; the same with sessions (see line); or Azure's, CSV with TIMESTAMP, ContextTokens and
// GeneratedTokens, whose prompts share nothing. The requests come back in order of arrival, the first at 0. The error
// is a *TraceError, an ErrConfig, or what r returned.
func Read(r io.Reader, how Reading) (Trace, error) {
	if err := how.Check(); err != nil {
		return Trace{}, err
	}
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return Trace{}, err
	}
	t := Trace{Block: how.Block}
	if len(first) > 0 && first[0] == '{' {
		err = t.readLines(in, how)
	} else {
		err = t.readAzure(in, how)
	}
	if err != nil {
		return Trace{}, err
	}
	if len(t.Requests) == 0 {
		return Trace{}, bad(1, "there is no request")
	}
	t.order()
	t.nameSessions()
	return t, nil
}

// order sorts the requests by their time, with the first at 0, and keeps After in step.
func (t *Trace) order() {
	by := make([]int, len(t.Requests))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int {
		return int(min(1, max(-1, t.Requests[a].At-t.Requests[b].At)))
	})
	place := make([]int, len(by))
	for to, from := range by {
		place[from] = to
	}
	sorted := make([]Request, len(by))
	start := t.Requests[by[0]].At
	for to, from := range by {
		sorted[to] = t.Requests[from]
		sorted[to].At -= start
		if after := sorted[to].After; after > 0 {
			sorted[to].After = place[after-1] + 1
		}
	}
	t.Requests = sorted
}

// Part returns the requests from the share from to the share to of a trace, with the first at 0. A turn whose turn
// before is not in the part comes at its own time.
func (t Trace) Part(from, to float64) (Trace, error) {
	if !(from >= 0 && from < to && to <= 1) {
		return Trace{}, fmt.Errorf("%w: a part from %v to %v", ErrConfig, from, to)
	}
	n := float64(len(t.Requests))
	first := int(from * n)
	part := Trace{t.Block, slices.Clone(t.Requests[first:int(to*n)])}
	if len(part.Requests) == 0 {
		return Trace{}, fmt.Errorf("%w: no request from %v to %v", ErrConfig, from, to)
	}
	start := part.Requests[0].At
	for i := range part.Requests {
		r := &part.Requests[i]
		r.At -= start
		if r.After = max(0, r.After-first); r.After == 0 {
			r.Gap = 0
		}
	}
	return part, nil
}

// nameSessions sets every Session that no line names. A prompt of a single block begins no conversation that could be
// told from others.
func (t *Trace) nameSessions() {
	ends := map[uint64]string{} // a prompt's last full block: its session
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Session != "" {
			continue
		}
		r.Session = strconv.Itoa(i)
		ids := r.ids()
		for at := len(ids) - 1; at > 0; at-- {
			if session, ok := ends[ids[at]]; ok {
				r.Session = session
				break
			}
		}
		if full := r.Input / t.Block; full > 1 && full <= len(ids) {
			ends[ids[full-1]] = r.Session
		}
	}
}

// ids returns r's blocks one by one.
func (r *Request) ids() []uint64 {
	var ids []uint64
	for _, s := range r.Blocks {
		for i := range s.Count {
			ids = append(ids, s.First+uint64(i))
		}
	}
	return ids
}

// blocks returns how many blocks r names.
func (r *Request) blocks() (n int) {
	for _, s := range r.Blocks {
		n += s.Count
	}
	return n
}

// spans returns ids as spans.
func spans(ids []uint64) (all []Span) {
	for _, id := range ids {
		if n := len(all); n > 0 && all[n-1].First+uint64(all[n-1].Count) == id {
			all[n-1].Count++
		} else {
			all = append(all, Span{id, 1})
		}
	}
	return all
}

func (r *Request) check(n int) error {
	if r.Input < 1 || r.Input > maxTokens || r.Output < 0 || r.Output > maxTokens {
		return bad(n, "%d tokens in, %d out; want 1 to %d and 0 to %[3]d", r.Input, r.Output, maxTokens)
	}
	r.Output = max(r.Output, 1)
	return nil
}
