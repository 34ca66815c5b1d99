package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"octet/gateway"
	"octet/gateway/receipt"
	"octet/routing"
)

// printExplanation shows a decision as people read it: who and why, then for every step of the workflow each candidate
// on a line.
func printExplanation(out io.Writer, e *gateway.Explanation) error {
	d := e.Decision
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "specialist\t%s\n", d.Specialist)
	fmt.Fprintf(w, "routed by\t%s\t%s\n", d.RoutedBy, d.Rule)
	if d.Confidence != nil {
		fmt.Fprintf(w, "confidence\t%.3f\n", *d.Confidence)
	}
	if len(d.Cues) > 0 {
		fmt.Fprintf(w, "cues\t%s\n", strings.Join(d.Cues, ", "))
	}
	fmt.Fprintf(w, "prompt\t%d tokens, %d blocks\n", e.Prompt.Tokens, e.Prompt.Blocks)
	for i := range e.Steps {
		printStep(w, &e.Steps[i])
	}
	return w.Flush()
}

// printStep shows one step: the pick, what it is believed to hold, what its Gate would say, and everybody's scores.
func printStep(w io.Writer, s *gateway.StepExplanation) {
	fmt.Fprintln(w)
	if s.Step != "" {
		fmt.Fprintf(w, "step\t%s\t%s\n", s.Step, onFailure(s))
	}
	switch r := &s.Routing; {
	case r.Error != "":
		fmt.Fprintf(w, "no replica\t%s\n", r.Error)
	case r.Skipped != "":
		fmt.Fprintf(w, "left out\t%s\n", r.Skipped)
	default:
		fmt.Fprintf(w, "replica\t%s\t%d tokens cached, by prediction%s\n", s.Replica, s.Predicted, regret(r.Hit))
	}
	if a := s.Admission; a != nil {
		fmt.Fprintf(w, "admission\t%s\t%s\n", a.Answer, a.Reason)
	}
	printCandidates(w, s.Routing.Trace)
}

func onFailure(s *gateway.StepExplanation) string {
	if s.OnFailure == "" {
		return ""
	}
	return "on failure " + s.OnFailure
}

// regret says what another replica would have had cached beyond the pick; nothing where none has more.
func regret(h *receipt.Hit) string {
	if h == nil || h.Best <= h.Chosen {
		return ""
	}
	return fmt.Sprintf("; %s holds %d, regret %.2f", h.BestReplica, h.Best, h.Regret)
}

func printCandidates(w io.Writer, trace *routing.Trace) {
	if trace == nil {
		return
	}
	var scorers []string
	for _, c := range trace.Candidates {
		for _, s := range c.Scores {
			if !slices.Contains(scorers, s.Scorer) {
				scorers = append(scorers, s.Scorer)
			}
		}
	}
	columns := append([]string{"candidate", "removed by"}, scorers...)
	fmt.Fprintf(w, "%s\ttotal\n", strings.Join(columns, "\t"))
	for _, c := range trace.Candidates {
		fmt.Fprintf(w, "%s\t%s", c.Replica, c.RemovedBy)
		for _, name := range scorers {
			fmt.Fprintf(w, "\t%s", score(c.Scores, name))
		}
		fmt.Fprintf(w, "\t%.3f\n", c.Total)
	}
}

// score is one scorer's word on one candidate: raw, and what it weighs.
func score(all routing.Scores, scorer string) string {
	i := slices.IndexFunc(all, func(s routing.Score) bool { return s.Scorer == scorer })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%.3f (%.3f)", all[i].Raw, all[i].Weighted)
}
