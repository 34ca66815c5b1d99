package train

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// ErrData is a file of labelled texts that cannot be used.
var ErrData = errors.New("labelled texts")

const (
	maxLine    = 16 << 20 // bytes of one sample
	maxSamples = 10_000_000
)

// Sample is one labelled text: one line of JSONL.
type Sample struct {
	Text   string `json:"text"`
	Label  string `json:"label"`
	Source string `json:"source"` // where it is from, such as a repository; empty = nowhere else
	Tier   string `json:"tier"`   // easy or hard, as the data says; reported on its own
}

// Load reads labelled texts from JSONL, gzipped or not. Errors wrap ErrData and say which line.
func Load(path string) ([]Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	defer f.Close()
	samples, err := Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return samples, nil
}

// Parse reads labelled texts from JSONL, gzipped or not. A sample without a source is its own.
func Parse(from io.Reader) ([]Sample, error) {
	in := bufio.NewReader(from)
	if start, _ := in.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrData, err)
		}
		defer func() { _ = z.Close() }() // it was only read
		in = bufio.NewReader(z)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var samples []Sample
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var s Sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrData, n, err)
		}
		if s.Label == "" || len(samples) == maxSamples {
			return nil, fmt.Errorf("%w: line %d: no label, or more than %d samples", ErrData, n, maxSamples)
		}
		if s.Source == "" {
			s.Source = "line " + strconv.Itoa(n)
		}
		samples = append(samples, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: behind sample %d: %w", ErrData, len(samples), err)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%w: there are none", ErrData)
	}
	return samples, nil
}
