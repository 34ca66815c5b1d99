package calibration

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
)

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d records, %d lines skipped", r.Records, r.Skipped)
	if r.Repeated > 0 {
		fmt.Fprintf(t, ", %d left out that were there before", r.Repeated)
	}
	fmt.Fprintln(t)
	for i := range r.Intents {
		r.Intents[i].write(t, plain(r.Intents[i].Intent))
	}
	return t.Flush()
}

// plain returns a name of a record without what a terminal would obey, or no XML may have: each is a "?". A stream may
// hold what other programs wrote.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
}

func (r *IntentReport) write(t io.Writer, name string) {
	fmt.Fprintf(t, "\n%s: %d requests decided by the classifier, %d comparisons, threshold %.2f\n", name,
		r.Requests, r.Comparisons, r.Threshold)
	r.FormReport.write(t, r.Threshold)
	if r.ToolCalls != nil {
		fmt.Fprintf(t, "%s, answers of which one or both call tools: %d comparisons\n", name,
			r.ToolCalls.Comparisons)
		r.ToolCalls.write(t, r.Threshold)
	}
	if r.JSON != nil {
		fmt.Fprintf(t, "%s, answers that are JSON: %d comparisons\n", name, r.JSON.Comparisons)
		r.JSON.write(t, r.Threshold)
	}
	for _, c := range r.Correctness {
		fmt.Fprintf(t, "  %s: %d of %d passed (%.1f–%.1f %%)\n", c.Lane, c.Passed, c.Samples, 100*c.Low, 100*c.High)
	}
}

func (r *FormReport) write(t io.Writer, threshold float64) {
	if len(r.Classes) > 0 {
		fmt.Fprintf(t, "  classes: %s\n", counted(r.Classes))
	}
	if len(r.Calls) > 0 {
		fmt.Fprintf(t, "  tool calls: %s\n", counted(r.Calls))
	}
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
			percent(c.Wasted), c.remark(threshold))
	}
	for _, p := range r.Promotions {
		fmt.Fprintf(t, "  %s as the shadow of %s: %d better, %d worse, %d the same, %d open: %s, %s\n", p.Shadow,
			p.Primary, p.Wins, p.Losses, p.Same, p.Undecided, p.Advice, p.Why)
	}
}

// counted lists counts by name: agree 3, differ 1.
func counted[K ~string](counts map[K]int) string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(counts)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", name, counts[name])
	}
	return b.String()
}

func (c *ThresholdCost) remark(inForce float64) string {
	switch {
	case c.Threshold == inForce:
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
	return plain(b.String())
}
