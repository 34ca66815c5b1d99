package cmd

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octet/internal/replay"
	"octet/internal/replay/matrix"
	"octet/routing"
	"octet/routing/plugins"
)

// matrixFlags are the flags of `octet replay --matrix`.
type matrixFlags struct {
	on       bool
	out      string
	requests int
	groups   []string
	ablation bool
}

func (f *matrixFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.on, "matrix", false, "play a matrix of cells, and write how the first profile compares")
	flags.StringVar(&f.out, "out", "", "file for the matrix, as Markdown; empty is standard output")
	flags.IntVar(&f.requests, "requests", 12000, "requests that a cell of the matrix plays at most")
	flags.StringSliceVar(&f.groups, "cells", matrix.Groups, "cells of the matrix to play")
	flags.BoolVar(&f.ablation, "ablation", true, "also play the first profile with each part left out")
}

// cellFlags are those of a single replay, which a matrix sets for each cell.
var cellFlags = []string{"replicas", "blocks", "block-size", "rate", "decode-time", "event-delay", "no-events",
	"metrics-delay", "lying-replicas", "capacity", "svg", "json", "from", "to"}

// misfits are the presets that decide nothing in a matrix: they want a named replica, a workflow or labels.
var misfits = []string{"direct", "disaggregated", "device-aware"}

// leftOut are the parameters of least-work that are set to 0 to leave out a part.
var leftOut = []string{"own_weight", "backlog_price", "stream_weight", "slowdown_weight", "memory_weight",
	"recent_weight"}

// runMatrix plays the matrix and writes its table.
func (f *replayFlags) runMatrix(cmd *cobra.Command, names []string) error {
	groups, err := f.checkMatrix(cmd)
	if err != nil {
		return usageError{err}
	}
	if !cmd.Flags().Changed("profiles") {
		f.profiles = slices.DeleteFunc(plugins.Presets(), func(p string) bool { return slices.Contains(misfits, p) })
	}
	policies, err := f.contenders()
	if err != nil {
		return err
	}
	traces, err := f.traces(names)
	if err != nil {
		return err
	}
	game := &matrix.Game{
		Setup:  matrix.Setup{Config: f.Config, Requests: f.matrix.requests},
		Traces: traces, Policies: policies, Parallel: f.parallel,
	}
	table := &matrix.Table{Game: game}
	if table.Played, err = play(cmd, *game, matrix.Design(traces, groups, f.Seed), "replays"); err != nil {
		return err
	}
	if f.matrix.ablation {
		table.Without = ablated(policies[0])
		alone := *game
		alone.Policies = table.Without
		if table.Left, err = play(cmd, alone, matrix.Ablation(traces), "replays with a part left out"); err != nil {
			return err
		}
	}
	if f.matrix.out == "" {
		return table.Markdown(cmd.OutOrStdout())
	}
	return writeFile(f.matrix.out, func(w io.Writer) error { return table.Markdown(w) })
}

// checkMatrix returns the groups of cells to play.
func (f *replayFlags) checkMatrix(cmd *cobra.Command) (map[matrix.Group]bool, error) {
	for _, name := range cellFlags {
		if cmd.Flags().Changed(name) {
			return nil, fmt.Errorf("%w: --%s is a matter of each cell of a --matrix", replay.ErrConfig, name)
		}
	}
	if f.matrix.requests < 48 {
		return nil, fmt.Errorf("%w: cells of %d requests, want at least 48", replay.ErrConfig, f.matrix.requests)
	}
	groups := map[matrix.Group]bool{}
	for _, name := range f.matrix.groups {
		at := slices.Index(matrix.Groups, name)
		if at < 0 {
			return nil, fmt.Errorf("%w: no cells %q, want some of %s", replay.ErrConfig, name,
				strings.Join(matrix.Groups, ", "))
		}
		groups[matrix.Group(at)] = true
	}
	if err := f.checkReading(); err != nil {
		return nil, err
	}
	return groups, f.Check()
}

// traces loads the traces of a matrix. Mixes, and from the second seed on the traces of a drawn kind, are brief.
func (f *replayFlags) traces(names []string) (all []matrix.Trace, err error) {
	f.reading.Seed = f.Seed
	kinds := map[string]bool{}
	for _, name := range names {
		trace, err := loadTrace(name, f.reading)
		if err != nil {
			return nil, err
		}
		mix := strings.Contains(name, "+")
		t := matrix.Trace{Name: traceName(name), Trace: trace, Brief: mix}
		if drawn, ok, _ := drawnTrace(name); ok && !mix {
			t.Brief = kinds[drawn.Kind]
			kinds[drawn.Kind] = true
		}
		all = append(all, t)
	}
	return all, nil
}

// traceName is how a table names a trace: without folders and endings.
func traceName(name string) string {
	parts := strings.Split(name, "+")
	for i, part := range parts {
		part = filepath.Base(part)
		for _, ending := range []string{".gz", ".jsonl", ".csv"} {
			part = strings.TrimSuffix(part, ending)
		}
		parts[i] = part
	}
	return strings.Join(parts, " + ")
}

// ablated returns the policy, and where it is by least-work the same with each of its parts left out.
func ablated(whole replay.Contender) []replay.Contender {
	all := []replay.Contender{whole}
	at := slices.IndexFunc(whole.Spec.Score, func(s routing.WeightedSpec) bool { return s.Name == "least-work" })
	if at < 0 {
		return all
	}
	for _, param := range leftOut {
		part := whole
		part.Name, part.Spec.Score = "no "+param, slices.Clone(whole.Spec.Score)
		params := maps.Clone(part.Spec.Score[at].Params)
		if params == nil {
			params = map[string]any{}
		}
		params[param] = 0
		part.Spec.Score[at].Params = params
		all = append(all, part)
	}
	return all
}

// play plays cells, and says on standard error how far it is, each few seconds.
func play(cmd *cobra.Command, game matrix.Game, cells []matrix.Cell, what string) ([]matrix.Played, error) {
	said := time.Now()
	game.Progress = func(done, total int) {
		if now := time.Now(); done == total || now.Sub(said) > 5*time.Second {
			said = now
			fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d %s\n", done, total, what)
		}
	}
	played, err := game.Play(cmd.Context(), cells)
	return played, replayFault(err)
}
