package fabric_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/app/fabric"
	"octet/config"
	"octet/internal/await"
	"octet/internal/dialing"
)

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

func newFabric(t *testing.T, guard *dialing.Guard) (*fabric.Fabric, config.Events, *lines) {
	t.Helper()
	c, err := config.Parse("test.yaml", []byte("specialists: [{name: debug, discover: {}}]"), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := new(lines)
	f, err := fabric.New(fabric.Config{Log: slog.New(slog.NewTextHandler(log, nil)), Events: c.Events, Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	return f, c.Events, log
}

// An engine's snapshot is not asked for at a link-local address, unless fleet.allow_addresses has it.
func TestSnapshotsAreAskedForWhereEnginesMayBe(t *testing.T) {
	guard := new(dialing.Guard)
	f, _, _ := newFabric(t, guard)
	rep := fabric.Replica{Name: "debug-0", Specialist: "debug", URL: "http://169.254.7.9:1"}
	if err := f.Resync(t.Context(), rep, "/snapshot"); !errors.Is(err, dialing.ErrLinkLocal) {
		t.Errorf("it was asked: %v", err)
	}
	guard.Allow([]netip.Prefix{netip.MustParsePrefix("169.254.7.0/24")})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := f.Resync(ctx, rep, "/snapshot"); err == nil || errors.Is(err, dialing.ErrLinkLocal) {
		t.Errorf("an address that is allowed: %v", err)
	}
}

// An event socket whose address leads to a link-local or metadata address is not connected to, and the log says so
// once.
func TestEventSocketsAreGuardedAtEachDial(t *testing.T) {
	f, c, log := newFabric(t, new(dialing.Guard))
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := f.Start(ctx, c)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	defer func() {
		cancel()
		wait()
	}()
	for name, socket := range map[string]string{"debug-0": "tcp://169.254.169.254:5557",
		"debug-1": "tcp://[fd00:ec2::254]:5557", "debug-2": "tcp://[::ffff:169.254.169.254]:5557"} {
		t.Run(name, func(t *testing.T) {
			host, err := f.Admit()
			if err != nil {
				t.Fatal(err)
			}
			f.Commit(fabric.Generation{Replicas: map[string]fabric.Replica{name: {Name: name, Specialist: "debug",
				URL: "http://engine.test:1", Host: host, BlockSize: 16,
				Events: &config.ReplicaEvents{ZMQ: socket, Source: "auto"}}}})
			await.True(t, "refused twice", func() bool { return f.SourceStats()["zmq/"+name].Failures >= 2 })
			if n := log.count("replica=" + name + " error=\"dial"); n != 1 || f.SourceStats()["zmq/"+name].Connected {
				t.Errorf("%d lines of the log say so", n)
			}
		})
	}
}
