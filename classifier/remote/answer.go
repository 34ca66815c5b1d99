package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"octet/classifier"
)

// slack is by how much probabilities may miss a sum of 1: they are rounded to print them.
const slack = 0.01

// errAnswer is wrapped by what read says of an answer, beside classifier.OutageMalformed.
var errAnswer = errors.New("no distribution")

// read fills out with the distribution of an answer, made one whose sum is 1, and returns what is for no specialist. A
// label that is not there has a probability of 0. The answer's own words are in no error.
func (c *Classifier) read(answer []byte, out []float64) (reject float64, err error) {
	shares, err := parse(answer)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", classifier.OutageMalformed, err)
	}
	sum := 0.0
	for _, s := range shares {
		p := s.probability
		at, known := c.leadsTo(s.label)
		switch {
		case !known:
			return 0, fmt.Errorf("%w: %w: a label that was not asked about", classifier.OutageMalformed, errAnswer)
		case !(p >= 0) || math.IsInf(p, 0):
			return 0, fmt.Errorf("%w: %w: a probability of %v", classifier.OutageMalformed, errAnswer, p)
		case at < 0:
			reject += p
		default:
			out[at] += p
		}
		sum += p
	}
	if math.Abs(sum-1) > slack {
		return 0, fmt.Errorf("%w: %w: the probabilities add up to %v", classifier.OutageMalformed, errAnswer, sum)
	}
	for i := range out {
		out[i] /= sum
	}
	return reject / sum, nil
}

// parse reads {"probabilities": {label: number, …}}. Other members are passed over; one that is there twice, and a
// probability that is no number, are faults.
func parse(answer []byte) (shares, error) {
	var whole struct {
		Probabilities shares `json:"probabilities"`
	}
	if err := json.Unmarshal(answer, &whole); err != nil {
		return nil, errAnswer // what the service wrote may hold the text that it was sent
	}
	if len(whole.Probabilities) == 0 {
		return nil, fmt.Errorf("%w: no probabilities", errAnswer)
	}
	return whole.Probabilities, nil
}

// shares are the members of an object of numbers, in its order. No label is there twice.
type shares []share

type share struct {
	label       string
	probability float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *shares) UnmarshalJSON(raw []byte) error {
	if *s != nil {
		return errAnswer // "probabilities" is there twice
	}
	*s = shares{}
	tokens := json.NewDecoder(bytes.NewReader(raw)) // raw is one whole value
	if open, err := tokens.Token(); err != nil || open != json.Delim('{') {
		return errAnswer
	}
	seen := map[string]bool{}
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			return err
		}
		value, err := tokens.Token()
		if err != nil {
			return err
		}
		label, _ := name.(string) // a member's name is one
		p, number := value.(float64)
		if seen[label] || !number {
			return errAnswer
		}
		seen[label] = true
		*s = append(*s, share{label, p})
	}
	return nil
}
