package cmd

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"octet/app"
	"octet/calibration/records"
	"octet/config"
	"octet/routing/events/redisstream"
)

// streamFlags say where calibration records are read.
type streamFlags struct {
	config, redis, stream string
	nats                  records.NATSConfig
	most                  int           // records of a server that are read
	patience              time.Duration // for all servers together
}

// add adds the flags that say how a server is read.
func (f *streamFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.stream, "stream", "octet:shadow", "the stream's key, in Redis")
	flags.StringVar(&f.nats.Subject, "subject", "octet:shadow", "the records' subject, in NATS")
	flags.StringVar(&f.nats.Creds, "creds", "", "credentials file for NATS; as events.nats.creds")
	flags.StringVar(&f.nats.CA, "ca", "",
		"PEM file with the roots to trust instead of the system's, for NATS; as events.nats.ca")
	flags.IntVar(&f.most, "max-records", 1_000_000, "records of a server that are read, the oldest first")
	flags.DurationVar(&f.patience, "max-time", 5*time.Minute, "for reading from servers; what takes longer fails")
}

// read has take called with every record of all sources that are named.
func (f *streamFlags) read(cmd *cobra.Command, files []string, take func([]byte)) error {
	if f.config == "" && f.redis == "" && f.nats.URL == "" && len(files) == 0 {
		return usageError{errors.New("name a FILE, --redis, --nats or --config")}
	}
	if f.most < 1 || f.patience <= 0 {
		return usageError{errors.New("--max-records and --max-time are above 0")}
	}
	for _, path := range files {
		if err := readRecords(cmd.InOrStdin(), path, take); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), f.patience, errLongRead)
	defer cancel()
	if f.redis != "" {
		r := records.NewRedis(redisstream.Config{Addr: f.redis}.Client(1), f.stream, 0)
		if err := f.readRedis(ctx, cmd.ErrOrStderr(), r, take); err != nil {
			return err
		}
	}
	if f.nats.URL != "" {
		if err := f.readLines(cmd.ErrOrStderr(), "nats "+f.nats.URL, f.nats.Lines(ctx), take); err != nil {
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
	return f.readConfigured(ctx, cmd.ErrOrStderr(), cfg, take)
}

// errLongRead is a server whose records took longer than --max-time.
var errLongRead = errors.New("the records were not read within --max-time")

// readConfigured reads the file of a configuration with those that were turned over; without one its Redis stream, and
// without that its NATS subject.
func (f *streamFlags) readConfigured(ctx context.Context, notes io.Writer, cfg *config.Config,
	take func([]byte)) error {
	c := cfg.Shadow
	switch {
	case c.File != "":
		return readTurned(c.File, c.FileKeep, take)
	case c.Stream != "" && cfg.Events.Redis != nil:
		r, err := app.CalibrationRedis(cfg.Events.Redis, c.Stream, c.StreamLength)
		if err != nil {
			return err
		}
		return f.readRedis(ctx, notes, r, take)
	case c.Stream != "" && cfg.Events.NATS != nil:
		n := app.CalibrationNATS(cfg.Events.NATS, c.Stream)
		return f.readLines(notes, "nats "+n.URL, n.Lines(ctx), take)
	}
	return fmt.Errorf("%w: it names neither shadow.file nor a Redis or NATS server", app.ErrConfig)
}

// readTurned reads the file at path and those that were turned over, the newest first: what a gateway turns over
// meanwhile is read again, and not missed. That none of them is there is an error.
func readTurned(path string, kept int, take func([]byte)) error {
	absent := readRecords(nil, path, take)
	if absent != nil && !errors.Is(absent, os.ErrNotExist) {
		return absent
	}
	for i := 1; i <= kept; i++ {
		switch err := readRecords(nil, fmt.Sprintf("%s.%d", path, i), take); {
		case err == nil:
			absent = nil
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	return absent
}

// readRecords reads one file of JSON lines, which may be gzipped, whatever its name is. A line of any length is read in
// pieces; what is no record is counted by take.
func readRecords(stdin io.Reader, path string, take func([]byte)) error {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	in, err := unzipped(in)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestRecord)
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			take(lines.Bytes())
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// unzipped returns what in has, unpacked if it begins as gzip does: no record begins so.
func unzipped(in io.Reader) (io.Reader, error) {
	held := bufio.NewReader(in)
	if start, _ := held.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) { // what cannot be read is told by reading on
		return held, nil
	}
	return gzip.NewReader(held)
}

// longestRecord bounds a line, in bytes: a prompt and two answers at the largest limits.
const longestRecord = 256 << 20

// readRedis reads a whole stream and closes it.
func (f *streamFlags) readRedis(ctx context.Context, notes io.Writer, r *records.Redis,
	take func([]byte)) error {
	defer func() { _ = r.Close() }() // it was only read
	return f.readLines(notes, "redis", r.Lines(ctx), take)
}

// readLines reads a server's records to their end, or as many as are wanted; that there are more is noted.
func (f *streamFlags) readLines(notes io.Writer, from string, lines iter.Seq2[[]byte, error],
	take func([]byte)) error {
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
		take(line)
	}
	return nil
}
