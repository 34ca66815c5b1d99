package cmd

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"octet/cmd/adminclient"
)

// adminFlag is the address of the gateway that a command talks to.
type adminFlag struct {
	address string
	secure  secureFlags
}

func (f *adminFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "admin", adminclient.DefaultURL,
		"the gateway's admin listener; its token is read from "+adminclient.TokenVar)
	f.secure.add(c)
}

// client returns a client of the gateway that the command line names.
func (f *adminFlag) client() (*adminclient.Client, error) {
	secure, err := f.secure.config()
	if err != nil {
		return nil, err
	}
	c, err := adminclient.New(f.address, os.Getenv(adminclient.TokenVar), secure)
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

// completionTime is how long a shell waits for the names that a gateway knows.
const completionTime = 2 * time.Second

// names is how a command's first argument is completed: by what the gateway answers, by nothing if it does not.
func (f *adminFlag) names(known func(context.Context, *adminclient.Client) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := f.client()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		return known(ctx, c), cobra.ShellCompDirectiveNoFileComp
	}
}

// replicaNames are the names of all replicas, none if the gateway does not answer.
func replicaNames(ctx context.Context, c *adminclient.Client) (names []string) {
	state, err := c.State(ctx)
	if err != nil {
		return nil
	}
	for _, sp := range state.Specialists {
		for i := range sp.Replicas {
			names = append(names, adminclient.Plain(sp.Replicas[i].Name)+"\t"+adminclient.Plain(sp.Name))
		}
	}
	return names
}

// knobNames are the names of all knobs, none if the gateway does not answer.
func knobNames(ctx context.Context, c *adminclient.Client) (names []string) {
	knobs, err := c.Knobs(ctx)
	if err != nil {
		return nil
	}
	for i := range knobs {
		names = append(names, adminclient.Plain(knobs[i].Name)+"\t"+inForce(&knobs[i]))
	}
	return names
}
