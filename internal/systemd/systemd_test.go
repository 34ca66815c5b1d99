package systemd_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octet/internal/await"
	"octet/internal/systemd"
)

// manager is the socket of a service manager.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
}

func newManager(t *testing.T) *manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return &manager{t, conn}
}

// heard returns the next message.
func (m *manager) heard() string {
	m.t.Helper()
	_ = m.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	b := make([]byte, 4096)
	n, err := m.conn.Read(b)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b[:n])
}

// silent fails if there is a message that was not expected.
func (m *manager) silent() {
	m.t.Helper()
	_ = m.conn.SetReadDeadline(time.Now().Add(time.Millisecond)) // what was told is there already
	b := make([]byte, 4096)
	if n, err := m.conn.Read(b); err == nil {
		m.t.Errorf("unexpected: %q", b[:n])
	}
}

func (m *manager) wants(state string) {
	m.t.Helper()
	if heard := m.heard(); heard != state {
		m.t.Errorf("heard %q, not %q", heard, state)
	}
}

func TestAManagerHearsOfStartReloadsAndTheEnd(t *testing.T) {
	m := newManager(t)
	u := &systemd.Unit{Log: slog.New(slog.DiscardHandler)}
	early := u.Reloading()
	early()
	m.silent() // a reload before the service is ready is part of its start
	u.Ready()
	m.wants("READY=1")
	first, second := u.Reloading(), u.Reloading()
	if heard := m.heard(); !strings.HasPrefix(heard, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("heard %q", heard)
	}
	first()
	first()
	m.silent() // the other still runs
	second()
	m.wants("READY=1")
	late := u.Reloading()
	m.heard()
	u.Stopping(40 * time.Second)
	m.wants("STOPPING=1\nEXTEND_TIMEOUT_USEC=40000000")
	late()
	u.Reloading()()
	m.silent() // nothing contradicts the end
}

func TestTheWatchdogIsFedOnlyWhileTheServiceAnswers(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	u := &systemd.Unit{Log: slog.New(slog.DiscardHandler)}
	var dead atomic.Bool
	var refused atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		u.Watch(ctx, func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("a question without a deadline")
			}
			if dead.Load() {
				refused.Add(1)
				return errors.New("no answer")
			}
			return nil
		})
	}()
	m.wants("WATCHDOG=1")
	m.wants("WATCHDOG=1")
	dead.Store(true)
	await.True(t, "a question in vain", func() bool { return refused.Load() > 0 })
	for signs := 0; ; signs++ { // of before it died, at most as many as fit in the socket
		_ = m.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := m.conn.Read(make([]byte, 64)); err != nil {
			break
		} else if signs > 1000 {
			t.Fatal("it is fed without an end")
		}
	}
	now := refused.Load()
	await.True(t, "further questions in vain", func() bool { return refused.Load() > now+2 })
	m.silent()
	dead.Store(false)
	m.wants("WATCHDOG=1")
	cancel()
	<-ended
}

func TestWithoutAManagerNothingIsToldAndNothingFails(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	u := &systemd.Unit{Log: slog.New(slog.DiscardHandler)}
	u.Ready()
	u.Reloading()()
	u.Watch(t.Context(), func(context.Context) error {
		t.Error("nothing is to be asked")
		return nil
	})
	u.Stopping(time.Second)
}

// A manager that reads no more delays what is told to it, and stops nothing.
func TestAManagerThatDoesNotReadStopsNothing(t *testing.T) {
	newManager(t)
	var complaints atomic.Int64
	u := &systemd.Unit{Log: slog.New(counting{slog.DiscardHandler, &complaints})}
	for told := 0; complaints.Load() == 0; told++ {
		u.Ready()
		if told > 1000 { // net.unix.max_dgram_qlen is 10 or 512
			t.Fatal("every message fits")
		}
	}
}

// counting counts what is logged.
type counting struct {
	slog.Handler
	n *atomic.Int64
}

func (c counting) Enabled(context.Context, slog.Level) bool { return true }

func (c counting) Handle(context.Context, slog.Record) error {
	c.n.Add(1)
	return nil
}
