package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/classifier/model"
	"octet/classifier/train"
	"octet/internal/files"
)

// trainFlags are the flags of `octet train`.
type trainFlags struct {
	data, dev, out, concepts, examples string
	svg                                string
	seed                               uint64
	folds                              int
}

func trainCommand() *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use: "train --data FILE {--dev FILE | --folds N} --out FILE",
		Short: "Train a classifier on labelled texts (JSONL, gzipped or not: text, label, source, tier) and " +
			"calibrate it on others",
		Long: "Trains on --data and calibrates on --dev, whose sources are others. With --folds N it trains on both, " +
			"and calibrates on what models say\n" +
			"that were trained without the families of sources that they are asked about: of " +
			"\"organisation/repository\" the organisation is the family.\n" +
			"The families are dealt into N folds; one that is more than an N-th of all texts is never left out.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout()) },
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
		"more to train on: builtin (other languages and matters, for reject), none, or a file as --data")
	for _, name := range []string{"data", "out"} {
		_ = c.MarkFlagRequired(name) // the flag is there
	}
	return c
}

func (f trainFlags) run(out io.Writer) error {
	c, err := f.config()
	if err != nil {
		return trainingFault(err)
	}
	artefact, report, err := train.Run(c)
	if err != nil {
		return trainingFault(err)
	}
	raw, err := artefact.Encode()
	if err != nil {
		return err
	}
	put := func(w io.Writer) error { _, err := w.Write(raw); return err }
	if err := files.Replace(f.out, files.Public, put); err != nil {
		return err
	}
	if f.svg != "" {
		if err := os.WriteFile(f.svg, report.Diagram(), files.Public); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s: %d bytes, %d features, trained on %d texts of %d sources, seed %d\n",
		f.out, len(raw), len(artefact.Keys), artefact.Origin.Samples, artefact.Origin.Sources, f.seed)
	return printReport(out, report)
}

// trainingFault makes what the caller gave and cannot be used a fault of configuration.
func trainingFault(err error) error {
	if errors.Is(err, train.ErrData) || errors.Is(err, model.ErrConcepts) || errors.Is(err, model.ErrArtefact) {
		return fmt.Errorf("%w: %w", app.ErrConfig, err)
	}
	return err
}

func (f trainFlags) config() (c train.Config, err error) {
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
		c.Extra = train.Examples()
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
