package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"octet/app"
	"octet/app/pipeline"
	"octet/config"
	"octet/internal/replay"
	"octet/routing"
	"octet/routing/plugins"
)

// replayFlags are the flags of `octet replay`.
type replayFlags struct {
	replay.Config
	profiles  []string
	config    string
	svg, json string
	from, to  float64
	capacity  bool
	parallel  int
	reading   replay.Reading
	matrix    matrixFlags
}

// Profiles that are no presets. The oracle plays nothing: it bounds what any policy can do. The endless cache is the
// default profile over one cache that holds everything and is everybody's, and is no bound.
const (
	oracleProfile  = "oracle"
	endlessProfile = "endless-cache"
)

// versus are the profiles that are compared where none are named.
var versus = []string{"default", "conductor", "lmetric", "preble-e2", "dynamo-kv", "epp-default", "consistent-hash",
	"least-load", "round-robin", "random", endlessProfile, oracleProfile}

func replayCommand() *cobra.Command {
	f := replayFlags{Config: replay.Default()}
	c := &cobra.Command{
		Use:   "replay TRACE [TRACE ...]",
		Short: "The real router, scheduler and index over a trace in virtual time, to compare profiles",
		Long: "Replays a trace (JSON lines as Mooncake's, with or without sessions, or Azure's CSV, gzipped or not) " +
			"once for each profile and prints what became of it.\n" +
			"A TRACE is a file, coder or team with :SEED[:SESSIONS] behind it, which draws sessions of software " +
			"agents, or two of these with a + between them, half of the work from each. With --matrix there may be " +
			"several.\n" +
			"A turn of a session comes gap_ms after the answer to the turn before, or as long after it as it was " +
			"recorded.\n" +
			"A profile is a preset, a name under profiles of --config, endless-cache, which is the default with one " +
			"cache shared by all that forgets nothing, or oracle, which plays nothing: no profile's first tokens " +
			"come sooner, and none has more tokens a second, more requests within the goal or more capacity.",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.matrix.on {
				return someOf("TRACE", args, len(args))
			}
			return someOf("TRACE", args, 1)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.matrix.on {
				return f.runMatrix(cmd, args)
			}
			return f.run(cmd, args[0])
		},
	}
	f.register(c)
	f.matrix.register(c)
	return c
}

func (f *replayFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.profiles, "profiles", versus, "profiles to compare")
	flags.StringVar(&f.config, "config", "", "configuration file whose profiles may be named")
	flags.IntVar(&f.Replicas, "replicas", f.Replicas, "replicas")
	flags.IntVar(&f.Blocks, "blocks", f.Blocks, "KV blocks of a replica")
	flags.Lookup("blocks").DefValue = "as many as hold 1048576 tokens"
	flags.IntVar(&f.BlockSize, "block-size", f.BlockSize, "tokens of a replica's block")
	flags.Lookup("block-size").DefValue = "the trace's"
	flags.Float64Var(&f.Rate, "rate", f.Rate, "load, as a multiple of the trace's own")
	flags.IntVar(&f.reading.Block, "trace-block", 0,
		"tokens that an id of the trace stands for; 0 is as its lines say")
	flags.Float64Var(&f.reading.SessionRate, "session-rate", replay.DefaultSessionRate,
		"sessions that begin a second, where the trace does not say when they began")
	flags.IntVar(&f.reading.Copies, "copies", 1, "times that the trace is played; copies share nothing")
	flags.Uint64Var(&f.Seed, "seed", f.Seed, "of tokens, hashes and random choices")
	flags.Float64Var(&f.from, "from", 0, "first share of the trace to replay")
	flags.Float64Var(&f.to, "to", 1, "last share of the trace to replay")
	flags.DurationVar(&f.EventDelay, "event-delay", 0, "from a change of a replica's cache to the index")
	flags.DurationVar(&f.PredictTTL, "predict-ttl", f.PredictTTL,
		"how long a routed prompt counts as cached until events tell; 0 is not at all")
	flags.BoolVar(&f.Faults.NoEvents, "no-events", false, "caches are known by what was routed there alone")
	flags.DurationVar(&f.Faults.MetricsDelay, "metrics-delay", 0, "age of what replicas report of their load")
	flags.IntVar(&f.Faults.Lying, "lying-replicas", 0, "replicas that always report to be idle and empty")
	flags.Float64Var(&f.Timing.Prefill, "prefill-rate", f.Timing.Prefill, "prompt tokens a second of an engine")
	flags.DurationVar(&f.Timing.Step, "step-time", f.Timing.Step, "fixed part of an engine's step")
	flags.DurationVar(&f.Timing.Decode, "decode-time", f.Timing.Decode,
		"a step's time for each sequence that gets a token behind its first")
	flags.IntVar(&f.Budget, "token-budget", f.Budget, "tokens that a step computes at most")
	flags.IntVar(&f.Chunk, "chunk-tokens", f.Chunk, "tokens of one prompt that a step computes at most")
	flags.IntVar(&f.MaxRunning, "max-running", f.MaxRunning, "sequences in a batch")
	flags.DurationVar(&f.Goal.TTFT, "ttft-goal", f.Goal.TTFT, "time to first token that counts as good")
	flags.DurationVar(&f.Goal.TPOT, "tpot-goal", f.Goal.TPOT, "mean time between tokens that counts as good")
	flags.BoolVar(&f.capacity, "capacity", false,
		"also find the rate up to which nine in ten first tokens meet the goal")
	flags.IntVar(&f.parallel, "parallel", runtime.GOMAXPROCS(0), "profiles that are replayed at once")
	flags.StringVar(&f.svg, "svg", "", "file for a plot of the times to first token")
	flags.StringVar(&f.json, "json", "", "file for the figures; - is standard output, without the table")
}

// replayed is what a replay reports, as JSON.
type replayed struct {
	Trace      string             `json:"trace"`
	Replicas   int                `json:"replicas"`
	Blocks     int                `json:"blocks"`
	BlockSize  int                `json:"block_size"`
	Seed       uint64             `json:"seed"`
	From       float64            `json:"from"`
	To         float64            `json:"to"`
	Results    []replay.Result    `json:"results"`
	Capacities map[string]float64 `json:"capacities,omitempty"`
}

func (f *replayFlags) run(cmd *cobra.Command, path string) error {
	if err := f.Check(); err != nil {
		return usageError{err}
	}
	contenders, err := f.contenders()
	if err != nil {
		return err
	}
	f.reading.Seed = f.Seed
	if err := f.checkReading(); err != nil {
		return usageError{err}
	}
	trace, err := loadTrace(path, f.reading)
	if err != nil {
		return err
	}
	if trace, err = trace.Part(f.from, f.to); err != nil {
		return usageError{err}
	}
	f.fit(cmd.Flags(), &trace)
	out := replayed{
		Trace: filepath.Base(path), Replicas: f.Replicas, Blocks: f.Blocks, BlockSize: f.BlockSize, Seed: f.Seed,
		From: f.from, To: f.to,
	}
	if err := f.compare(cmd.Context(), trace, contenders, &out); err != nil {
		return err
	}
	return f.report(cmd.OutOrStdout(), &out)
}

// checkReading returns what a trace cannot be read by: zero means a default for a Reading, and nothing on a command
// line.
func (f *replayFlags) checkReading() error {
	switch {
	case f.reading.SessionRate == 0:
		return fmt.Errorf("%w: no session begins", replay.ErrConfig)
	case f.reading.Copies == 0:
		return fmt.Errorf("%w: no copy of the trace", replay.ErrConfig)
	}
	return f.reading.Check()
}

// fit gives replicas blocks as the trace has them, where no flag says otherwise, in pools of the default's size.
func (f *replayFlags) fit(flags *pflag.FlagSet, trace *replay.Trace) {
	usual := replay.Default()
	if !flags.Changed("block-size") {
		f.BlockSize = trace.Block
	}
	if !flags.Changed("blocks") {
		f.Blocks = max(1, usual.Blocks*usual.BlockSize/f.BlockSize)
	}
}

// contenders resolves the profiles by name: the configuration's first, then the presets.
func (f *replayFlags) contenders() ([]replay.Contender, error) {
	cfg := &config.Config{}
	if f.config != "" {
		var err error
		if cfg, err = config.Load(f.config, config.Options{Environ: os.Environ(),
			Presets: plugins.Presets()}); err != nil {
			return nil, err
		}
	}
	all := make([]replay.Contender, len(f.profiles))
	for i, name := range f.profiles {
		all[i] = replay.Contender{Name: name, Endless: name == endlessProfile, Oracle: name == oracleProfile}
		if p, ok := cfg.Profiles[name]; ok {
			all[i].Spec = pipeline.Spec(name, p)
			continue
		}
		spec, ok := plugins.Preset(name)
		if name == oracleProfile || name == endlessProfile {
			spec, ok = plugins.Preset("default")
		}
		if !ok {
			return nil, usageError{fmt.Errorf("there is no profile %q: want one of %s, %s, %s, or of --config", name,
				strings.Join(plugins.Presets(), ", "), endlessProfile, oracleProfile)}
		}
		all[i].Spec = spec
	}
	return all, nil
}

// compare replays the trace for every contender, f.parallel at once.
func (f *replayFlags) compare(ctx context.Context, trace replay.Trace, contenders []replay.Contender,
	out *replayed) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out.Results = make([]replay.Result, len(contenders))
	capacities := make([]float64, len(contenders))
	places := make(chan struct{}, max(1, f.parallel))
	var running sync.WaitGroup
	for i, by := range contenders {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			var err error
			if out.Results[i], err = replay.Run(ctx, f.Config, trace, by); err == nil && f.capacity {
				capacities[i], err = replay.Capacity(ctx, f.Config, trace, by)
			}
			if err != nil {
				cancel(fmt.Errorf("%s: %w", by.Name, err))
			}
		})
	}
	running.Wait()
	if f.capacity {
		out.Capacities = map[string]float64{}
		for i, by := range contenders {
			out.Capacities[by.Name] = capacities[i]
		}
	}
	return replayFault(context.Cause(ctx))
}

// replayFault returns why replays ended early; nil when they did not. Profiles that cannot be built are the
// configuration's fault.
func replayFault(err error) error {
	var faults routing.Faults
	if errors.As(err, &faults) || errors.Is(err, replay.ErrConfig) {
		return fmt.Errorf("%w: %w", app.ErrConfig, err)
	}
	return err
}

func (f *replayFlags) report(w io.Writer, out *replayed) error {
	if f.svg != "" {
		title := fmt.Sprintf("%s, %d replicas, rate %g, seed %d", out.Trace, out.Replicas, f.Rate, out.Seed)
		err := writeFile(f.svg, func(w io.Writer) error {
			return replay.WriteSVG(w, title, f.Goal.TTFT.Seconds(),
				out.Results)
		})
		if err != nil {
			return err
		}
	}
	return present(w, f.json, out, func() error { return printReplay(w, out) })
}

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
		fmt.Fprintf(w, "%s\t%.1f\t%s%s%.0f\t%.1f\t%.2f\t%d\t", p.Profile, p.HitRate*100,
			columns(p.TTFT, "%.2f\t", p.TTFT.Mean, p.TTFT.P50, p.TTFT.P90, p.TTFT.P99),
			columns(p.ITL, "%.0f\t", p.ITL.P50*1e3, p.ITL.P90*1e3, p.ITL.P99*1e3),
			p.Throughput, p.Goodput*100, p.Imbalance, p.Refused)
		if capacity {
			fmt.Fprintf(w, "%.3f\t", r.Capacities[p.Profile])
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
