// Package natsserver runs NATS servers within this process, for the demo and for tests: on loopback, with JetStream
// where they have a directory of their own.
package natsserver

import (
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startWait is for a server to answer.
const startWait = time.Minute

// Start runs a server until its Shutdown. o says where it keeps its streams, in StoreDir: without, it has no JetStream.
// A Port of 0 is a free one.
func Start(o server.Options) (*server.Server, error) {
	o.Host, o.JetStream, o.NoLog, o.NoSigs = "127.0.0.1", o.StoreDir != "", true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&o)
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(startWait) {
		s.Shutdown()
		return nil, errors.New("the embedded NATS server did not start")
	}
	return s, nil
}

// T is the part of a test that Run needs.
type T interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
	TempDir() string
}

// Run runs a server with JetStream until the test ends, in a directory of the test's.
func Run(t T) *server.Server {
	t.Helper()
	return RunWith(t, server.Options{StoreDir: t.TempDir()})
}

// RunWith runs a server until the test ends.
func RunWith(t T, o server.Options) *server.Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}
