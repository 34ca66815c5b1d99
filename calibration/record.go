package calibration

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Version is that of the records' form.
const Version = 1

// ErrRecord is wrapped by what Parse says of a line that is no record.
var ErrRecord = errors.New("calibration: not a record")

// Record is one entry of the calibration stream, one JSON object on a line. Exactly one of its parts is there.
type Record struct {
	V       int       `json:"v"`
	Time    time.Time `json:"time"`
	Example *Example  `json:"example,omitempty"`
	Tally   *Tally    `json:"tally,omitempty"`
	Verdict *Verdict  `json:"verdict,omitempty"`
}

// Example is one request that two specialists answered, labelled with what became of the comparison.
type Example struct {
	Receipt       string             `json:"receipt"`
	Intent        string             `json:"intent"`
	RoutedBy      string             `json:"routed_by"`
	Primary       Lane               `json:"primary"` // whose answer the client got
	Shadow        Lane               `json:"shadow"`
	Confidence    *float64           `json:"confidence,omitempty"` // in the primary; absent where nothing computed it
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Threshold     float64            `json:"threshold"` // that was in force for the intent
	Cause         Cause              `json:"cause"`
	Prompt        Text               `json:"prompt"`
	Answers       Answers            `json:"answers"`
	Comparison
	// Label is the specialist whose answer was better, or that of both where they agree; empty if unknown.
	Label string `json:"label,omitempty"`
}

// Cause is why a request got a shadow.
type Cause string

// The causes.
const (
	ByThreshold Cause = "threshold" // its confidence was below the intent's
	ByProbe     Cause = "probe"     // a demoted specialist is owed it, to recover
	ByProbation Cause = "probation" // one of the two is fresh
)

// Lane is a specialist as it answered.
type Lane struct {
	Specialist string `json:"specialist"`
	Adapter    string `json:"adapter,omitempty"`
	Version    string `json:"version,omitempty"`
}

// Answers are the two that were compared.
type Answers struct {
	Primary Text `json:"primary"`
	Shadow  Text `json:"shadow"`
}

// Text stands for a text: its keyed hash, and the text itself only where the operator opted in.
type Text struct {
	Hash   string `json:"hash"`
	Bytes  int    `json:"bytes"`
	Finish string `json:"finish,omitempty"` // of an answer
	Text   string `json:"text,omitempty"`
	// of an answer: its tool calls, in the order in which they came
	Calls []CallText `json:"calls,omitempty"`
}

// CallText stands for a tool call as Text does for a text.
type CallText struct {
	Hash      string `json:"hash"`  // of its name and arguments
	Bytes     int    `json:"bytes"` // likewise
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// Buckets are those of a Tally: bucket i counts confidences in [i, i+1) hundredths, the last one 1 itself too.
const Buckets = 100

// Tally counts the confidences of all requests of an intent that the classifier decided since the Tally before,
// shadowed or not: what a threshold costs follows from it.
type Tally struct {
	Intent    string          `json:"intent"`
	Threshold float64         `json:"threshold"` // in force
	Counts    [Buckets]uint64 `json:"counts"`
}

// Bucket returns where a confidence is counted.
func Bucket(confidence float64) int { return min(max(int(confidence*Buckets), 0), Buckets-1) }

// Verdict is what was found out about an answer later: whether it compiles, whether it passes its tests.
type Verdict struct {
	Receipt    string   `json:"receipt"`
	Intent     string   `json:"intent"`
	Lane       Lane     `json:"lane"`
	Confidence *float64 `json:"confidence,omitempty"`
	Kind       string   `json:"kind"`
	Pass       bool     `json:"pass"`
}

// Parse reads one line of the stream. It returns ErrRecord if the line is not a record, or one of a later version.
func Parse(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	parts := 0
	for _, there := range [...]bool{r.Example != nil, r.Tally != nil, r.Verdict != nil} {
		if there {
			parts++
		}
	}
	if r.V != Version || parts != 1 {
		return Record{}, fmt.Errorf("%w: version %d with %d parts", ErrRecord, r.V, parts)
	}
	return r, r.check()
}

func (r *Record) check() error {
	switch {
	case r.Example != nil && (!r.Example.known() || !probable(r.Example.Confidence) ||
		!(r.Example.Threshold >= 0 && r.Example.Threshold <= 1)):
		return fmt.Errorf("%w: an example of class %.32q, form %.32q, calls %.32q", ErrRecord, r.Example.Class,
			r.Example.Form, r.Example.Calls)
	case r.Verdict != nil && !probable(r.Verdict.Confidence):
		return fmt.Errorf("%w: a verdict with the confidence %v", ErrRecord, *r.Verdict.Confidence)
	case r.Tally != nil && !probable(&r.Tally.Threshold):
		return fmt.Errorf("%w: a tally with the threshold %v", ErrRecord, r.Tally.Threshold)
	}
	return nil
}

// unique reports whether no other record is the same: r names the answer that it is of, or the time that it counts.
func (r *Record) unique() bool {
	switch {
	case r.Example != nil:
		return r.Example.Receipt != ""
	case r.Verdict != nil:
		return r.Verdict.Receipt != ""
	}
	return !r.Time.IsZero()
}

// known reports whether a comparison is one of those that are made.
func (c *Comparison) known() bool { return c.Class.known() && c.Form.known() && c.Calls.known() }

func probable(p *float64) bool { return p == nil || *p >= 0 && *p <= 1 }
