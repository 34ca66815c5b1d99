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
	"octet/internal/systemd"
)

func serveCommand() *cobra.Command {
	var from app.Source
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "The gateway",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from.Path == "" {
				return usageError{fmt.Errorf("--config FILE is required")}
			}
			cfg, err := from.Load()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, from, nil)
		},
	}
	c.Flags().StringVar(&from.Path, "config", "", "the configuration file")
	c.Flags().StringArrayVar(&from.Sets, "set", nil, "override one key: path=value; may be repeated")
	return c
}

// serve runs the gateway until ctx ends and it is drained. ready, unless it is nil, is told the addresses in use.
func serve(ctx context.Context, cfg *config.Config, from app.Source, ready func(data, admin net.Addr)) error {
	log := logger(cfg.Log, os.Stderr)
	slog.SetDefault(log) // contained panics are logged by the default logger
	data, admin, err := app.Listen(cfg)
	if err != nil {
		return err
	}
	unit := &systemd.Unit{Log: log}
	a, err := app.New(ctx, cfg, app.Options{Log: log, Build: app.Build{Version: version, Commit: commit, Ref: buildRef},
		Source: from, Reloading: unit.Reloading})
	if err != nil {
		return errors.Join(err, data.Close(), admin.Close())
	}
	defer func() { _ = a.Close() }() // which logs what has failed
	if err := a.Start(); err != nil {
		return errors.Join(err, data.Close(), admin.Close())
	}
	log.Info("serving", "data", data.Addr().String(), "admin", admin.Addr().String())
	if ready != nil {
		ready(data.Addr(), admin.Addr())
	}
	defer supervise(ctx, unit, a, data.Addr(), admin.Addr())()
	return a.Serve(ctx, data, admin)
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
