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

func readAzure(r io.Reader) (all []Request, err error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	var start time.Time
	for {
		record, err := in.Read()
		var fault *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.As(err, &fault):
			return nil, bad(fault.Line, "%v", fault.Err)
		case err != nil:
			return nil, err
		}
		n, _ := in.FieldPos(0)
		if n == 1 && len(record) == 3 && record[0] == "TIMESTAMP" {
			continue
		}
		request, at, err := azure(record, n)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			start = at
		}
		request.At = at.Sub(start)
		request.Blocks = unique(len(all), request.Input)
		all = append(all, request)
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

// unique returns ids for a prompt that shares nothing with the others of its trace.
func unique(i, input int) []uint64 {
	ids := make([]uint64, (input+TraceBlock-1)/TraceBlock)
	for j := range ids {
		ids[j] = uint64(i)<<16 | uint64(j)
	}
	return ids
}
