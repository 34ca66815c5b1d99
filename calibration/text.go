package calibration

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d records, %d lines skipped\n", r.Records, r.Skipped)
	for i := range r.Intents {
		r.Intents[i].write(t)
	}
	return t.Flush()
}

func (r *IntentReport) write(t io.Writer) {
	fmt.Fprintf(t, "\n%s: %d requests decided by the classifier, %d comparisons, threshold %.2f\n", r.Intent,
		r.Requests, r.Comparisons, r.Threshold)
	fmt.Fprintf(t, "  recommended: %s\n", r.Recommended)
	fmt.Fprintf(t, "  calibration error %s over %d samples (%s)\n", percent(r.Reliability.ECE), r.Reliability.Samples,
		r.Reliability.Basis)
	if len(r.Reliability.Bins) > 0 {
		fmt.Fprintln(t, "\tconfidence\tsamples\tmean\theld\t")
	}
	for _, b := range r.Reliability.Bins {
		fmt.Fprintf(t, "\t%.1f–%.1f\t%d\t%.3f\t%.3f\t\n", b.Low, b.High, b.Samples, b.Confidence, b.Held)
	}
	fmt.Fprintln(t, "\tthreshold\tshadowed\tcaught\tagreed\t\t")
	for _, c := range r.Thresholds {
		fmt.Fprintf(t, "\t%.2f\t%s\t%s\t%s\t%s\t\n", c.Threshold, percent(c.Shadowed), percent(c.Caught),
			percent(c.Wasted), r.remark(c))
	}
	for _, p := range r.Promotions {
		fmt.Fprintf(t, "  %s as the shadow of %s: %d better, %d worse, %d the same, %d open: %s, %s\n", p.Shadow,
			p.Primary, p.Wins, p.Losses, p.Same, p.Undecided, p.Advice, p.Why)
	}
	for _, c := range r.Correctness {
		fmt.Fprintf(t, "  %s: %d of %d passed (%.1f–%.1f %%)\n", c.Lane, c.Passed, c.Samples, 100*c.Low, 100*c.High)
	}
}

func (r *IntentReport) remark(c ThresholdCost) string {
	switch {
	case c.Threshold == r.Threshold:
		return "in force"
	case !c.Observed:
		return "not observed"
	}
	return ""
}

func percent(share *float64) string {
	if share == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**share)
}

// String is the recommendation in words.
func (r Recommendation) String() string {
	if r.Threshold == nil {
		return "none: " + r.Why
	}
	return fmt.Sprintf("%.3f (%.3f–%.3f): %s", *r.Threshold, *r.Low, *r.High, r.Why)
}

// String is the lane as clients name it, and its version.
func (l Lane) String() string {
	var b strings.Builder
	b.WriteString(l.Specialist)
	if l.Adapter != "" {
		b.WriteString(":" + l.Adapter)
	}
	if l.Version != "" {
		b.WriteString(" (" + l.Version + ")")
	}
	return b.String()
}
