package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"octet/cmd/adminclient"
)

func drainCommand() *cobra.Command {
	var admin adminFlag
	var off bool
	c := &cobra.Command{
		Use:   "drain NAME",
		Short: "Send a replica no new requests, until --off",
		Args:  exactlyOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := admin.client()
			if err != nil {
				return err
			}
			r, err := client.Drain(cmd.Context(), args[0], !off)
			if err != nil {
				return err
			}
			does := "is not draining"
			switch {
			case r.Draining:
				does = "drains"
			case r.Why != "":
				does += ", but gets no requests: " + adminclient.Plain(r.Why)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s; %d in flight\n", adminclient.Plain(r.Name), does, r.InFlight)
			return nil
		},
	}
	admin.add(c)
	c.Flags().BoolVar(&off, "off", false, "end it: the replica gets requests again")
	c.ValidArgsFunction = admin.names(replicaNames)
	return c
}
