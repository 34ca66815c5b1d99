package cmd

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"octet/calibration"
)

// calibrateFlags are the flags of `octet calibrate`.
type calibrateFlags struct {
	streamFlags
	svg, json string
	goal      calibration.Goal
}

func calibrateCommand() *cobra.Command {
	var f calibrateFlags
	c := &cobra.Command{
		Use:   "calibrate [FILE...]",
		Short: "What second opinions say: confidences, thresholds and promotions, from the calibration stream",
		Long: "Reads the records that shadow traffic has left: files of JSON lines, gzipped or not (- is standard " +
			"input), a Redis stream (--redis),\n" +
			"what a JetStream keeps of a NATS subject (--nats), or what a configuration names (--config). It " +
			"reports, for each intent, how far confidences can be trusted, what each threshold would\n" +
			"have cost and caught, which one to set, and which specialist has earned another's place. It changes " +
			"nothing.",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := c.Flags()
	f.add(flags)
	flags.StringVar(&f.config, "config", "", "configuration file whose calibration stream is read")
	flags.StringVar(&f.redis, "redis", "", "host:port of the Redis server that has the stream")
	flags.StringVar(&f.nats.URL, "nats", "", "URL of the NATS server that has a JetStream of the subject")
	flags.Float64Var(&f.goal.Disagreement, "disagreement", 0.2,
		"share of differing second opinions at which a shadow is worth its cost")
	flags.IntVar(&f.goal.MinSamples, "min-samples", 30,
		"comparisons, or decided duels, below which nothing is recommended")
	flags.IntVar(&f.goal.Resamples, "resamples", 1000, "of the bootstrap behind a recommendation's interval")
	flags.Uint64Var(&f.goal.Seed, "seed", 1, "of the bootstrap")
	flags.StringVar(&f.svg, "svg", "", "file for the plots")
	flags.StringVar(&f.json, "json", "", "file for the figures; - is standard output, without the text")
	return c
}

func (f *calibrateFlags) run(cmd *cobra.Command, files []string) error {
	var study calibration.Study
	if err := f.read(cmd, files, study.Line); err != nil {
		return err
	}
	report, err := study.Report(f.goal)
	if errors.Is(err, calibration.ErrGoal) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return f.write(cmd.OutOrStdout(), report)
}

func (f *calibrateFlags) write(w io.Writer, r calibration.Report) error {
	if f.svg != "" {
		if err := writeFile(f.svg, r.WriteSVG); err != nil {
			return err
		}
	}
	return present(w, f.json, r, func() error { return r.WriteText(w) })
}
