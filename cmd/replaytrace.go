package cmd

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"octet/internal/replay"
)

// drawnSessions is how many sessions a drawn trace has where its name does not say.
const drawnSessions = 1500

// loadTrace returns the trace of a name: a file, a drawn one, or two of them with a + between them. A file whose own
// name has a + in it is one trace.
func loadTrace(name string, how replay.Reading) (replay.Trace, error) {
	first, second, two := strings.Cut(name, "+")
	if _, err := os.Stat(name); err == nil || !two {
		return oneTrace(name, how)
	}
	a, err := oneTrace(first, how)
	if err != nil {
		return replay.Trace{}, err
	}
	b, err := oneTrace(second, how)
	if err != nil {
		return replay.Trace{}, err
	}
	mix, err := replay.Mix(a, b)
	if err != nil {
		return replay.Trace{}, usageError{fmt.Errorf("%s: %w", name, err)}
	}
	return mix, nil
}

// oneTrace reads or draws a trace.
func oneTrace(name string, how replay.Reading) (replay.Trace, error) {
	drawn, ok, err := drawnTrace(name)
	if err != nil {
		return replay.Trace{}, usageError{err}
	}
	if !ok {
		return readTrace(name, how)
	}
	trace, err := drawn.Trace()
	if err != nil {
		return replay.Trace{}, usageError{err}
	}
	return trace, nil
}

// drawnTrace returns what KIND:SEED or KIND:SEED:SESSIONS draws; false for any other name.
func drawnTrace(name string) (d replay.Drawn, ok bool, err error) {
	parts := strings.Split(name, ":")
	if len(parts) < 2 || len(parts) > 3 || !slices.Contains(replay.DrawnKinds, parts[0]) {
		return d, false, nil
	}
	d = replay.Drawn{Kind: parts[0], Sessions: drawnSessions}
	if d.Seed, err = strconv.ParseUint(parts[1], 10, 64); err != nil {
		return d, true, fmt.Errorf("%w: no seed: %s", replay.ErrConfig, name)
	}
	if len(parts) == 3 {
		if d.Sessions, err = strconv.Atoi(parts[2]); err != nil {
			return d, true, fmt.Errorf("%w: no number of sessions: %s", replay.ErrConfig, name)
		}
	}
	return d, true, nil
}

// readTrace reads a trace file, gzipped or not.
func readTrace(path string, how replay.Reading) (replay.Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return replay.Trace{}, err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return replay.Trace{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	trace, err := replay.Read(in, how)
	if err != nil {
		return replay.Trace{}, fmt.Errorf("%s: %w", path, err)
	}
	return trace, nil
}
