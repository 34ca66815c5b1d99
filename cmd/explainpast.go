package cmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"octet/gateway/api"
	"octet/gateway/receipt"
)

// past shows the decision of a receipt.
func (f *explainFlags) past(cmd *cobra.Command) error {
	client, err := f.admin.client()
	if err != nil {
		return err
	}
	r, err := client.Receipt(cmd.Context(), f.receipt)
	if err != nil {
		return err
	}
	return printReceipt(cmd.OutOrStdout(), r)
}

// printReceipt shows a past decision as people read it: what was asked, why it went where it went, each replica's turn,
// and what came of it.
func printReceipt(out io.Writer, r *receipt.Receipt) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row(w, "receipt", r.ID, r.Time.Local().Format(time.DateTime))
	row(w, "request", r.RequestID, r.Kind)
	row(w, "asked", asked(&r.Asked))
	printDecision(w, &r.Decision, &r.Prompt)
	if r.Decision.Demoted != "" {
		row(w, "stands in", "for "+r.Decision.Demoted)
	}
	if r.Decision.Shadow != "" {
		row(w, "shadow", r.Decision.Shadow)
	}
	for i := range r.Routing {
		record := &r.Routing[i]
		printStep(w, &api.Step{Step: record.Step, Routing: *record, Replica: record.Hit.Replica,
			Predicted: record.Hit.Chosen})
	}
	printAttempts(w, r.Attempts)
	printResult(w, r)
	return w.Flush()
}

// asked is what the client said, in a line.
func asked(a *receipt.Asked) string {
	said := []string{"model " + a.Model}
	for _, one := range []struct{ name, value string }{
		{"intent", a.Intent}, {"adapter", a.Adapter}, {"replica", a.Replica}, {"policy", a.Policy},
		{"priority", number(a.Priority)}, {"deadline", milliseconds(a.DeadlineMs)},
		{"first token", milliseconds(a.TTFTDeadlineMs)}, {"most tokens", number(a.MaxTokens)},
	} {
		if one.value != "" {
			said = append(said, one.name+" "+one.value)
		}
	}
	if a.Stream {
		said = append(said, "streamed")
	}
	return strings.Join(said, ", ")
}

// number is n, "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// milliseconds is a duration of a header, "" for none.
func milliseconds(ms int64) string {
	if ms == 0 {
		return ""
	}
	return fmt.Sprintf("within %d ms", ms)
}

// printAttempts shows the turns of replicas, one a line.
func printAttempts(w io.Writer, turns []receipt.Attempt) {
	if len(turns) == 0 {
		return
	}
	fmt.Fprintln(w)
	row(w, "attempt", "replica", "queued ms", "ms", "cached, predicted", "delivered", "outcome")
	for i := range turns {
		a := &turns[i]
		delivered := "not told"
		if a.DeliveredTokens != nil {
			delivered = fmt.Sprint(*a.DeliveredTokens)
		}
		why := a.Outcome
		for _, more := range []string{a.Detail, a.Fallback} {
			if more != "" {
				why += ": " + more
			}
		}
		row(w, strings.TrimSpace(fmt.Sprintf("%d %s", i+1, a.Step)), a.Replica, fmt.Sprintf("%.1f", a.QueueMs),
			fmt.Sprintf("%.1f", a.Ms), fmt.Sprint(a.PredictedTokens), delivered, why)
	}
}

// held says how long a request was held until a replica served, and that one was woken for it; "" if neither was.
func held(e *receipt.Result) (said string) {
	if e.HeldMs > 0 {
		said = fmt.Sprintf(", held %.1f ms", e.HeldMs)
	}
	if e.Woke {
		said += ", woke a replica"
	}
	return said
}

// printResult shows how the request ended, and what was said of the answer.
func printResult(w io.Writer, r *receipt.Receipt) {
	e := &r.Result
	fmt.Fprintln(w)
	row(w, "result", fmt.Sprintf("status %d", e.Status), strings.TrimSpace(e.Code+" "+e.Finish))
	row(w, "times", fmt.Sprintf("first token %.1f ms, whole %.1f ms, routed in %.0f µs%s",
		e.TTFTMs, e.TotalMs, e.RouteUs, held(e)))
	row(w, "tokens", fmt.Sprintf("%d of the prompt, %d of the answer", e.PromptTokens, e.CompletionTokens))
	if e.Continued+e.Preempted > 0 {
		row(w, "way", fmt.Sprintf("continued %d times, preempted %d times", e.Continued, e.Preempted))
	}
	for _, o := range r.Outcomes {
		verdict := "failed"
		if o.Pass {
			verdict = "passed"
		}
		row(w, "verdict", o.Kind, strings.TrimSpace(verdict+" "+o.Specialist))
	}
}
