package cmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"octet/calibration/lessons"
	"octet/classifier/model"
	"octet/classifier/train"
	"octet/internal/files"
)

// learn trains from calibration records: anew with --data, else by adjusting the model in use.
func (f *trainFlags) learn(cmd *cobra.Command) error {
	if f.folds > 0 && f.data == "" {
		return usageError{errors.New("--folds is of a training with --data; an adjusted model keeps its calibration")}
	}
	u, err := f.inUse()
	if err != nil {
		return lessonFault(err)
	}
	if err := u.replaces(f.out); err != nil {
		return err
	}
	all, counts, err := f.lessonsLearnt(cmd, &u, f.seed)
	if err != nil {
		return lessonFault(err)
	}
	l := &learnt{Counts: counts}
	l.count(all)
	if counts.Held == 0 || counts.Held == counts.Lessons {
		return lessonFault(fmt.Errorf("%w on both sides of the split: %d texts, %d of them held out",
			lessons.ErrNoLessons, counts.Lessons, counts.Held))
	}
	learn, held := samples(all, false), samples(all, true)
	artefact, dev, err := f.better(&u, l, learn)
	if err != nil {
		return lessonFault(err)
	}
	after, err := model.New(artefact)
	if err != nil {
		return err
	}
	if err := l.compare(u.model, after, learn, held, dev); err != nil {
		return lessonFault(err)
	}
	if l.Written = l.Adjusted == nil || l.Adjusted.Strength > 0; l.Written {
		if _, err := f.writeOut(artefact, l.HeldOut.After); err != nil {
			return err
		}
	}
	return present(cmd.OutOrStdout(), f.json, l, func() error { return l.write(cmd.OutOrStdout(), f.out) })
}

// better returns the model that has learnt, and the labelled texts of --dev, which it has not learnt from.
func (f *trainFlags) better(u *inUse, l *learnt, learn []train.Sample) (a *model.Artefact, dev []train.Sample,
	err error) {
	if f.data != "" {
		c, err := f.training()
		if err != nil {
			return nil, nil, err
		}
		c.Train = append(c.Train, learn...)
		if f.folds == 0 {
			dev = c.Dev
		}
		a, _, err = train.Run(c)
		return a, dev, err
	}
	if f.dev != "" {
		if dev, err = train.Load(f.dev); err != nil {
			return nil, nil, err
		}
	}
	a, l.Adjusted, err = train.Adjust(train.Adjusting{Base: u.artefact, Learnt: learn, Anchors: anchors(),
		Seed: f.seed})
	return a, dev, err
}

// writeOut writes the artefact, and the reliability diagram if one is asked for. It returns the artefact's size in
// bytes.
func (f *trainFlags) writeOut(a *model.Artefact, r *train.Report) (size int, err error) {
	raw, err := a.Encode()
	if err != nil {
		return 0, err
	}
	put := func(w io.Writer) error { _, err := w.Write(raw); return err }
	if err := files.Replace(f.out, files.Public, put); err != nil || f.svg == "" {
		return len(raw), err
	}
	return len(raw), os.WriteFile(f.svg, r.Diagram(), files.Public)
}

// write shows for people what was learnt, and what it would change.
func (l *learnt) write(out io.Writer, path string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	c := &l.Counts
	fmt.Fprintf(w, "%d records, %d lines skipped: %d labelled texts, of which %d are held out\n", c.Records, c.Skipped,
		c.Lessons, c.Held)
	for _, row := range []struct {
		n   int
		why string
	}{
		{c.WithoutText, "requests without their text (shadow.prompts: text records it)"},
		{c.Undecided, "without a verdict or a better answer"}, {c.Wrong, "wrong, and no right answer is known"},
		{c.Contradictory, "with contradictory evidence"}, {c.Unmapped, "of a specialist that no label leads to"},
		{c.Ambiguous, "of a specialist that several labels lead to"}, {c.Repeated, "with a text that is there already"},
	} {
		if row.n > 0 {
			fmt.Fprintf(w, "left out:\t%d\t%s\n", row.n, row.why)
		}
	}
	fmt.Fprintln(w, "\nclass\tlearnt\theld out")
	for _, name := range slices.Sorted(maps.Keys(l.Classes)) {
		fmt.Fprintf(w, "%s\t%d\t%d\n", name, l.Classes[name].Learnt, l.Classes[name].Held)
	}
	writeChange(w, "held out", l.HeldOut)
	writeChange(w, "learnt from (says nothing of others)", l.Learnt)
	writeChange(w, "dev", l.Dev)
	fmt.Fprintf(w, "\nof %d other texts, %d would be decided otherwise\n", l.Others, l.Moved)
	switch a := l.Adjusted; {
	case !l.Written:
		fmt.Fprintf(w, "nothing is written: no change is better than the model in use by more than chance\n")
	case a != nil:
		fmt.Fprintf(w, "%s: the weights of %d features adjusted, pull %v; loss a text %.3f before, %.3f after, by "+
			"cross-validation\n", path, a.Rows, a.Strength, a.Before, a.After)
	default:
		fmt.Fprintf(w, "%s: trained anew\n", path)
	}
	return w.Flush()
}

func writeChange(w io.Writer, what string, c *train.Change) {
	if c == nil || c.Samples == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\tbefore\tafter\n", what)
	for _, row := range []struct {
		name          string
		before, after float64
	}{
		{"top-1", c.Before.Top1, c.After.Top1}, {"macro-F1", c.Before.MacroF1, c.After.MacroF1},
		{"ECE", c.Before.ECE, c.After.ECE}, {"log loss", c.Before.LogLoss, c.After.LogLoss},
	} {
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\n", row.name, row.before, row.after)
	}
	fmt.Fprintf(w, "verdicts\t%d of %d change: %d right now, %d wrong now (by chance: p = %.3f)\n", c.Changed,
		c.Samples,
		c.Gained, c.Lost, c.Chance)
	for _, move := range slices.Sorted(maps.Keys(c.Moves)) {
		fmt.Fprintf(w, "\t%s\t%d\n", move, c.Moves[move])
	}
}
