// Package systemd tells the service manager that started the process how the service fares: ready, reloading,
// stopping, alive. Where no manager listens (NOTIFY_SOCKET is not set) nothing is sent.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"octet/internal/contain"
)

// Unit is the service as its manager sees it. The zero Unit is one that starts. Safe for concurrent use.
type Unit struct {
	Log *slog.Logger // nil means slog.Default()

	mu       sync.Mutex // held while telling, so that the manager hears states in their order; guards all below
	ready    bool       // Ready was called
	stopping bool       // Stopping was called: nothing else is told any more
	reloads  int        // that have begun and not ended
}

// Ready tells that the service takes requests.
func (u *Unit) Ready() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ready = true
	u.settle()
}

// Reloading tells that a reload has begun. The caller calls done when it has ended, however it did. Reloads may
// overlap: the service is ready again after the last of them.
func (u *Unit) Reloading() (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reloads++
	if u.reloads == 1 && u.ready && !u.stopping {
		u.tell(daemon.SdNotifyReloading + "\n" + strings.TrimSpace(daemon.SdNotifyMonotonicUsec()))
	}
	return sync.OnceFunc(u.reloaded)
}

func (u *Unit) reloaded() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reloads--
	u.settle()
}

// settle tells that the service is ready, if it is. The caller holds mu.
func (u *Unit) settle() {
	if u.ready && !u.stopping && u.reloads == 0 {
		u.tell(daemon.SdNotifyReady)
	}
}

// Stopping tells that the service ends, and that it may take so long.
func (u *Unit) Stopping(most time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stopping = true
	u.tell(fmt.Sprintf("%s\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, most.Microseconds()))
}

// asks is how often the service is asked within the time that the manager allows between two signs of life.
const asks = 3

// Watch gives the manager a sign of life each time that alive returns nil, until ctx ends. It returns at once where
// the manager wants none. One call of alive may take no longer than the time to the next.
func (u *Unit) Watch(ctx context.Context, alive func(context.Context) error) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		u.log().Warn("the service manager's watchdog is not fed: its time cannot be read", "error", err)
		return
	}
	if within == 0 {
		return
	}
	period := within / asks
	contain.Every(ctx, period, func(time.Time) {
		asked, cancel := context.WithTimeout(ctx, period)
		defer cancel()
		if err := alive(asked); err != nil {
			if ctx.Err() == nil {
				u.log().Error("the service manager gets no sign of life, and restarts the service if it stays so",
					"error", err, "within", within)
			}
			return
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.tell(daemon.SdNotifyWatchdog)
	})
}

// patience is how long a manager may leave a message in its socket's full queue.
const patience = time.Second

// tell sends a state. The manager's time runs out where it cannot be reached: that is its verdict, and is logged here.
func (u *Unit) tell(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if err := send(path, state); err != nil {
		u.log().Warn("the service manager was not told", "state", state, "error", err)
	}
}

// send is daemon.SdNotify with an end: that one waits for a manager that does not read.
func send(path, state string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return errors.Join(err, conn.Close())
	}
	_, err = conn.Write([]byte(state))
	return errors.Join(err, conn.Close())
}

func (u *Unit) log() *slog.Logger {
	if u.Log == nil {
		return slog.Default()
	}
	return u.Log
}
