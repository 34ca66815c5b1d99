package cmd

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"octet/cmd/adapt"
)

func adaptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "adapt litellm|epp|sglang FILE",
		Short: "Another router's configuration as one of ours, with a line for each thing that has no counterpart",
		Long: "The configuration goes to standard output, and a line for each thing that has no counterpart to " +
			"standard\nerror. FILE is a config.yaml of LiteLLM's proxy, an EndpointPickerConfig, or the command line " +
			"of SGLang's\nrouter, as a shell has it or as YAML; \"-\" is standard input.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("litellm, epp or sglang, and one FILE are needed, %d given", len(args))}
			}
			return nil
		},
		ValidArgs: []string{"litellm", "epp", "sglang"},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := source(args[1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			result, err := adapted(args[0], text)
			if err != nil {
				return fmt.Errorf("%s: %w", args[1], err)
			}
			for _, note := range result.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), note)
			}
			_, err = cmd.OutOrStdout().Write(result.YAML)
			return err
		},
	}
}

// adapted adapts the configuration of a router.
func adapted(router string, text []byte) (*adapt.Result, error) {
	switch router {
	case "litellm":
		return adapt.LiteLLM(text, os.LookupEnv)
	case "epp":
		return adapt.EPP(text)
	case "sglang":
		return adapt.SGLang(text)
	}
	return nil, usageError{fmt.Errorf("there is no router %q: litellm, epp or sglang", router)}
}

// source reads a file, or standard input, and no more of it than shows that it is too large.
func source(path string, stdin io.Reader) ([]byte, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	return io.ReadAll(io.LimitReader(stdin, adapt.MaxBytes+1))
}
