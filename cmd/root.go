// Package cmd holds the commands of the octet program, one a file, and the wiring of the rooms: it alone reads the
// configuration and turns its sections into what each room takes.
package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/config"
)

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1 // at run time
	exitConfig = 2
)

// Set by the linker.
var (
	version  = "dev"
	commit   = "unknown"
	buildRef = "unknown"
)

// Execute runs the command line and ends the process.
func Execute() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := untilSignal()
	defer stop()
	root := Root()
	asJSON := root.PersistentFlags().Bool("json-faults", false,
		"report what is wrong with a configuration as JSON, one object a line")
	root.SetArgs(signed(args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return report(err, *asJSON)
}

// Root returns the whole command line.
func Root() *cobra.Command {
	root := &cobra.Command{
		Use:   "octet",
		Short: "The serving gateway for an ensemble of specialist models",
		Version: fmt.Sprintf("%s (%s, %s, %s %s/%s)", version, commit, buildRef, runtime.Version(), runtime.GOOS,
			runtime.GOARCH),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs, // an unknown command is ours to report
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q", args[0])}
			}
			return cmd.Help()
		},
	}
	root.AddCommand(serveCommand(), eppCommand(), healthCommand())
	root.AddCommand(demoCommand(), engineCommand(), bridgeCommand(), checkCommand(), explainCommand(),
		doctorCommand(), drainCommand(), knobCommand(), topCommand(), replayCommand(), trainCommand(),
		evaluateCommand(), calibrateCommand(), adaptCommand())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	return root
}

// usageError is a command line that makes no sense: a fault of configuration.
type usageError struct{ error }

// report prints err for people, or faults for programs, and returns the exit code that it stands for.
func report(err error, asJSON bool) int {
	var faults *config.Faults
	var usage usageError
	switch {
	case errors.As(err, &faults) && asJSON:
		lines := json.NewEncoder(os.Stderr)
		for i := range faults.List {
			_ = lines.Encode(&faults.List[i]) // an error of standard error cannot be reported anywhere
		}
		return exitConfig
	case errors.As(err, &faults):
		fmt.Fprintln(os.Stderr, faults.Error()) // one fault a line, nothing before it
		return exitConfig
	}
	if errors.Is(err, errFound) {
		return exitFailed // what was found is told already
	}
	fmt.Fprintln(os.Stderr, "octet:", err)
	if errors.As(err, &usage) || errors.Is(err, app.ErrConfig) {
		return exitConfig
	}
	return exitFailed
}
