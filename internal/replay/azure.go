package replay

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"time"
)

// azureTime is how the CSV writes a moment; fractions of any length are accepted.
const azureTime = "2006-01-02 15:04:05"

// readAzure reads Azure's CSV.
func (t *Trace) readAzure(r io.Reader, how Reading) error {
	if t.Block == 0 {
		t.Block = TraceBlock
	}
	in := csv.NewReader(r)
	in.ReuseRecord = true
	var start time.Time
	for {
		record, err := in.Read()
		var fault *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			t.copy(nil, how.Copies)
			return nil
		case errors.As(err, &fault):
			return bad(fault.Line, "%v", fault.Err)
		case err != nil:
			return err
		}
		n, _ := in.FieldPos(0)
		if n == 1 && len(record) == 3 && record[0] == "TIMESTAMP" {
			continue
		}
		request, at, err := azure(record, n)
		if err != nil {
			return err
		}
		if len(t.Requests) == 0 {
			start = at
		}
		request.At = at.Sub(start)
		request.Blocks = t.unique(request.Input)
		t.Requests = append(t.Requests, request)
	}
}

func azure(record []string, n int) (r Request, at time.Time, err error) {
	if len(record) != 3 {
		return r, at, bad(n, "%d fields, want TIMESTAMP,ContextTokens,GeneratedTokens", len(record))
	}
	if at, err = time.Parse(azureTime, record[0]); err != nil {
		if at, err = time.Parse(time.RFC3339Nano, record[0]); err != nil {
			return r, at, bad(n, "no time: %q", record[0])
		}
	}
	if r.Input, err = strconv.Atoi(record[1]); err != nil {
		return r, at, bad(n, "no number of tokens: %q", record[1])
	}
	if r.Output, err = strconv.Atoi(record[2]); err != nil {
		return r, at, bad(n, "no number of tokens: %q", record[2])
	}
	return r, at, r.check(n)
}

// unique returns blocks for the next prompt, which shares nothing with the others of its trace.
func (t *Trace) unique(input int) []Span {
	return []Span{{uint64(len(t.Requests)) << 32, (input + t.Block - 1) / t.Block}}
}
