package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"octet/internal/replay"
)

// Table is what a game gave.
type Table struct {
	Game   *Game
	Played []Played
	// Left are the cells of the ablation, and Without its policies: the first one whole, then with a part left out.
	Left    []Played
	Without []replay.Contender
}

// Markdown writes the table.
func (t *Table) Markdown(w io.Writer) error {
	m := &markdown{}
	t.head(m)
	all := make([]Compared, len(t.Played))
	for i := range t.Played {
		all[i] = compare(&t.Played[i])
	}
	slices.SortStableFunc(all, func(a, b Compared) int {
		return cmp.Or(cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Group, b.Group))
	})
	t.summaries(m, all)
	t.cells(m, all)
	t.ablation(m)
	_, err := io.WriteString(w, m.b.String())
	return err
}

// markdown collects lines and tables.
type markdown struct{ b strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *markdown) row(cells ...string) { m.line("| %s |", strings.Join(cells, " | ")) }

func (m *markdown) header(cells ...string) {
	m.row(cells...)
	m.line("|%s", strings.Repeat("---|", len(cells)))
}

// about explains the table: by prefill rate, budget and fixed part of a step, requests of a cell, and seed.
const about = `Written by ` + "`octet replay --matrix`; `make matrix`" + ` makes it again.
A cell is a trace and a fleet, and all profiles play it. Engines prefill %v tokens a second in steps of at most %d;
a step takes %v, and the cell's decode time for each sequence that gets a further token.
Load 1 has engines that compute nothing twice busy for 70 %% of the time. A base pool holds 32 of the trace's mean
requests. A cell plays %d requests a replica, more of sessions that last longer, and %d at most. Seed %d.

A ratio is the profile's figure beside that of the best other one: p90 of the time to the first token, and the best
one's tokens a second over its own. Over 1 is worse; **bold** is worse by more than 5 %%. The oracle's p90 is a bound
that no profile betters. Busy is the mean replica's share of the time, for the profile.
`

func (t *Table) head(m *markdown) {
	c := &t.Game.Config
	m.line("# %s beside the other profiles, over the matrix\n", t.Game.Policies[0].Name)
	m.line(about, c.Timing.Prefill, c.Budget, c.Timing.Step, t.Game.Requests/wholeFleet, t.Game.Requests, c.Seed)
	names := make([]string, 0, len(t.Game.Policies))
	for _, p := range t.Game.Policies[1:] {
		names = append(names, p.Name)
	}
	m.line("Other profiles: %s.\n", strings.Join(names, ", "))
	m.header("trace", "requests", "blocks of", "mean prompt", "new", "mean answer", "base pool")
	for i := range t.Game.Traces {
		tr := &t.Game.Traces[i].Trace
		work, n, prompt := tr.Work(), len(tr.Requests), 0
		for k := range tr.Requests {
			prompt += tr.Requests[k].Input
		}
		m.row(t.Game.Traces[i].Name, fmt.Sprint(n), fmt.Sprint(tr.Block), fmt.Sprint(prompt/n),
			fmt.Sprint(work.Prompt/n), fmt.Sprint(work.Answer/n), fmt.Sprint(poolOf(tr)))
	}
	m.line("")
}

// summaries writes a row for each trace, and for what a gateway does not learn.
func (t *Table) summaries(m *markdown, all []Compared) {
	m.line("## Summary\n")
	m.header("cells of", "cells", "p90 worst / median / best", "tokens/s worst / median / best", "within 5 %",
		"better by 10 %")
	total, unknown := summary{}, summary{}
	for i := range t.Game.Traces {
		s := summary{}
		for k := range all {
			switch c := &all[k]; {
			case c.Trace != i:
			case c.Group == Unknown:
				unknown.add(c)
			default:
				s.add(c)
				total.add(c)
			}
		}
		if s.cells > 0 {
			m.row(s.row(t.Game.Traces[i].Name)...)
		}
	}
	if total.cells > 0 {
		m.row(total.row("all traces")...)
	}
	if unknown.cells > 0 {
		m.row(unknown.row("events or metrics missing, late or wrong")...)
	}
	m.line("")
}

func (t *Table) cells(m *markdown, all []Compared) {
	m.line("## Cells\n")
	m.header("trace", "cell", "busy", "p90", "best other p90", "ratio", "oracle", "tokens/s", "best other tokens/s",
		"ratio")
	for i := range all {
		c := &all[i]
		m.row(t.Game.Traces[c.Trace].Name, c.Cell.String(), fmt.Sprintf("%.0f %%", 100*c.Mine.Busy),
			seconds(c.Mine), fmt.Sprintf("%s %s", seconds(c.First), c.First.Profile), ratio(c.TTFT), seconds(c.Bound),
			fmt.Sprintf("%.0f", c.Mine.Throughput), fmt.Sprintf("%.0f %s", c.Most.Throughput, c.Most.Profile),
			ratio(c.Speed))
	}
	m.line("")
}

// ablation writes what each part is worth: the ratios of the policies without it to the whole one.
func (t *Table) ablation(m *markdown) {
	if len(t.Without) < 2 {
		return
	}
	m.line("## What each part is worth\n")
	m.line("p90 and tokens a second without a part, beside those of the whole: over 1 the part is worth having.\n")
	head := []string{"trace", "cell"}
	for _, p := range t.Without[1:] {
		head = append(head, p.Name)
	}
	m.header(head...)
	for i := range t.Left {
		p := &t.Left[i]
		cells := []string{t.Game.Traces[p.Trace].Name, p.Cell.String()}
		whole := &p.Results[0]
		for k := range p.Results[1:] {
			r := &p.Results[1+k]
			cells = append(cells, fmt.Sprintf("%.2f, %.2f", over(r.TTFT.P90, whole.TTFT.P90),
				over(whole.Throughput, r.Throughput)))
		}
		m.row(cells...)
	}
	m.line("")
}

func seconds(r replay.Result) string { return fmt.Sprintf("%.3g s", r.TTFT.P90) }

func ratio(r float64) string {
	if r > near {
		return fmt.Sprintf("**%.2f**", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// String says how the cell differs from the base cell.
func (c *Cell) String() string {
	var s []string
	differs := func(yes bool, format string, args ...any) {
		if yes {
			s = append(s, fmt.Sprintf(format, args...))
		}
	}
	base := row{}.cell(Base)
	differs(c.Replicas != base.Replicas, "%d replicas", c.Replicas)
	differs(c.Pool != base.Pool, "pool ×%g", c.Pool)
	differs(c.Decode != base.Decode, "decode %v", c.Decode)
	differs(c.Load != base.Load, "load %g", c.Load)
	differs(c.Late != base.Late, "events %v late", c.Late)
	differs(c.Blind != base.Blind, "%s", c.Blind)
	if len(s) == 0 {
		return "base"
	}
	return strings.Join(s, ", ")
}
