package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"octet/cmd/top"
)

// errNoTerminal is of a live view that nothing can show.
var errNoTerminal = errors.New("a live view needs a terminal; --once prints one frame")

func topCommand() *cobra.Command {
	var admin adminFlag
	var once bool
	c := &cobra.Command{
		Use:   "top",
		Short: "A running gateway live: specialists, replicas, open requests, decisions",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := admin.client()
			if err != nil {
				return err
			}
			defer client.Close()
			if !once {
				if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
					return usageError{errNoTerminal}
				}
				return top.Run(cmd.Context(), &top.Options{Client: client, Receipt: printReceipt, In: os.Stdin,
					Out: os.Stdout})
			}
			r, err := top.Poll(cmd.Context(), client, true)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), top.Once(client.URL(), r))
			return err
		},
	}
	admin.add(c)
	c.Flags().BoolVar(&once, "once", false, "print one plain frame and end")
	return c
}
