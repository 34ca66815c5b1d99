package cmd

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printReplay prints a profile a line. Times to first token are in seconds, between tokens in milliseconds.
func printReplay(out io.Writer, r *replayed) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	capacity := r.Capacities != nil
	fmt.Fprint(w, "profile\thit %\tTTFT mean\tp50\tp90\tp99\tITL p50\tp90\tp99\ttokens/s\tgood %\timbalance\trefused\t")
	if capacity {
		fmt.Fprint(w, "capacity\t")
	}
	fmt.Fprintln(w)
	for _, p := range r.Results {
		fmt.Fprintf(w, "%s\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.2f\t%d\t",
			p.Profile, p.HitRate*100, p.TTFT.Mean, p.TTFT.P50, p.TTFT.P90, p.TTFT.P99,
			p.ITL.P50*1e3, p.ITL.P90*1e3, p.ITL.P99*1e3, p.Throughput, p.Goodput*100, p.Imbalance, p.Refused)
		if capacity {
			fmt.Fprintf(w, "%.3f\t", r.Capacities[p.Profile])
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
