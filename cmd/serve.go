package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"octet/config"
	"octet/routing/fleet"
)

func serveCommand() *cobra.Command {
	var path string
	var sets []string
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "The gateway",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usageError{fmt.Errorf("--config FILE is required")}
			}
			cfg, err := load(path, sets)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, source{path: path, sets: sets}, nil)
		},
	}
	c.Flags().StringVar(&path, "config", "", "the configuration file")
	c.Flags().StringArrayVar(&sets, "set", nil, "override one key: path=value; may be repeated")
	return c
}

// source is where a configuration came from; the zero source cannot be reloaded.
type source struct {
	path string
	sets []string
}

// serve runs the gateway until ctx ends and it is drained. ready, if any, is told the addresses in use.
func serve(ctx context.Context, cfg *config.Config, from source, ready func(data, admin net.Addr)) error {
	log := logger(cfg.Log, os.Stderr)
	slog.SetDefault(log) // what tells of contained panics has no other
	h, err := newHouse(cfg, log)
	if err != nil {
		return err
	}
	data, admin, err := listen(cfg)
	if err != nil {
		return err
	}
	h.reload = from.reloader(h)
	if err := h.apply(ctx, cfg); err != nil {
		_, _ = data.Close(), admin.Close() // never served
		return err
	}
	stop, err := h.background(cfg, from)
	if err != nil {
		_, _ = data.Close(), admin.Close() // never served
		return err
	}
	defer stop()
	h.log.Info("serving", "data", data.Addr().String(), "admin", admin.Addr().String())
	if ready != nil {
		ready(data.Addr(), admin.Addr())
	}
	return h.server.Run(ctx, data, admin)
}

func listen(cfg *config.Config) (data, admin net.Listener, err error) {
	if data, err = net.Listen("tcp", cfg.Listen.Data); err != nil {
		return nil, nil, err
	}
	if admin, err = net.Listen("tcp", cfg.Listen.Admin); err != nil {
		_ = data.Close() // never served
		return nil, nil, err
	}
	return data, admin, nil
}

// background starts what runs beside requests; the returned func ends it and waits. It goes on during a drain.
func (h *house) background(cfg *config.Config, from source) (stop func(), err error) {
	consumers, err := consumersOf(cfg)
	if err != nil {
		return nil, err
	}
	h.shared.Store(&consumers)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	h.restore(ctx, cfg.Events.Snapshot)
	h.recall(cfg.Outcomes.File)
	running.Go(func() { h.remember(ctx, cfg.Outcomes) })
	running.Go(func() { h.watchLoad(ctx) })
	if h.verifier != nil {
		running.Go(func() { h.verifier.Run(ctx) })
	}
	h.consume(ctx, consumers, &running)
	running.Go(func() { h.keep(ctx, cfg.Events.Snapshot) })
	running.Go(func() { h.resync(ctx, cfg.Events) })
	running.Go(func() { h.watchSources(ctx, cfg.Events.TrustFor) })
	unplug := h.sockets.start(ctx)
	f := cfg.Fleet
	monitor := fleet.Monitor{
		Fleet: h.fleet, Prober: h, Jitter: jitter, Interval: f.ProbeInterval, Timeout: f.ProbeTimeout,
		Unhealthy: f.UnhealthyAfter, HealthyAfter: f.HealthyAfter,
	}
	running.Go(func() { monitor.Run(ctx) })
	running.Go(func() { h.calibrate(ctx, f.ScrapeInterval, f.ProbeTimeout) })
	running.Go(func() { h.tidy(ctx) })
	running.Go(func() { h.tokens.checks.run(ctx, h.log) })
	if from.path != "" {
		running.Go(func() { h.follow(ctx, from.path) })
	}
	return func() {
		cancel()
		ended := within(cfg.Limits.Stop, func() {
			unplug()
			running.Wait()
			h.close()
		})
		if !ended {
			h.log.Warn("what runs beside requests has not ended in time and is left behind", "limits.stop",
				cfg.Limits.Stop)
		}
	}, nil
}

// within reports whether f returns in time. Else it runs on.
func within(most time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}

// follow reloads on SIGHUP and whenever the file, or the classifier's artefact, changes.
func (h *house) follow(ctx context.Context, path string) {
	hangups := make(chan os.Signal, 1) // one is enough: a reload reads the newest file
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	changed := make(chan struct{}, 1) // likewise
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { h.followModel(ctx, notify) })
	watching.Go(func() {
		err := config.Watch(ctx, path, notify)
		if err != nil && ctx.Err() == nil {
			h.log.Warn("the file is not watched; SIGHUP still reloads", "error", err)
		}
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		case <-changed:
		}
		if err := h.reload(ctx); err != nil {
			h.log.Error("reload refused, the last good configuration stays", "error", err)
		}
	}
}

// reloader returns how h reads its configuration again; nil where there is no file.
func (s source) reloader(h *house) func(context.Context) error {
	if s.path == "" {
		return nil
	}
	return func(ctx context.Context) error {
		cfg, err := load(s.path, s.sets)
		if err != nil {
			return err
		}
		h.warnOfRestart(cfg)
		return h.apply(ctx, cfg)
	}
}

// warnOfRestart names the sections that are read at the start only and have changed.
func (h *house) warnOfRestart(cfg *config.Config) {
	h.mu.Lock()
	old := h.cfg
	h.mu.Unlock()
	for _, section := range []struct {
		name    string
		changed bool
	}{
		{"listen", old.Listen != cfg.Listen}, {"front", old.Front != cfg.Front},
		{"admin", !reflect.DeepEqual(old.Admin, cfg.Admin)}, {"log", old.Log != cfg.Log},
		{"fleet", old.Fleet != cfg.Fleet},
		{"hash_seed", old.HashSeed != cfg.HashSeed}, {"events", !sameEvents(old, cfg)},
		{"shadow.stream and shadow.file", !sameCalibration(&old.Shadow, &cfg.Shadow)},
	} {
		if section.changed {
			h.log.Warn("this section takes effect at the next start only", "section", section.name)
		}
	}
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
