package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"octet/cmd/adminclient"
	"octet/gateway/api"
	"octet/gateway/receipt"
	"octet/routing"
)

// printExplanation shows a decision as people read it: the replica and the reason, then for every step of the workflow
// each candidate on a line.
func printExplanation(out io.Writer, e *api.Explanation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	printDecision(w, &e.Decision, &e.Prompt)
	for i := range e.Steps {
		printStep(w, &e.Steps[i])
	}
	return w.Flush()
}

// printDecision shows which specialist was chosen, and by what.
func printDecision(w io.Writer, d *receipt.Decision, p *receipt.Prompt) {
	row(w, "specialist", d.Specialist, edition(d))
	row(w, "routed by", d.RoutedBy, d.Rule)
	if d.Classifier != "" || d.ClassifierOutage != "" {
		row(w, "classifier", d.Classifier, outage(d.ClassifierOutage))
	}
	if d.Confidence != nil {
		row(w, "confidence", fmt.Sprintf("%.3f", *d.Confidence))
	}
	if len(d.Cues) > 0 {
		row(w, "cues", strings.Join(d.Cues, ", "))
	}
	row(w, "prompt", fmt.Sprintf("%d tokens, %d blocks", p.Tokens, p.Blocks))
}

// edition says which adapter and version a decision means; nothing where it means neither.
func edition(d *receipt.Decision) string {
	words := make([]string, 0, 3)
	if d.Adapter != "" {
		words = append(words, "adapter "+d.Adapter)
	}
	if d.Version != "" {
		words = append(words, "version "+d.Version)
	}
	if d.Probation {
		words = append(words, "on probation")
	}
	return strings.Join(words, ", ")
}

// row prints cells that others have written: names, and engines' words.
func row(w io.Writer, cells ...string) {
	for len(cells) > 1 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	for i := range cells {
		cells[i] = adminclient.Plain(cells[i])
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// printStep shows one step: the pick, what it is believed to hold, what its Gate would say, and every candidate's
// scores.
func printStep(w io.Writer, s *api.Step) {
	fmt.Fprintln(w)
	if s.Step != "" {
		row(w, "step", s.Step, onFailure(s))
	}
	if r := &s.Routing; r.Profile != "" {
		row(w, "profile", r.Profile, r.Rule)
	}
	switch r := &s.Routing; {
	case r.Error != "":
		row(w, "no replica", r.Error)
	case r.Skipped != "":
		row(w, "left out", r.Skipped)
	default:
		row(w, "replica", s.Replica, fmt.Sprintf("%d tokens cached, by prediction%s", s.Predicted, regret(&r.Hit)))
	}
	if a := s.Admission; a != nil {
		row(w, "admission", a.Answer, a.Reason)
	}
	printCandidates(w, s.Routing.Trace)
}

// outage says why the classifier over HTTP gave no answer; nothing where it did.
func outage(why string) string {
	if why == "" {
		return ""
	}
	return "the one over HTTP gave no answer: " + why
}

func onFailure(s *api.Step) string {
	if s.OnFailure == "" {
		return ""
	}
	return "on failure " + s.OnFailure
}

// regret says what another replica would have had cached beyond the pick; nothing where none has more.
func regret(h *receipt.Hit) string {
	if h.Best <= h.Chosen {
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
	row(w, append(columns, "total")...)
	for _, c := range trace.Candidates {
		by := c.RemovedBy
		if c.Why != "" {
			by += ": " + c.Why
		}
		cells := []string{c.Replica, by}
		for _, name := range scorers {
			cells = append(cells, score(c.Scores, name))
		}
		row(w, append(cells, fmt.Sprintf("%.3f", c.Total))...)
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
