package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"
)

// line is a line of JSON as it stands; a field that is absent stays nil. A request names its blocks by hash_ids or by
// hash_id_runs, and when it comes by timestamp, by session and t_in_session_ms, or by both. A turn with gap_ms, or
// without a timestamp, waits for its session's turn before: it comes gap_ms after the end of that answer, else as long
// after it as it came when it was recorded, the time between the two turns less duration_ms.
type line struct {
	Timestamp *float64 `json:"timestamp"` // ms
	Input     *int     `json:"input_length"`
	Output    *int     `json:"output_length"`
	Blocks    []uint64 `json:"hash_ids"`
	// runs of ids, each its first id and how many
	Runs    [][2]uint64     `json:"hash_id_runs"`
	Session json.RawMessage `json:"session"`         // a string or a number
	Since   *float64        `json:"t_in_session_ms"` // since the session began, if every answer came as recorded
	Gap     *float64        `json:"gap_ms"`          // from the end of the session's last answer
	Took    *float64        `json:"duration_ms"`     // from the request to the end of its answer, as it was recorded
}

// readLines reads the formats of JSON lines.
func (t *Trace) readLines(r io.Reader, how Reading) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	seen, where, runs := sessions{named: map[string]int{}}, []int(nil), false
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return bad(n, "%v", err)
		}
		request, err := l.request(n)
		if err != nil {
			return err
		}
		if err := t.add(&seen, request, &l, n); err != nil {
			return err
		}
		where, runs = append(where, n), runs || l.Runs != nil
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return bad(n+1, "longer than %d bytes", maxLine)
	}
	if lines.Err() != nil || len(t.Requests) == 0 {
		return lines.Err()
	}
	if err := t.fit(where, runs); err != nil {
		return err
	}
	t.begin(t.copy(seen.all, how.Copies), how)
	return nil
}

// request checks what a line says by itself.
func (l *line) request(n int) (r Request, err error) {
	if l.Input == nil || l.Output == nil || l.Timestamp == nil && (l.Session == nil || l.Since == nil) {
		return r, bad(n, "input_length, output_length and timestamp, or session and t_in_session_ms, are needed")
	}
	for name, ms := range map[string]*float64{
		"timestamp": l.Timestamp, "t_in_session_ms": l.Since, "gap_ms": l.Gap, "duration_ms": l.Took,
	} {
		if ms != nil && !(*ms >= 0 && *ms <= math.MaxInt64/2/1e6) {
			return r, bad(n, "%s is %v", name, *ms)
		}
	}
	r = Request{Input: *l.Input, Output: *l.Output, Blocks: spans(l.Blocks)}
	if err := r.check(n); err != nil {
		return r, err
	}
	for _, run := range l.Runs {
		if run[1] > maxTokens {
			return r, bad(n, "a run of %d ids, want at most %d", run[1], maxTokens)
		}
		r.Blocks = append(r.Blocks, Span{run[0], int(run[1])})
	}
	if l.Session != nil && json.Unmarshal(l.Session, &r.Session) != nil {
		r.Session = string(l.Session)
	}
	return r, nil
}

// add adds a request to the trace and to its session.
func (t *Trace) add(seen *sessions, r Request, l *line, n int) error {
	at := l.Since
	if l.Timestamp != nil {
		at = l.Timestamp
	}
	r.At = milliseconds(*at)
	t.Requests = append(t.Requests, r)
	if l.Session == nil {
		return nil
	}
	i, known := seen.named[r.Session]
	if !known {
		i = len(seen.all)
		seen.named[r.Session], seen.all = i, append(seen.all, session{begins: l.Timestamp != nil})
	}
	s := &seen.all[i]
	if s.begins != (l.Timestamp != nil) {
		return bad(n, "session %s has lines with and without timestamp", r.Session)
	}
	if added := &t.Requests[len(t.Requests)-1]; len(s.turns) > 0 {
		before := s.turns[len(s.turns)-1]
		if t.Requests[before].At > added.At {
			return bad(n, "session %s goes back in time", r.Session)
		}
		switch {
		case l.Gap != nil:
			added.After, added.Gap = before+1, milliseconds(*l.Gap)
		case !s.begins:
			added.After, added.Gap = before+1, max(0, added.At-t.Requests[before].At-s.took)
		}
	}
	s.turns, s.took = append(s.turns, len(t.Requests)-1), 0
	if l.Took != nil {
		s.took = milliseconds(*l.Took)
	}
	return nil
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * 1e6) }

// leastBlock is the smallest block that a trace is tried with.
const leastBlock = 16

// fit sets Block where it is not given, and checks that the number of each request's ids fits it: one for each block,
// with or without a last one that is not full. where has the requests' lines.
func (t *Trace) fit(where []int, runs bool) error {
	tries := []int{t.Block}
	if t.Block == 0 {
		tries = tries[:0]
		for b := TraceBlock; b >= leastBlock; b /= 2 {
			tries = append(tries, b)
		}
		if runs {
			tries = append([]int{leastBlock}, tries...)
		}
	}
	var fault error
	for _, t.Block = range tries {
		err := t.misfit(where, runs)
		if err == nil {
			return nil
		}
		if fault == nil {
			fault = err
		}
	}
	return fault
}

// misfit returns what is wrong with the first request whose ids are not as many as its blocks; nil if all fit.
func (t *Trace) misfit(where []int, runs bool) error {
	for i := range t.Requests {
		r := &t.Requests[i]
		want, ids := (r.Input+t.Block-1)/t.Block, r.blocks()
		if ids != want && (!runs || ids != r.Input/t.Block) {
			return bad(where[i], "%d ids of blocks for %d tokens, want %d of %d tokens each", ids, r.Input, want,
				t.Block)
		}
	}
	return nil
}
