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

	"octet/gateway"
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
	req, err := http.NewRequestWithContext(cmd.Context(), http.MethodPost, strings.TrimRight(f.server, "/")+"/v1/route", bytes.NewReader(body))
	if err != nil {
		return usageError{err}
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{
		"X-Intent": f.intent, "X-Priority": f.priority, "X-Deadline-Ms": f.deadline, "X-Adapter": f.adapter, "X-Session-Id": f.session,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if f.key != "" {
		req.Header.Set("Authorization", "Bearer "+f.key)
	}
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Do(req)
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
	var e gateway.Explanation
	if err := json.Unmarshal(answer, &e); err != nil {
		return err
	}
	return printExplanation(cmd.OutOrStdout(), &e)
}

func (f explainFlags) request(in io.Reader, prompt string) ([]byte, error) {
	switch f.body {
	case "":
		return json.Marshal(map[string]any{"model": f.model, "messages": []map[string]string{{"role": "user", "content": prompt}}})
	case "-":
		return io.ReadAll(in)
	}
	return []byte(f.body), nil
}

// printExplanation shows a decision as people read it: who and why, then every candidate on a line.
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
	fmt.Fprintf(w, "replica\t%s\t%d tokens cached, by prediction\n", e.Replica, e.Predicted)
	if a := e.Admission; a != nil {
		fmt.Fprintf(w, "admission\t%s\t%s\n", a.Answer, a.Reason)
	}
	fmt.Fprintln(w)
	printCandidates(w, e)
	return w.Flush()
}

func printCandidates(w io.Writer, e *gateway.Explanation) {
	trace := e.Routing.Trace
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
	fmt.Fprintf(w, "replica\tremoved by\t%s\ttotal\n", strings.Join(scorers, "\t"))
	for _, c := range trace.Candidates {
		fmt.Fprintf(w, "%s\t%s", c.Replica, c.RemovedBy)
		for _, name := range scorers {
			i := slices.IndexFunc(c.Scores, func(s routing.Score) bool { return s.Scorer == name })
			if i < 0 {
				fmt.Fprint(w, "\t")
				continue
			}
			fmt.Fprintf(w, "\t%.3f", c.Scores[i].Weighted)
		}
		fmt.Fprintf(w, "\t%.3f\n", c.Total)
	}
}
