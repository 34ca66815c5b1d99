package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/config"
	"octet/gateway/front"
	"octet/internal/http1/server"
)

// soon is how long before its end a key or a certificate is told of.
const soon = 14 * 24 * time.Hour

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Validate a configuration: every fault, one a line; exit 0 or 2",
		Args:  exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source := app.Source{Path: args[0]}
			cfg, err := source.Load()
			if err != nil {
				return err
			}
			files, err := source.Files(cfg)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %d specialists, %d replicas\n", args[0], len(cfg.Specialists),
				countReplicas(cfg)+files.Replicas)
			for _, file := range files.Absent {
				fmt.Fprintf(cmd.OutOrStdout(),
					"%s: discover.file: %s is not there: no replica is found by it until it is\n", args[0], file)
			}
			for _, line := range cfg.Auth.Ending(time.Now(), soon) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[0], line)
			}
			if front.Kind(cfg.Front) == front.Octet && !server.Supported {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: front: octet needs Linux; here Go's own server answers clients\n",
					args[0])
			}
			for _, said := range app.Exposures(cfg, time.Now(), soon) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: warning: %s\n", args[0], said)
			}
			if err := app.VerifierOff(cfg); err != nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: outcomes.verifier is off here: %v\n", args[0], err)
			}
			return nil
		},
	}
}

func exactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("exactly one %s is needed, %d given", what, len(args))}
		}
		if args[0] == "" {
			return usageError{fmt.Errorf("the %s is empty", what)}
		}
		return nil
	}
}

// someOf wants at least one of what, and at most so many.
func someOf(what string, args []string, most int) error {
	switch {
	case len(args) == 0:
		return usageError{fmt.Errorf("a %s is needed", what)}
	case len(args) > most:
		return usageError{fmt.Errorf("one %s is needed, %d given", what, len(args))}
	}
	return nil
}

func countReplicas(cfg *config.Config) (n int) {
	for _, sp := range cfg.Specialists {
		n += len(sp.Replicas)
	}
	return n
}
