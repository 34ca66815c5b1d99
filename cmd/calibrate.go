package cmd

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/calibration"
	"octet/calibration/records"
	"octet/config"
	"octet/routing/events/redisstream"
)

// calibrateFlags are the flags of `octet calibrate`.
type calibrateFlags struct {
	config, redis, stream, svg, json string
	nats                             records.NATSConfig
	most                             int           // records of a server that are read
	patience                         time.Duration // for all servers together
	goal                             calibration.Goal
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
	flags.StringVar(&f.config, "config", "", "configuration file whose calibration stream is read")
	flags.StringVar(&f.redis, "redis", "", "host:port of the Redis server that has the stream")
	flags.StringVar(&f.stream, "stream", "octet:shadow", "the stream's key, with --redis")
	flags.StringVar(&f.nats.URL, "nats", "", "URL of the NATS server that has a JetStream of the subject")
	flags.StringVar(&f.nats.Subject, "subject", "octet:shadow", "the records' subject, with --nats")
	flags.StringVar(&f.nats.Creds, "creds", "", "credentials file, with --nats; as events.nats.creds")
	flags.StringVar(&f.nats.CA, "ca", "",
		"PEM file with the roots to trust instead of the system's, with --nats; as events.nats.ca")
	flags.IntVar(&f.most, "max-records", 1_000_000, "records of a server that are read, the oldest first")
	flags.DurationVar(&f.patience, "max-time", 5*time.Minute, "for reading from servers; what takes longer fails")
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
	if err := f.read(cmd, files, &study); err != nil {
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

// read takes all sources that are named into the study.
func (f *calibrateFlags) read(cmd *cobra.Command, files []string, study *calibration.Study) error {
	if f.config == "" && f.redis == "" && f.nats.URL == "" && len(files) == 0 {
		return usageError{errors.New("name a FILE, --redis, --nats or --config")}
	}
	if f.most < 1 || f.patience <= 0 {
		return usageError{errors.New("--max-records and --max-time are above 0")}
	}
	for _, path := range files {
		if err := readRecords(cmd.InOrStdin(), path, study); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), f.patience, errLongRead)
	defer cancel()
	if f.redis != "" {
		r := records.NewRedis(redisstream.Config{Addr: f.redis}.Client(1), f.stream, 0)
		if err := f.readRedis(ctx, cmd.ErrOrStderr(), r, study); err != nil {
			return err
		}
	}
	if f.nats.URL != "" {
		if err := f.readLines(cmd.ErrOrStderr(), "nats "+f.nats.URL, f.nats.Lines(ctx), study); err != nil {
			return err
		}
	}
	if f.config == "" {
		return nil
	}
	cfg, err := config.Load(f.config, config.Options{Environ: os.Environ()})
	if err != nil {
		return err
	}
	return f.readConfigured(ctx, cmd.ErrOrStderr(), cfg, study)
}

// errLongRead is a server whose records took longer than --max-time.
var errLongRead = errors.New("the records were not read within --max-time")

// readConfigured reads the file of a configuration with those that were turned over, the oldest first; without one its
// Redis stream, and without that its NATS subject.
func (f *calibrateFlags) readConfigured(ctx context.Context, notes io.Writer, cfg *config.Config,
	study *calibration.Study) error {
	c := cfg.Shadow
	switch {
	case c.File != "":
		for i := c.FileKeep; i >= 1; i-- {
			if err := readRecords(nil, fmt.Sprintf("%s.%d", c.File, i), study); err != nil &&
				!errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		return readRecords(nil, c.File, study)
	case c.Stream != "" && cfg.Events.Redis != nil:
		r, err := app.CalibrationRedis(cfg.Events.Redis, c.Stream, c.StreamLength)
		if err != nil {
			return err
		}
		return f.readRedis(ctx, notes, r, study)
	case c.Stream != "" && cfg.Events.NATS != nil:
		n := app.CalibrationNATS(cfg.Events.NATS, c.Stream)
		return f.readLines(notes, "nats "+n.URL, n.Lines(ctx), study)
	}
	return fmt.Errorf("%w: it names neither shadow.file nor a Redis or NATS server", app.ErrConfig)
}

// readRecords reads one file of JSON lines. A line of any length is read in pieces; what is no record is counted by the
// study.
func readRecords(stdin io.Reader, path string, study *calibration.Study) error {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	if strings.HasSuffix(path, ".gz") {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		in = unzipped
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestRecord)
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			study.Line(lines.Bytes())
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// longestRecord bounds a line, in bytes: a prompt and two answers at the largest limits.
const longestRecord = 256 << 20

// readRedis reads a whole stream and closes it.
func (f *calibrateFlags) readRedis(ctx context.Context, notes io.Writer, r *records.Redis,
	study *calibration.Study) error {
	defer func() { _ = r.Close() }() // it was only read
	return f.readLines(notes, "redis", r.Lines(ctx), study)
}

// readLines reads a server's records to their end, or as many as are wanted; that there are more is noted.
func (f *calibrateFlags) readLines(notes io.Writer, from string, lines iter.Seq2[[]byte, error],
	study *calibration.Study) error {
	n := 0
	for line, err := range lines {
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		if n == f.most {
			fmt.Fprintf(notes, "%s has more than %d records: the later ones were not read (--max-records)\n", from, n)
			return nil
		}
		n++
		study.Line(line)
	}
	return nil
}

func (f *calibrateFlags) write(w io.Writer, r calibration.Report) error {
	if f.svg != "" {
		if err := writeFile(f.svg, r.WriteSVG); err != nil {
			return err
		}
	}
	return present(w, f.json, r, func() error { return r.WriteText(w) })
}
