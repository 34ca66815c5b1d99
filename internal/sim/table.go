package sim

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"octet/scheduler"
)

// Print writes rows as a table.
func Print(w io.Writer, title string, rows []Row) {
	fmt.Fprintf(w, "%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(
		t,
		"load\tseeds\tsteps\tasked\tadmitted\tfull\tdeadline\tsize\tkv\twaited\t"+
			"cancelled\taborted\tpreempted\tdeadlines\tlate\tp50 wait\tp99 wait\ttrace\t")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t%v\t%016x\t\n", r.Name, r.Seeds,
			r.Steps, r.Asked, r.Admitted,
			r.Refused[scheduler.ErrQueueFull.Error()], r.Refused[scheduler.ErrDeadline.Error()],
			r.Refused[scheduler.ErrExceedsPool.Error()],
			r.Refused[scheduler.ErrKVExhausted.Error()], r.Refused[tooLong], r.Cancelled, r.Aborted, r.Preempted,
			r.Deadlines, r.Misses,
			r.Wait(0.5).Round(time.Millisecond), r.Wait(0.99).Round(time.Millisecond), r.Trace)
	}
	t.Flush() //nolint:errcheck // a table for people
	fmt.Fprintln(w)
}

// Figure is a promise as a number.
type Figure struct {
	What           string
	Measured, Most float64 // in percent
	Of             uint64
}

// Holds reports whether the promise is kept.
func (f *Figure) Holds() bool { return f.Measured <= f.Most }

// Figures returns how honest the Gate's answers were.
func Figures(rows []Row, retries *Retries) (all []Figure) {
	for i := range rows {
		r := &rows[i]
		most := 1.0
		if r.Oracle.Refused > 0 {
			most = 0 // the engine is exact
			all = append(all, Figure{"refused for its deadline, and would have been in time in its turn: " + r.Name,
				percent(r.Oracle.Wrongly, r.Oracle.Refused), 5, r.Oracle.Refused})
		}
		all = append(all, Figure{"admitted, and its deadline missed: " + r.Name, percent(r.Misses, r.Deadlines), most,
			r.Deadlines},
			Figure{"let wait, and refused when it was too late, with nobody between who asked later: " + r.Name,
				percent(r.Late, r.Deadlines+r.Late), 1, r.Deadlines + r.Late})
		if r.Vain > 0 {
			all = append(all, Figure{"gave way, and one whom age had lifted came between: " + r.Name,
				percent(r.Vain, r.Preempted), 0.1, r.Preempted})
		}
		if r.EDF > 0 {
			all = append(all, Figure{"served by their deadline by EDF, which knows all, and not here: " + r.Name,
				percent(r.EDF-min(r.EDF, r.Deadlines-r.Misses), r.EDF), 5, r.EDF})
		}
	}
	return append(all,
		Figure{"came back when told, and was refused", percent(retries.Told-retries.Succeeded, retries.Told), 5,
			retries.Told},
		Figure{"was told to stay away more than twice as long as needed", percent(retries.Twice, retries.Told), 0,
			retries.Told})
}

func percent(part, of uint64) float64 { return 100 * float64(part) / float64(max(1, of)) }

// PrintFigures writes what was measured beside what is wanted.
func PrintFigures(w io.Writer, figures []Figure) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tmeasured\twanted\tof\t")
	for i := range figures {
		f := &figures[i]
		verdict := "holds"
		if !f.Holds() {
			verdict = "does not hold"
		}
		fmt.Fprintf(t, "%s\t%.3f %%\t≤ %g %%\t%d\t%s\n", f.What, f.Measured, f.Most, f.Of, verdict)
	}
	t.Flush() //nolint:errcheck // a table for people
}
