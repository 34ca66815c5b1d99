package front

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Listeners are the servers of both listeners, from their start to the end of a drain.
type Listeners struct {
	Data, Admin Server
	Log         *slog.Logger

	running sync.WaitGroup
}

// Serve serves data and admin until ctx ends or one of them fails. Both are still served when it returns: Drain ends
// them.
func (l *Listeners) Serve(ctx context.Context, data, admin net.Listener) error {
	failed := make(chan error, 2)
	l.running.Go(func() { failed <- l.Data.Serve(data) })
	l.running.Go(func() { failed <- l.Admin.Serve(admin) })
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("gateway: listener failed: %w", err)
	}
}

// Requests are the requests that a drain waits for.
type Requests interface {
	// Ended returns true if none is open or arriving. From then on none begins.
	Ended() bool
	// Cut ends those that are open.
	Cut()
}

// Drain waits until the open requests have ended, for grace at most, cuts the others, and closes both servers.
// Meanwhile both are served: new requests are refused with a typed error, also those on new connections.
func (l *Listeners) Drain(grace time.Duration, open Requests) error {
	if !ended(grace, open) {
		open.Cut()
	}
	err := errors.Join(l.shutdownData(), l.Data.Close(), l.Admin.Close())
	l.running.Wait()
	return err
}

// ended waits until open has ended, for grace at most, and returns whether it has.
func ended(grace time.Duration, open Requests) bool {
	over := time.NewTimer(grace)
	defer over.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !open.Ended() {
		select {
		case <-over.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// lastWords is how long the last answers may take to reach their clients.
const lastWords = 2 * time.Second

// shutdownData lets the data server send its last answers. Clients that do not take them, or send no body, are no
// error.
func (l *Listeners) shutdownData() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	err := l.Data.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		l.Log.Warn("drain: connections are cut that did not end")
		return nil
	}
	return err
}
