package cmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"octet/config"
	"octet/gateway"
	"octet/internal/http1/server"
	"octet/routing/plugins"
	"octet/slo/verify"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Validate a configuration: every fault, one a line; exit 0 or 2",
		Args:  exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(args[0], nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %d specialists, %d replicas\n", args[0], len(cfg.Specialists),
				countReplicas(cfg))
			if gateway.Front(cfg.Front) == gateway.FrontOctet && !server.Supported {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: front: octet needs Linux; here Go's own server answers clients\n",
					args[0])
			}
			if cfg.Outcomes.Verifier.Sample > 0 {
				if _, err := openVerifier(cfg); errors.Is(err, verify.ErrIsolation) {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: outcomes.verifier is off here: %v\n", args[0], err)
				}
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
		return nil
	}
}

// load reads a configuration and builds its profiles, so that a file that passes is one that serves.
func load(path string, sets []string) (*config.Config, error) {
	cfg, err := config.Load(path, config.Options{Sets: sets, Environ: os.Environ(), Presets: plugins.Presets()})
	if err != nil {
		return nil, err
	}
	if faults := profileFaults(path, cfg); faults != nil {
		return nil, faults
	}
	if faults := tokenizerFaults(path, cfg); faults != nil {
		return nil, faults
	}
	if faults := modelFaults(path, cfg); faults != nil {
		return nil, faults
	}
	if faults := commandFaults(path, cfg); faults != nil {
		return nil, faults
	}
	return cfg, nil
}

// commandFaults looks for the commands that the gateway would run.
func commandFaults(path string, cfg *config.Config) error {
	all := &config.Faults{File: path}
	look := func(at string, command []string) {
		if len(command) == 0 {
			return
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			all.List = append(all.List, config.Fault{Path: at, Code: config.CodeUnreadable, Message: err.Error()})
		}
	}
	if cfg.Outcomes.Verifier.Sample > 0 {
		look("outcomes.verifier.command", cfg.Outcomes.Verifier.Command)
	}
	look("shadow.judge.command", cfg.Shadow.Judge.Command)
	if len(all.List) == 0 {
		return nil
	}
	return all
}

// tokenizerFaults reads every tokenizer that is a file.
func tokenizerFaults(path string, cfg *config.Config) error {
	all := &config.Faults{File: path}
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		if !isFile(sp) {
			continue
		}
		if _, err := loadLocal(sp, nil); err != nil {
			all.List = append(all.List,
				config.Fault{Path: fmt.Sprintf("specialists[%d].tokenizer", i), Code: config.CodeUnreadable,
					Message: err.Error()})
		}
	}
	if len(all.List) == 0 {
		return nil
	}
	return all
}

func countReplicas(cfg *config.Config) (n int) {
	for _, sp := range cfg.Specialists {
		n += len(sp.Replicas)
	}
	return n
}
