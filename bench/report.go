package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// baseline is the gateway that all others are compared with.
var baseline = "nginx"

// figures are what was measured of one row: by gateway, one number a round.
type figures map[string][]float64

// Cell is one gateway's figure in the report.
type Cell struct {
	Median float64   `json:"median"`
	Ratio  float64   `json:"ratio,omitempty"` // median of the rounds' ratios
	Rounds []float64 `json:"rounds"`
}

// Line is one row of the report.
type Line struct {
	Row      string          `json:"row"`
	Unit     string          `json:"unit"`
	Floor    float64         `json:"floor,omitempty"` // goals, as ratios to nginx
	Aim      float64         `json:"aim,omitempty"`
	Gateways map[string]Cell `json:"gateways"`
}

// Report is what a run found.
type Report struct {
	Against string            `json:"ratios_to"`
	Missing map[string]string `json:"missing,omitempty"` // gateways that did not run, and why
	Failed  map[string]string `json:"failed,omitempty"`  // measurements that did not come to an end
	Lines   []Line            `json:"rows"`
}

func line(r row, f figures) Line {
	unit := r.unit
	if countInstructions {
		unit = strings.Replace(unit, "µs CPU", "1,000 instructions", 1)
	}
	l := Line{Row: r.name, Unit: unit, Floor: r.floor, Aim: r.aim, Gateways: map[string]Cell{}}
	for name, rounds := range f {
		l.Gateways[name] = Cell{Median: median(rounds), Rounds: whole(rounds), Ratio: ratio(rounds, f[baseline])}
	}
	return l
}

// ratio is the median of a/b round by round: what disturbs the machine in one round disturbs both.
func ratio(a, b []float64) float64 {
	n := min(len(a), len(b))
	all := make([]float64, 0, n)
	for i := range n {
		if b[i] > 0 && !math.IsNaN(a[i]) {
			all = append(all, a[i]/b[i])
		}
	}
	if len(all) == 0 {
		return 0
	}
	return median(all)
}

// whole is all without the rounds that failed.
func whole(all []float64) []float64 { return slices.DeleteFunc(slices.Clone(all), math.IsNaN) }

// median skips rounds that failed.
func median(all []float64) float64 {
	s := whole(all)
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func (r Report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeTable prints a line a row and a column a gateway: the median, and how often the baseline's it is.
func (r Report) writeTable(w io.Writer, names []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "row\tunit")
	for _, n := range names {
		fmt.Fprintf(t, "\t%s", n)
	}
	fmt.Fprint(t, "\tgoal\n")
	for _, l := range r.Lines {
		fmt.Fprintf(t, "%s\t%s", l.Row, l.Unit)
		for _, n := range names {
			fmt.Fprintf(t, "\t%s", cell(l.Gateways[n]))
		}
		goal := ""
		if l.Floor > 0 {
			goal = fmt.Sprintf("%.2f / %.2f", l.Floor, l.Aim)
		}
		fmt.Fprintf(t, "\t%s\n", goal)
	}
	for _, n := range sorted(r.Missing) {
		fmt.Fprintf(t, "not run: %s: %s\n", n, r.Missing[n])
	}
	for _, n := range sorted(r.Failed) {
		fmt.Fprintf(t, "failed: %s: %s\n", n, r.Failed[n])
	}
	return t.Flush()
}

func cell(c Cell) string {
	if len(c.Rounds) == 0 || c.Median == 0 {
		return "-"
	}
	text := fmt.Sprintf("%.1f", c.Median)
	if c.Median >= 1000 {
		text = fmt.Sprintf("%.0f", c.Median)
	} else if c.Median < 10 {
		text = fmt.Sprintf("%.2f", c.Median)
	}
	if c.Ratio == 0 {
		return text
	}
	return fmt.Sprintf("%s (%.2f)", text, c.Ratio)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
