package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/config"
	"octet/internal/certs"
)

// eppFlags are the flags of `octet epp`.
type eppFlags struct {
	from     app.Source
	listen   string
	failOpen bool
	tls      certs.Files
}

func eppCommand() *cobra.Command {
	var f eppFlags
	c := &cobra.Command{
		Use:   "epp --config FILE",
		Short: "The gateway as an endpoint picker: an Envoy-based gateway asks it where requests go",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (f.tls.Cert == "") != (f.tls.Key == "") {
				return usageError{fmt.Errorf("--cert and --key go together")}
			}
			cfg, err := load(f.from)
			if err != nil {
				return err
			}
			return epp(cmd.Context(), cfg, &f)
		},
	}
	takeSource(c, &f.from)
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9002", "where Envoy's ext_proc filter asks, by gRPC")
	flags.BoolVar(&f.failOpen, "fail-open", false,
		"send what this program itself fails with to any healthy replica, instead of answering 500")
	flags.StringVar(&f.tls.Cert, "cert", "", "PEM file of that listener's certificate; none is plain")
	flags.StringVar(&f.tls.Key, "key", "", "PEM file of its private key")
	return c
}

// epp runs the gateway and its picker until ctx ends and both are drained.
func epp(ctx context.Context, cfg *config.Config, f *eppFlags) error {
	asked, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	g, err := begin(ctx, cfg, app.Options{Source: f.from, PickerTLS: f.tls})
	if err != nil {
		return errors.Join(err, asked.Close())
	}
	defer func() { _ = g.Close() }() // which logs what has failed
	g.Log.Info("serving", "data", g.data.Addr().String(), "admin", g.admin.Addr().String(),
		"epp", asked.Addr().String())
	g.watched = append(g.watched, watched{Addr: asked.Addr(), tls: !f.tls.Zero()})
	defer g.supervise(ctx)()
	return g.ServePicking(ctx, g.data, g.admin, app.PickerOptions{Listener: asked, FailOpen: f.failOpen})
}
