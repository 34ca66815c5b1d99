package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// Request is one line of a trace.
type Request struct {
	At     time.Duration // since the trace's first
	Input  int           // tokens of the prompt
	Output int           // tokens of the answer, at least 1
	// an id for each TraceBlock tokens of the prompt, the last one's perhaps fewer; equal ids are equal tokens
	Blocks []uint64
	// Session is equal for the turns of one conversation: prompts of which each holds all full blocks of an earlier
	// one.
	Session string
}

// TraceBlock is how many tokens an id of a trace stands for.
const TraceBlock = 512

// Bounds of a request, so that a hostile line cannot make the replay allocate without end.
const (
	maxTokens = 1 << 22
	maxLine   = 1 << 20
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

// Read reads a trace of either format: Mooncake's, a JSON object a line with timestamp (ms), input_length,
// output_length and hash_ids; or Azure's, CSV with TIMESTAMP, ContextTokens and GeneratedTokens, whose prompts share
// nothing. The requests come back in order of arrival, the first at 0. The error is a *TraceError, or what r returned.
func Read(r io.Reader) ([]Request, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var all []Request
	if len(first) > 0 && first[0] == '{' {
		all, err = readMooncake(in)
	} else {
		all, err = readAzure(in)
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, bad(1, "there is no request")
	}
	slices.SortStableFunc(all, func(a, b Request) int { return int(min(1, max(-1, a.At-b.At))) })
	start := all[0].At
	for i := range all {
		all[i].At -= start
	}
	nameSessions(all)
	return all, nil
}

// Part returns the requests from the share from to the share to of a trace, with the first at 0.
func Part(trace []Request, from, to float64) ([]Request, error) {
	if !(from >= 0 && from < to && to <= 1) {
		return nil, fmt.Errorf("%w: a part from %v to %v", ErrConfig, from, to)
	}
	n := float64(len(trace))
	part := slices.Clone(trace[int(from*n):int(to*n)])
	if len(part) == 0 {
		return nil, fmt.Errorf("%w: no request from %v to %v", ErrConfig, from, to)
	}
	start := part[0].At
	for i := range part {
		part[i].At -= start
	}
	return part, nil
}

// nameSessions sets every Session. A prompt of a single block begins no conversation that could be told from others.
func nameSessions(all []Request) {
	ends := map[uint64]string{} // a prompt's last full block: its session
	for i := range all {
		r := &all[i]
		r.Session = strconv.Itoa(i)
		for at := len(r.Blocks) - 1; at > 0; at-- {
			if session, ok := ends[r.Blocks[at]]; ok {
				r.Session = session
				break
			}
		}
		if full := r.Input / TraceBlock; full > 1 {
			ends[r.Blocks[full-1]] = r.Session
		}
	}
}

// mooncakeLine is a line as it stands; a field that is absent stays nil.
type mooncakeLine struct {
	Timestamp *float64 `json:"timestamp"`
	Input     *int     `json:"input_length"`
	Output    *int     `json:"output_length"`
	Blocks    []uint64 `json:"hash_ids"`
}

func readMooncake(r io.Reader) (all []Request, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		request, err := mooncake(lines.Bytes(), n)
		if err != nil {
			return nil, err
		}
		all = append(all, request)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, bad(n+1, "longer than %d bytes", maxLine)
	}
	return all, lines.Err()
}

func mooncake(text []byte, n int) (Request, error) {
	var l mooncakeLine
	if err := json.Unmarshal(text, &l); err != nil {
		return Request{}, bad(n, "%v", err)
	}
	if l.Timestamp == nil || l.Input == nil || l.Output == nil {
		return Request{}, bad(n, "timestamp, input_length and output_length are needed")
	}
	if !(*l.Timestamp >= 0 && *l.Timestamp <= math.MaxInt64/2/1e6) {
		return Request{}, bad(n, "timestamp is %v", *l.Timestamp)
	}
	r := Request{At: time.Duration(*l.Timestamp * 1e6), Input: *l.Input, Output: *l.Output, Blocks: l.Blocks}
	if err := r.check(n); err != nil {
		return Request{}, err
	}
	if want := (r.Input + TraceBlock - 1) / TraceBlock; len(r.Blocks) != want {
		return Request{}, bad(n, "%d hash_ids for %d tokens, want %d", len(r.Blocks), r.Input, want)
	}
	return r, nil
}

func (r *Request) check(n int) error {
	if r.Input < 1 || r.Input > maxTokens || r.Output < 0 || r.Output > maxTokens {
		return bad(n, "%d tokens in, %d out; want 1 to %d and 0 to %[3]d", r.Input, r.Output, maxTokens)
	}
	r.Output = max(r.Output, 1)
	return nil
}
