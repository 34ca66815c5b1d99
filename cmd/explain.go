package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"octet/gateway/api"
	"octet/gateway/receipt"
	"octet/routing"
)

// explainFlags are the flags of `octet explain`.
type explainFlags struct {
	server, key, intent, priority, deadline, adapter, session, model, body string
}

func explainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain [PROMPT]",
		Short: "A decision without running it, as a table",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, strings.Join(args, ""))
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.server, "server", "http://127.0.0.1:8080", "the gateway's data listener")
	flags.StringVar(&f.key, "key", "", "API key")
	flags.StringVar(&f.model, "model", "octet", "model: octet, a specialist, or specialist:adapter")
	flags.StringVar(&f.intent, "intent", "", "X-Intent")
	flags.StringVar(&f.priority, "priority", "", "X-Priority")
	flags.StringVar(&f.deadline, "deadline-ms", "", "X-Deadline-Ms")
	flags.StringVar(&f.adapter, "adapter", "", "X-Adapter")
	flags.StringVar(&f.session, "session", "", "X-Session-Id")
	flags.StringVar(&f.body, "body", "", "a whole request body as JSON, or - for standard input, instead of PROMPT")
	return c
}

func (f explainFlags) run(cmd *cobra.Command, prompt string) error {
	body, err := f.request(cmd.InOrStdin(), prompt)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(cmd.Context(), http.MethodPost, strings.TrimRight(f.server, "/")+"/v1/route",
		bytes.NewReader(body))
	if err != nil {
		return usageError{err}
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{
		"X-Intent": f.intent, "X-Priority": f.priority, "X-Deadline-Ms": f.deadline, "X-Adapter": f.adapter,
		"X-Session-Id": f.session,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if f.key != "" {
		req.Header.Set("Authorization", "Bearer "+f.key)
	}
	// A redirect would carry the key to another place.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := (&http.Client{Timeout: 30 * time.Second, CheckRedirect: stay}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", resp.StatusCode, bytes.TrimSpace(answer))
	}
	var e api.Explanation
	if err := json.Unmarshal(answer, &e); err != nil {
		return err
	}
	return printExplanation(cmd.OutOrStdout(), &e)
}

func (f explainFlags) request(in io.Reader, prompt string) ([]byte, error) {
	switch f.body {
	case "":
		return json.Marshal(map[string]any{"model": f.model,
			"messages": []map[string]string{{"role": "user", "content": prompt}}})
	case "-":
		return io.ReadAll(in)
	}
	return []byte(f.body), nil
}

// printExplanation shows a decision as people read it: the replica and the reason, then for every step of the workflow
// each candidate on a line.
func printExplanation(out io.Writer, e *api.Explanation) error {
	d := e.Decision
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "specialist\t%s\n", d.Specialist)
	fmt.Fprintf(w, "routed by\t%s\t%s\n", d.RoutedBy, d.Rule)
	if d.Classifier != "" || d.ClassifierOutage != "" {
		fmt.Fprintf(w, "classifier\t%s\t%s\n", d.Classifier, outage(d.ClassifierOutage))
	}
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

// printStep shows one step: the pick, what it is believed to hold, what its Gate would say, and every candidate's
// scores.
func printStep(w io.Writer, s *api.Step) {
	fmt.Fprintln(w)
	if s.Step != "" {
		fmt.Fprintf(w, "step\t%s\t%s\n", s.Step, onFailure(s))
	}
	if r := &s.Routing; r.Profile != "" {
		fmt.Fprintf(w, "profile\t%s\t%s\n", r.Profile, r.Rule)
	}
	switch r := &s.Routing; {
	case r.Error != "":
		fmt.Fprintf(w, "no replica\t%s\n", r.Error)
	case r.Skipped != "":
		fmt.Fprintf(w, "left out\t%s\n", r.Skipped)
	default:
		fmt.Fprintf(w, "replica\t%s\t%d tokens cached, by prediction%s\n", s.Replica, s.Predicted, regret(&r.Hit))
	}
	if a := s.Admission; a != nil {
		fmt.Fprintf(w, "admission\t%s\t%s\n", a.Answer, a.Reason)
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
	fmt.Fprintf(w, "%s\ttotal\n", strings.Join(columns, "\t"))
	for _, c := range trace.Candidates {
		by := c.RemovedBy
		if c.Why != "" {
			by += ": " + c.Why
		}
		fmt.Fprintf(w, "%s\t%s", c.Replica, by)
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
