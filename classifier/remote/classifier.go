package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"octet/classifier"
)

// Classifier is a Service that is asked about the specialists of one ensemble.
type Classifier struct {
	service *Service
	to      map[string]int // by label: the specialist; none for reject
	labels  []string       // that it is asked about
	places  int            // specialists
}

// question is what a service is sent.
type question struct {
	Text   string   `json:"text"`
	Labels []string `json:"labels"`
}

// Ask implements classifier.Outside.
func (c *Classifier) Ask(ctx context.Context, text []byte, out []float64) (reject float64, err error) {
	if len(out) != c.places {
		return 0, fmt.Errorf("%w: %d places for %d specialists", ErrLabels, len(out), c.places)
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(question{excerpt(text, c.service.cfg.Excerpt), c.labels}); err != nil {
		return 0, fmt.Errorf("%w: %w", classifier.OutageMalformed, err)
	}
	clear(out)
	err = c.service.ask(ctx, body.Bytes(), func(answer []byte) error {
		reject, err = c.read(answer, out)
		return err
	})
	return reject, err
}

// excerpt is text, or its head and its tail where it is longer than limit. Characters stay whole.
func excerpt(text []byte, limit int) string {
	if len(text) <= limit {
		return string(text)
	}
	head, tail := (limit-1)*2/3, len(text)-(limit-1)/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return string(text[:head]) + "\n" + string(text[tail:])
}
