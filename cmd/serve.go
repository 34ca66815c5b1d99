package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/config"
	"octet/gateway/front"
	"octet/internal/systemd"
)

func serveCommand() *cobra.Command {
	var from app.Source
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "The gateway",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(from)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, from, nil)
		},
	}
	takeSource(c, &from)
	return c
}

// takeSource gives a command the flags that say where its configuration is.
func takeSource(c *cobra.Command, from *app.Source) {
	c.Flags().StringVar(&from.Path, "config", "", "the configuration file")
	c.Flags().StringArrayVar(&from.Sets, "set", nil, "override one key: path=value; may be repeated")
}

// load reads the configuration, which must be named.
func load(from app.Source) (*config.Config, error) {
	if from.Path == "" {
		return nil, usageError{fmt.Errorf("--config FILE is required")}
	}
	return from.Load()
}

// serve runs the gateway until ctx ends and it is drained. ready, unless it is nil, is told the addresses in use.
func serve(ctx context.Context, cfg *config.Config, from app.Source, ready func(data, admin net.Addr)) error {
	g, err := begin(ctx, cfg, app.Options{Source: from})
	if err != nil {
		return err
	}
	defer func() { _ = g.Close() }() // which logs what has failed
	g.Log.Info("serving", "data", g.data.Addr().String(), "admin", g.admin.Addr().String())
	if ready != nil {
		ready(g.data.Addr(), g.admin.Addr())
	}
	defer g.supervise(ctx)()
	return g.Serve(ctx, g.data, g.admin)
}

// begun is a gateway that has started and serves nothing yet.
type begun struct {
	*app.App
	unit        *systemd.Unit
	data, admin net.Listener
	watched     []watched // by the service manager
}

// begin opens the listeners of cfg and starts a gateway before them. The caller closes it.
func begin(ctx context.Context, cfg *config.Config, o app.Options) (*begun, error) {
	o.Log = logger(cfg.Log, os.Stderr)
	slog.SetDefault(o.Log) // contained panics are logged by the default logger
	data, admin, err := app.Listen(cfg)
	if err != nil {
		return nil, err
	}
	g := &begun{unit: &systemd.Unit{Log: o.Log}}
	g.data = g.watch(data, cfg.Listen.TLS != nil)
	g.admin = g.watch(admin, cfg.Listen.AdminTLS != nil)
	o.Build, o.Reloading = app.Build{Version: version, Commit: commit, Ref: buildRef}, g.unit.Reloading
	if g.App, err = app.New(ctx, cfg, o); err != nil {
		return nil, errors.Join(err, data.Close(), admin.Close())
	}
	if err := g.Start(); err != nil {
		_ = g.Close() // which logs what has failed
		return nil, errors.Join(err, data.Close(), admin.Close())
	}
	sayLast(ctx, func() {
		o.Log.Warn("stopped by a second signal: what is open is cut", "open", g.Server().Open())
	})
	return g, nil
}

// watch has the service manager's watchdog ask l too. The caller serves what it returns.
func (g *begun) watch(l net.Listener, tls bool) net.Listener {
	asked := watched{Addr: l.Addr(), tls: tls}
	if tls {
		asked.told = &front.Watched{Listener: l}
		l = asked.told
	}
	g.watched = append(g.watched, asked)
	return l
}

func logger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // the configuration was checked
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
