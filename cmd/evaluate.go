package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"octet/classifier"
	"octet/classifier/model"
	"octet/classifier/train"
)

// evaluateFlags are the flags of `octet evaluate`.
type evaluateFlags struct {
	model, svg string
	json       bool
}

func evaluateCommand() *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{
		Use: "evaluate FILE",
		Short: "How the classifier does on labelled texts (JSONL, gzipped or not: text, label, tier) or questions " +
			"(.txt)",
		Args: exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&f.model, "model", model.BuiltinName, "builtin, or an artefact that \"octet train\" wrote")
	c.Flags().BoolVar(&f.json, "json", false, "the report as JSON")
	c.Flags().StringVar(&f.svg, "svg", "", "write the reliability diagram to this file")
	return c
}

func (f evaluateFlags) run(path string, out, errs io.Writer) error {
	m, err := model.Open(f.model)
	if err != nil {
		return trainingFault(err)
	}
	samples, err := labelled(path)
	if err != nil {
		return trainingFault(err)
	}
	report, err := train.Evaluate(m, samples)
	if err != nil {
		return trainingFault(err)
	}
	if report.Seen > 0 {
		fmt.Fprintf(
			errs,
			"%d of %d texts are of sources that this model was trained on; these figures do not say how it does on "+
				"others\n", report.Seen, report.Samples)
	}
	if f.svg != "" {
		if err := os.WriteFile(f.svg, report.Diagram(), 0o644); err != nil {
			return err
		}
	}
	whole := evaluation{Report: report}
	whole.Cascade, _ = evaluateCascade(m, samples) // labels that are no names have none
	if f.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(whole)
	}
	if err := printReport(out, report); err != nil || whole.Cascade == nil {
		return err
	}
	return whole.Cascade.write(out)
}

// questionSeed decides which frame and which typos a question gets, as in the published table.
const questionSeed = 1

// labelled reads the texts of a file: questions, each in all wordings, where its name ends in .txt, else JSONL.
func labelled(path string) ([]train.Sample, error) {
	if strings.HasSuffix(path, ".txt") {
		return train.LoadQuestions(path, questionSeed)
	}
	return train.Load(path)
}

// printFolds shows each fold of a cross-validation, their means, and the worst of each figure.
func printFolds(w io.Writer, folds []train.Fold) {
	fmt.Fprintln(w, "\nfold\tsamples\tmacro-F1\ttop-1\ttop-2\tECE")
	mean, worst, n := [4]float64{}, [4]float64{1, 1, 1, 0}, float64(len(folds))
	for i, f := range folds {
		fmt.Fprintf(w, "%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", i+1, f.Samples, f.MacroF1, f.Top1, f.Top2, f.ECE)
		for j, v := range [...]float64{f.MacroF1, f.Top1, f.Top2} {
			mean[j] += v / n
			worst[j] = min(worst[j], v)
		}
		mean[3] += f.ECE / n
		worst[3] = max(worst[3], f.ECE)
	}
	fmt.Fprintf(w, "mean\t\t%.3f\t%.3f\t%.3f\t%.3f\n", mean[0], mean[1], mean[2], mean[3])
	fmt.Fprintf(w, "worst\t\t%.3f\t%.3f\t%.3f\t%.3f\n", worst[0], worst[1], worst[2], worst[3])
}

// printReport shows a report as people read it: the whole, then a line a tier and a class.
func printReport(out io.Writer, r *train.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "samples\t%d\n", r.Samples)
	for _, row := range []struct {
		name  string
		value float64
	}{
		{"macro-F1", r.MacroF1}, {"top-1", r.Top1}, {"top-2", r.Top2}, {"ECE", r.ECE},
		{"coverage at 95 %", r.CoverageAt},
		{"reject precision", r.Reject.Precision}, {"reject recall", r.Reject.Recall},
	} {
		fmt.Fprintf(w, "%s\t%.3f\n", row.name, row.value)
	}
	if len(r.Folds) > 0 {
		printFolds(w, r.Folds)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "tier\tsamples\tmacro-F1\ttop-1\tcoverage at 95 %")
	for _, name := range slices.Sorted(maps.Keys(r.Tiers)) {
		t := r.Tiers[name]
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\n", name, t.Samples, t.MacroF1, t.Top1, t.CoverageAt)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "class\tsamples\tprecision\trecall\tF1")
	for _, name := range slices.Sorted(maps.Keys(r.PerClass)) {
		c := r.PerClass[name]
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\n", name, c.Samples, c.Precision, c.Recall, c.F1)
	}
	return w.Flush()
}

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
func (r *cascadeReport) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntop-1 with the detectors before it\t%.3f\n\n", r.Top1)
	fmt.Fprintln(w, "rule\tfired\tright\tprecision")
	for _, name := range slices.Sorted(maps.Keys(r.Detectors)) {
		d := r.Detectors[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\n", name, d.Fired, d.Right, d.Precision)
	}
	return w.Flush()
}
