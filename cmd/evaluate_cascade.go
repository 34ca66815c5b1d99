package cmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"octet/classifier"
	"octet/classifier/model"
	"octet/classifier/train"
)

// evaluation is a model's report, and how the detectors before it do on the same texts.
type evaluation struct {
	*train.Report
	Cascade *cascadeReport `json:"cascade,omitempty"` // absent where the labels cannot be names of specialists
}

// cascadeReport is of the built-in detectors with the model behind them, in an ensemble of the model's labels.
type cascadeReport struct {
	Top1      float64          `json:"top1"` // texts that go to their label's specialist; reject is one
	Detectors map[string]tally `json:"detectors"`
}

// tally is of one detector.
type tally struct {
	Fired     int     `json:"fired"`
	Right     int     `json:"right"`
	Precision float64 `json:"precision"`
}

// evaluateCascade sends samples through a cascade whose specialists are the model's labels in lower case, as detectors
// name them. Reject is a specialist of its own here: the fallback.
func evaluateCascade(m *model.Model, samples []train.Sample) (*cascadeReport, error) {
	c := classifier.Config{Detectors: true, Fallback: model.Reject}
	for _, l := range m.Labels() {
		c.Specialists = append(c.Specialists, strings.ToLower(l))
	}
	bound, err := m.Bind(c.Specialists, nil)
	if err != nil {
		return nil, err
	}
	c.Model = bound
	cascade, err := classifier.New(c)
	if err != nil {
		return nil, err
	}
	r := &cascadeReport{Detectors: map[string]tally{}}
	for i := range samples {
		v, err := cascade.Classify(classifier.Input{Text: []byte(samples[i].Text)})
		if err != nil {
			return nil, err
		}
		right := 0
		if v.Specialist == strings.ToLower(samples[i].Label) {
			right = 1
		}
		r.Top1 += float64(right) / float64(len(samples))
		if v.RoutedBy == classifier.ByDetector {
			d := r.Detectors[v.Rule]
			d.Fired, d.Right = d.Fired+1, d.Right+right
			d.Precision = float64(d.Right) / float64(d.Fired)
			r.Detectors[v.Rule] = d
		}
	}
	return r, nil
}

// print shows what each detector did, on a line.
func (r *cascadeReport) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntop-1 with the detectors before it\t%.3f\n\n", r.Top1)
	fmt.Fprintln(w, "rule\tfired\tright\tprecision")
	for _, name := range slices.Sorted(maps.Keys(r.Detectors)) {
		d := r.Detectors[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\n", name, d.Fired, d.Right, d.Precision)
	}
	return w.Flush()
}
