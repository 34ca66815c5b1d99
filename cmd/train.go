package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/classifier/model"
	"octet/classifier/train"
)

// trainFlags are the flags of `octet train`.
type trainFlags struct {
	data, dev, out, concepts, examples string
	svg                                string
	seed                               uint64
	folds                              int
	lessonFlags
}

func trainCommand() *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use: "train {--data FILE {--dev FILE | --folds N} | --from-calibration STREAM} --out FILE",
		Short: "Train a classifier on labelled texts (JSONL, gzipped or not: text, label, source, tier) and " +
			"calibrate it on others",
		Long: "Trains on --data and calibrates on --dev, whose sources are others. With --folds N it trains on both, " +
			"and calibrates on what models say\n" +
			"that were trained without the families of sources that they are asked about: of " +
			"\"organisation/repository\" the organisation is the family.\n" +
			"The families are dealt into N folds; one that is more than an N-th of all texts is never left out.\n\n" +
			"With --from-calibration it learns from what shadow traffic has left, where shadow.prompts: text has " +
			"recorded the texts: a text is labelled with the\nspecialist whose answer passed its verdicts, or was " +
			"the " +
			"better one of two. With --data these are trained on beside the others; without, the\nmodel in use " +
			"(--model) is adjusted, and needs no other data. A part is held out, near twins together, and the " +
			"figures " +
			"before and after are of it.\nThe artefact goes to --out; what a gateway uses is not touched, and no " +
			"text " +
			"is printed.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	c.Flags().StringVar(&f.data, "data", "", "labelled texts to train on")
	c.Flags().StringVar(&f.dev, "dev", "",
		"labelled texts of other sources, to calibrate on; with --folds they are trained on as well")
	c.Flags().IntVar(&f.folds, "folds", 0,
		"calibrate by cross-validation over the families of sources, in so many folds; 0 = on --dev")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "the same data and seed give the same bytes")
	c.Flags().StringVar(&f.out, "out", "", "where the artefact goes; for router.classifier.model")
	c.Flags().StringVar(&f.svg, "svg", "", "write the reliability diagram to this file")
	c.Flags().StringVar(&f.concepts, "concepts", model.BuiltinName,
		"groups of words to look for: builtin (those of C++), or a file")
	c.Flags().StringVar(&f.examples, "examples", model.BuiltinName,
		"more to train on: builtin (other languages and matters for reject, questions of C++ and courtesy), none, "+
			"or a file as --data")
	f.lessonFlags.add(c)
	return c
}

func (f *trainFlags) run(cmd *cobra.Command) error {
	if f.out == "" {
		return usageError{errors.New("--out FILE is required")}
	}
	if err := mayHold(f.out); err != nil { // training takes minutes
		return err
	}
	if len(f.from) > 0 {
		return f.learn(cmd)
	}
	out := cmd.OutOrStdout()
	c, err := f.training()
	if err != nil {
		return trainingFault(err)
	}
	artefact, report, err := train.Run(c)
	if err != nil {
		return trainingFault(err)
	}
	size, err := f.writeOut(artefact, report)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d bytes, %d features, trained on %d texts of %d sources, seed %d\n",
		f.out, size, len(artefact.Keys), artefact.Origin.Samples, artefact.Origin.Sources, f.seed)
	return printReport(out, report)
}

// mayHold returns why a file cannot be made at path, as far as that shows before it is tried.
func mayHold(path string) error {
	switch at, err := os.Stat(path); {
	case err == nil && at.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case err == nil:
		return nil
	}
	folder := filepath.Dir(path)
	at, err := os.Stat(folder)
	if err == nil && !at.IsDir() {
		err = fmt.Errorf("%s is no directory", folder)
	}
	return err
}

// trainingFault makes what the caller gave and cannot be used a fault of configuration.
func trainingFault(err error) error {
	if errors.Is(err, train.ErrData) || errors.Is(err, model.ErrConcepts) || errors.Is(err, model.ErrArtefact) {
		return fmt.Errorf("%w: %w", app.ErrConfig, err)
	}
	return err
}

// training is what the flags say of a training with --data.
func (f *trainFlags) training() (c train.Config, err error) {
	if f.data == "" {
		return c, usageError{errors.New("name --data or --from-calibration")}
	}
	if f.dev == "" && f.folds == 0 {
		return c, usageError{errors.New("name --dev, --folds or both")}
	}
	c = train.Config{Seed: f.seed, Folds: f.folds, Concepts: train.CppConcepts}
	if c.Train, err = train.Load(f.data); err != nil {
		return c, err
	}
	if f.dev != "" {
		if c.Dev, err = train.Load(f.dev); err != nil {
			return c, err
		}
	}
	switch f.examples {
	case model.BuiltinName:
		c.Extra, c.Subjects = train.Examples(), train.Subjects()
		c.Questions = train.TrainedQuestions().Dealt(c.Seed, max(c.Folds, 1))
	case "none":
	default:
		if c.Extra, err = train.Load(f.examples); err != nil {
			return c, err
		}
	}
	if f.concepts != model.BuiltinName {
		list, err := os.ReadFile(f.concepts)
		if err != nil {
			return c, fmt.Errorf("%w: %w", model.ErrConcepts, err)
		}
		c.Concepts = string(list)
	}
	return c, nil
}
