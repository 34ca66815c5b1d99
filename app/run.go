package app

import (
	"context"
	"net"
	"sync"
	"time"

	"octet/config"
	"octet/internal/contain"
	"octet/internal/files"
)

// escalateEvery is how often the load of the specialists is looked at.
const escalateEvery = 100 * time.Millisecond

// Listen opens both listeners of cfg.
func Listen(cfg *config.Config) (data, admin net.Listener, err error) {
	if data, err = net.Listen("tcp", cfg.Listen.Data); err != nil {
		return nil, nil, err
	}
	if admin, err = net.Listen("tcp", cfg.Listen.Admin); err != nil {
		_ = data.Close() // never served
		return nil, nil, err
	}
	return data, admin, nil
}

// Serve answers clients on both listeners, which it closes, until ctx ends and what is in flight is drained. What runs
// beside requests is started before, if it is not yet.
func (a *App) Serve(ctx context.Context, data, admin net.Listener) error {
	if err := a.Start(); err != nil {
		_, _ = data.Close(), admin.Close() // never served
		return err
	}
	return a.server.Run(ctx, data, admin)
}

// Start begins what runs beside requests: probes, cache events, saving to files, watching the configuration. It goes on
// during a drain, until Close. A second call does nothing. Start waits for what sources of replicas find first, for
// firstLook at most.
func (a *App) Start() error {
	begun, err := a.start()
	if begun && err == nil {
		a.discovered.lookFirst()
	}
	return err
}

// start returns false if it was called before.
func (a *App) start() (begun bool, err error) {
	a.buildMu.Lock()
	defer a.buildMu.Unlock()
	if a.stop != nil {
		return false, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cfg, running := a.Config(), new(sync.WaitGroup)
	if err := a.gateways.claimName(ctx); err != nil {
		cancel()
		return false, err
	}
	unplug, err := a.startEvents(ctx, running)
	if err != nil {
		cancel()
		return false, err
	}
	a.history.recall(cfg.Outcomes.File)
	running.Go(func() { a.history.remember(ctx, cfg.Outcomes) })
	running.Go(func() { contain.Every(ctx, escalateEvery, a.server.Escalate) })
	running.Go(func() { a.tenancy.keepKeys(ctx) })
	if a.tenancy.state != nil {
		running.Go(func() { a.tenancy.state.run(ctx, cfg.Auth.StateInterval) })
	}
	if a.tenancy.rates != nil {
		running.Go(func() { files.SaveEvery(ctx, toldEvery, a.tenancy.sharing.Ledger.Tell) })
	}
	if a.verifier != nil {
		running.Go(func() { a.verifier.Run(ctx) })
	}
	a.warnOfExposure(cfg)
	running.Go(func() { contain.Every(ctx, certificatesEvery, a.certificates.look) })
	running.Go(func() { a.watchFleet(ctx) })
	running.Go(func() { a.discovered.follow(ctx) })
	running.Go(func() { a.keepAdapters(ctx) })
	running.Go(func() { a.sleepers.Run(ctx) })
	running.Go(func() { a.connects.run(ctx) })
	a.gateways.run(ctx, running)
	running.Go(func() { a.tokens.Checks().Run(ctx, a.Log) })
	if a.Source.Path != "" {
		running.Go(func() { a.follow(ctx) })
	}
	a.stop = func() {
		cancel()
		unplug()
		running.Wait()
	}
	return true, nil
}

// startEvents begins to take cache events in: the configured ones, or those of Options.Events.
func (a *App) startEvents(ctx context.Context, running *sync.WaitGroup) (wait func(), err error) {
	c := a.Config().Events
	if a.Events != nil {
		c = config.Events{}
		running.Go(func() { _ = a.Events.Consume(ctx, a.fabric.Feed()) }) // it fails only where ctx ends
	}
	return a.fabric.Start(ctx, c)
}

// Close ends all that Start and New began. What runs beside requests has limits.stop for that, and is left behind then.
// Nothing may be served any more.
func (a *App) Close() error {
	a.buildMu.Lock()
	stop, most := a.stop, a.Config().Limits.Stop
	a.buildMu.Unlock()
	var err error
	ended := within(most, func() {
		if stop != nil {
			stop()
		}
		err = a.release()
	})
	if !ended {
		a.Log.Warn("what runs beside requests has not ended in time and is left behind", "limits.stop", most)
		return nil
	}
	return err
}

// within returns true if f returns in time. Otherwise f runs on.
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
